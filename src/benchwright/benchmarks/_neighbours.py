"""Modules that came from benchmark folders. Two folders may each have a `helpers.py`, and files get edited.

A module found through a benchmark's folder is remembered. A later load from the same folder imports all of them
anew if one has changed; a load from a folder with a module of the same name does not get to see the other one.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchwright.benchmarks._registered import forget


@dataclass(frozen=True, slots=True)
class _Neighbour:
    folder: Path
    file: Path
    version: tuple[int, int]


_tracked: dict[str, _Neighbour] = {}


@contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """`folder` first on the import path inside, last outside; what is imported from it is remembered."""
    _drop_edited(folder)
    hidden = {
        name: sys.modules.pop(name)
        for name, known in _tracked.items()
        if known.folder != folder and name in sys.modules and _offers(folder, name)
    }
    before = set(sys.modules)
    entry = str(folder)
    importlib.invalidate_caches()  # a file made a moment ago must be found
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)
        if entry not in sys.path:
            sys.path.append(entry)
        for name in set(sys.modules) - before:
            track(name, folder)
        for name, module in hidden.items():
            if name.split(".")[0] not in sys.modules:
                sys.modules[name] = module


def track(name: str, folder: Path) -> None:
    """Remember a module if it was found through `folder`."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if not isinstance(file, str) or name.split(".")[0] == "benchwright":
        return
    stem = folder.joinpath(*name.split("."))
    path = Path(file)
    if path.parent == folder or path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
        _tracked[name] = _Neighbour(folder, path, _version(path))


def owner_of(name: str) -> Path | None:
    """The file behind a remembered module name."""
    known = _tracked.get(name)
    return known.file if known is not None else None


def _drop_edited(folder: Path) -> None:
    here = {name: known for name, known in _tracked.items() if known.folder == folder}
    if all(_version(known.file) == known.version for known in here.values()):
        return
    for name, known in here.items():
        sys.modules.pop(name, None)
        forget(name, known.file)
        del _tracked[name]


def _version(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _offers(folder: Path, name: str) -> bool:
    top = name.split(".")[0]
    return (folder / f"{top}.py").is_file() or (folder / top).is_dir()
