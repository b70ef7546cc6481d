"""Imports users' Python files and modules without collisions or stale modules.

The folder of a benchmark file is first on `sys.path` while it is imported, so that `import helpers` finds the file next to
it, and last afterwards, so that imports inside scorers still find it but nothing is shadowed.

Two folders may each have a `helpers.py`, and files get edited. So a module found through a benchmark's folder is
remembered. A later load from the same folder imports all of them again if one has changed; a load from a folder with a
module of the same name does not see the other one.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from benchwright.benchmarks._import_failures import import_failure
from benchwright.benchmarks._spec import forget
from benchwright.benchmarks._used_files import noting_use
from benchwright.core import BenchmarkError, loading_code

_tracked: dict[str, tuple[Path, Path, tuple[int, int]]] = {}
"""Modules of benchmarks: the folder through which each was found, its file, and that file's version."""


@contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Put `folder` first on the import path inside the block, and last after it; modules imported from it are remembered."""
    _drop_edited(folder)
    hidden = {
        name: sys.modules.pop(name)
        for name, (place, _, _) in _tracked.items()
        if place != folder and name in sys.modules and _offers(folder, name)
    }
    before = set(sys.modules)
    entry = str(folder)
    # A file made a moment ago must be found. `importlib.invalidate_caches` would import 30 ms of modules from Python 3.13 on.
    for finder in list(sys.path_importer_cache.values()):
        if (forget := getattr(finder, "invalidate_caches", None)) is not None:
            forget()
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
        _tracked[name] = folder, path, _version(path)


def owner_of(name: str) -> Path | None:
    """The file of a remembered module name."""
    return _tracked[name][1] if name in _tracked else None


def _drop_edited(folder: Path) -> None:
    here = [(name, file, version) for name, (place, file, version) in _tracked.items() if place == folder]
    if all(_version(file) == version for _, file, version in here):
        return
    for name, file, _ in here:
        sys.modules.pop(name, None)
        forget(name, file)
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
    """The files that a Python file imports, directly or not, from its folder and below: their paths in the folder, with the
    SHA-256 of their content. Imports inside functions count; those of a file that cannot be read or parsed are unknown."""
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
            imports = _imports(content)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        if file != source:
            found[file.relative_to(top).as_posix()] = f"sha256:{hashlib.sha256(content).hexdigest()}"
        for level, name in imports:
            base = file.parents[level - 1] if 0 < level <= len(file.parents) else None
            for place in (source.parent, top) if base is None else (base,):
                new = [path for path in _files(place, name) if path not in seen and path.is_relative_to(top)]
                seen.update(new)
                waiting += new
    return dict(sorted(found.items()))


@lru_cache(maxsize=256)
def _imports(code: bytes) -> tuple[tuple[int, str], ...]:
    """Dotted names that code imports, each with the number of dots before it."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found += [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = node.module or ""
            # The name may be a module of the package, or an object in it.
            names = [start, *(f"{start}.{alias.name}".strip(".") for alias in node.names)]
            found += [(node.level, name) for name in names]
    return tuple(dict.fromkeys(found))


def _files(folder: Path, name: str) -> list[Path]:
    """Files of a dotted name: the packages on the way, and the module."""
    found = []
    for part in filter(None, name.split(".")):
        folder = folder / part
        found += [path for path in (folder.with_name(f"{part}.py"), folder / "__init__.py") if path.is_file()]
    return found


def import_file(path: Path) -> ModuleType:
    """Run a benchmark file as a new module. Any error is raised as BenchmarkError with file and line."""
    path = path.resolve()
    with importing_from(path.parent):
        name = _module_name(path)
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None:
            raise BenchmarkError(f"{path.name} is not a Python file; benchmarks are defined in .py files")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        forget(name, path)

        def run() -> None:
            # Compiled here and not by the import system, so that there is no __pycache__ next to the user's file, and an edit
            # within the same second is seen.
            exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), module.__dict__)

        try:
            with noting_use(path):
                _guarded(run, path.parent, path.name)
        except BaseException:
            sys.modules.pop(name, None)
            forget(name, path)
            raise
        track(name, path.parent)
    return module


def import_dotted(name: str, cwd: Path) -> ModuleType | None:
    """Import a module by its dotted name, `cwd` first on the path. None if there is no such module."""
    cwd = cwd.resolve()
    with importing_from(cwd):
        if not _exists(name, cwd):
            return None
        found = importlib.util.find_spec(name)
        origin = None if found is None or not isinstance(found.origin, str) else Path(found.origin).resolve()
        with noting_use(origin or cwd):
            _guarded(lambda: importlib.import_module(name), cwd, name)
        return sys.modules[name]


def _module_name(path: Path) -> str:
    """The file's stem, so that its functions can be pickled; a special name if the stem is taken."""
    stem = path.stem
    if (
        stem.isidentifier()
        and stem not in sys.stdlib_module_names
        and owner_of(stem) in (None, path)
        and _is_found_at(stem, path)
    ):
        return stem
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^0-9A-Za-z_]', '_', stem)}__{digest}"


def _is_found_at(name: str, path: Path) -> bool:
    loaded = sys.modules.get(name)
    if loaded is not None:
        return getattr(loaded, "__file__", None) == str(path)
    found = importlib.util.find_spec(name)  # the file's folder is first on the path
    return found is not None and found.origin == str(path)


def _exists(name: str, cwd: Path) -> bool:
    if not all(part.isidentifier() for part in name.split(".")):
        return False
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None  # imports the parent packages
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            return False
        raise import_failure(error, cwd, name) from error
    except Exception as error:
        raise import_failure(error, cwd, name) from error


def _guarded(run: Callable[[], object], folder: Path, name: str) -> None:
    try:
        with loading_code():
            run()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # even SystemExit: the argument parsing of a script must not end ours
        raise import_failure(error, folder, name) from error
