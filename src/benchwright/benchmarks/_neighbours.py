"""Modules that came from benchmark folders. Two folders may each have a `helpers.py`, and files get edited.

A module found through a benchmark's folder is remembered. A later load from the same folder imports all of them
anew if one has changed; a load from a folder with a module of the same name does not get to see the other one.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from benchwright.benchmarks._registered import forget


class _Neighbour(Struct, frozen=True):
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
    """The file of a remembered module name."""
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


def imported_modules(source: Path) -> dict[str, str]:
    """The files that a Python file imports from its own folder and below, and those that they import: their places in
    the folder, each with the SHA-256 of its content. Imports inside functions count; a file that cannot be read or
    parsed has no further ones."""
    source = source.resolve()
    top = source.parent
    while (top / "__init__.py").is_file():  # a package is imported by its name, from the folder above it
        top = top.parent
    found: dict[str, str] = {}
    waiting, seen = [source], {source}
    while waiting:
        file = waiting.pop()
        try:
            content = file.read_bytes()
            tree = ast.parse(content)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        if file != source:
            found[file.relative_to(top).as_posix()] = f"sha256:{hashlib.sha256(content).hexdigest()}"
        for base, name in _imports(tree, file):
            for place in (source.parent, top) if base is None else (base,):
                new = [path for path in _files(place, name) if path not in seen and path.is_relative_to(top)]
                seen.update(new)
                waiting += new
    return dict(sorted(found.items()))


def _imports(tree: ast.AST, file: Path) -> Iterator[tuple[Path | None, str]]:
    """Dotted names, each with the folder that it starts from where the import is a relative one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield None, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = file.parents[node.level - 1] if 0 < node.level <= len(file.parents) else None
            start = node.module or ""
            yield base, start
            for alias in node.names:  # a module of the package, or something in it
                yield base, f"{start}.{alias.name}".strip(".")


def _files(folder: Path, name: str) -> list[Path]:
    """Files of a dotted name: the packages on the way, and the module."""
    found = []
    for part in filter(None, name.split(".")):
        folder = folder / part
        found += [path for path in (folder.with_name(f"{part}.py"), folder / "__init__.py") if path.is_file()]
    return found
