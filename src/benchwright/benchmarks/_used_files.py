"""The files of the user that a benchmark's code uses, besides the modules that it imports by name from its own folder: modules from
elsewhere, modules imported by a computed name, and data files.

They are found in three ways. While the code is loaded, everything that it imports and opens is noted. What it may use later,
when it scores, is read out of its text: names of files, and of modules, that stand in it. And while a run is under way, Python
reports each file that is opened; those that the user's code opened, itself or through a library, are noted. Only a file that a
library opens without Python, or another process opens, stays unknown.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType
from typing import Any

from msgspec import Struct, field

_IMPORTERS = frozenset(
    {"import_module", "__import__", "find_spec", "spec_from_file_location", "run_path", "run_module"}
)
_CODE = (".py", ".pyc", ".so", ".pyd")
_LONGEST_NAME = 300
MOST_READ = 1000
"""The most files that are noted while a run is under way: a scorer may read one for each row."""
_LARGEST = 64_000_000
"""Files of more bytes are identified by size and time, because reading them at every start would take long."""


_used: dict[Path, tuple[set[Path], set[Path], set[str]]] = {}
"""What the code of each file used while it was loaded: modules, files, and folders that it added to the import path."""
_open_now: list[set[Path]] = []
"""The files opened by what is being loaded; empty while nothing is. A list, because loading may load."""
_hooked = False


@contextmanager
def noting_use(source: Path) -> Iterator[None]:
    """Note what the code of `source` imports and opens inside the block."""
    own, files, added = _used.setdefault(source, (set(), set(), set()))
    modules, paths = set(sys.modules), list(sys.path)
    _hook()
    _open_now.append(files)
    try:
        yield
    finally:
        _open_now.pop()
        added |= set(sys.path) - set(paths)
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules.get(name), "__file__", None)
            if isinstance(file, str) and is_of_user(path := Path(file)):
                own.add(path.resolve())


def _hook() -> None:
    """Have Python report opened files. A hook cannot be removed; while nothing is loaded it returns at once."""
    global _hooked
    if _hooked:
        return
    _hooked = True

    def opened(event: str, details: tuple[Any, ...]) -> None:
        if event != "open" or not (_open_now or _watches):
            return
        name, mode, flags = details
        if not isinstance(name, str | bytes | os.PathLike):
            return
        # `os.open` has no mode.
        writes = bool(set(mode) & set("wax+")) if isinstance(mode, str) else bool(flags & _WRITING)
        path = os.path.abspath(os.fsdecode(name))
        if not _open_now:
            _note(path, writes)
        elif not writes:
            _open_now[-1].add(Path(path))

    sys.addaudithook(opened)


_WRITING = os.O_WRONLY | os.O_RDWR


class Watch(Struct, eq=False):
    """The files that the user's code opens while a run is under way."""

    source: str
    """The file of the benchmark."""
    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    more: bool = False
    """Whether there were more than are noted."""

    def files(self, known: Collection[str], excluded: Collection[Path] = ()) -> dict[str, str]:
        """The files that were read, by path from the benchmark's folder, with their hashes; without those `known` by such
        paths, the `excluded` ones, and those that the code also wrote."""
        top = Path(self.source).parent
        others = {Path(self.source), *((top / name).resolve() for name in known)}
        others |= {path.resolve() for path in excluded}
        return _hashes({_written_as(Path(path)) for path in self.read - self.written}, top, others)

    @classmethod
    @contextmanager
    def on(cls, source: Path) -> Iterator[Watch]:
        """Note which files the user's code opens inside the block, in all threads. Opening a file takes 2 to 5 µs longer there,
        and nothing else does."""
        watch = cls(str(source.resolve()))
        _hook()
        _watches.append(watch)
        try:
            yield watch
        finally:
            _watches.remove(watch)

    @staticmethod
    def digest(path: Path) -> str | None:
        """The hash of a file's content; None if it cannot be read."""
        try:
            status = path.stat()
            if status.st_size > _LARGEST:
                return f"{status.st_size} bytes of {status.st_mtime_ns}"
            return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        except OSError:
            return None

    @staticmethod
    def used(
        source: Path, known: Collection[str], excluded: Collection[Path] = ()
    ) -> tuple[dict[str, str], list[str]]:
        """The files that the benchmark in `source` uses with their hashes, by path from its folder, and the places, as `file.py:12`, that
        read a file whose name is computed while scoring. Without those `known` by their paths from its folder, and without the
        `excluded` ones, such as its data, which are compared in another way."""
        source = source.resolve()
        top = source.parent
        own, opened, added = _used.get(source, (set(), set(), set()))
        others = {source, *((top / name).resolve() for name in known), *(path.resolve() for path in excluded)}
        # Code need not be a module: `runpy` and `exec` only open its file.
        ran = {_written_as(path).resolve() for path in opened if path.suffix in (".py", ".pyc")}
        code = {path for path in (own | ran) - others if is_of_user(path)}
        data = {path for path in opened if path.suffix not in _CODE}
        unknown: list[str] = []
        waiting, seen = [source, *code, *(top / name for name in known)], set[Path]()
        while waiting:
            file = waiting.pop()
            if file in seen:
                continue
            seen.add(file)
            try:
                texts, modules, reads = _facts_of(file.read_bytes())
            except (OSError, SyntaxError, ValueError, RecursionError):
                continue
            places = [file.parent, top, Path.cwd(), *map(Path, sorted(added))]
            named = set(_named_files(texts, places)) - others
            imported = set(_named_modules(modules, places))
            new = {
                path
                for path in imported | {each for each in named if each.suffix == ".py"}
                if path not in others | code
            }
            code |= new
            waiting += new
            data |= {path for path in named if path.suffix not in _CODE}
            if not named and not any(_is_near(path, file) for path in opened):
                unknown += [f"{os.path.relpath(file, top)}:{line}" for line in reads]
        return _hashes(code | data, top, others), sorted(unknown)


_watches: list[Watch] = []


def _note(path: str, writes: bool) -> None:
    """Note an opened file, if the user's code asked for it: it is nearer in the stack than any code of this package. Of several
    runs, it is noted for those whose file is there; for all, if none is."""
    if all(path in (watch.written if writes else watch.read) for watch in _watches):
        return
    users: set[str] = set()
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and (whose := _whose(frame.f_code.co_filename)) != "ours":
        if whose != "others":
            users.add(whose)
        frame = frame.f_back
    if not users:
        return
    concerned = [watch for watch in _watches if watch.source in users] or _watches
    for watch in concerned:
        noted = watch.written if writes else watch.read
        if len(noted) < MOST_READ:
            noted.add(path)
        else:
            watch.more = True


@lru_cache(maxsize=1024)
def _whose(code: str) -> str:
    """The file of code that is the user's; `ours` or `others` for other code."""
    if code.startswith("<"):
        return "others"
    path = Path(code).resolve()
    if str(path).startswith(_OTHERS[1]):
        return "ours"
    return str(path) if is_of_user(path) else "others"


def _written_as(path: Path) -> Path:
    """The source of a compiled module; any other file as it is."""
    try:
        return Path(source_from_cache(path)) if path.suffix == ".pyc" else path
    except ValueError:
        return path


_OTHERS = tuple(
    f"{Path(place).resolve()}{os.sep}" for place in (Path(os.__file__).parent, Path(__file__).parents[1])
)
"""The folders of Python's own library and of this package."""


def is_of_user(path: Path) -> bool:
    """Whether a file belongs to the user: not to Python, an installed package, or this one."""
    place = str(path.resolve())
    return not place.startswith(_OTHERS) and not {"site-packages", "dist-packages"} & {*path.parts}


def _hashes(paths: Collection[Path], top: Path, others: Collection[Path]) -> dict[str, str]:
    """The hashes of the user's files among these, by path from the folder `top`."""
    found: dict[str, str] = {}
    for path in sorted(paths):
        if (
            path.resolve() in others
            or not path.is_file()
            or not is_of_user(path)
            or ".benchwright" in path.parts
            or path.parts[:2] in _OF_THE_SYSTEM
        ):
            continue
        if (digest := Watch.digest(path)) is not None:
            found[Path(os.path.relpath(path, top)).as_posix()] = digest
    return found


_OF_THE_SYSTEM = tuple(("/", name) for name in ("dev", "etc", "proc", "sys"))


def _is_near(path: Path, file: Path) -> bool:
    return path.suffix not in _CODE and path.is_relative_to(file.parent)


@lru_cache(maxsize=256)  # every run of a process begins by asking
def _facts_of(code: bytes) -> tuple[frozenset[str], frozenset[str], tuple[int, ...]]:
    """What stands in code: texts that may be names of files, without those of files that are only written; dotted names that it imports, or
    gives to functions such as `import_module`; and the lines that read a file, in decorated functions and in what these use, or without such
    functions, all."""
    nodes = list(ast.walk(ast.parse(code)))
    written = {id(each) for node in nodes if _writes(node) for each in ast.walk(node)}
    texts = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and 0 < len(node.value) <= _LONGEST_NAME
        and "\0" not in node.value
        and "\n" not in node.value
        and id(node) not in written
    }
    return frozenset(texts), frozenset(_modules_in(nodes)), tuple(_computed_reads(nodes))


def _named_files(texts: Collection[str], places: list[Path]) -> Iterator[Path]:
    """Existing files whose names are among the texts, also in parts: `Path("lists") / "words.txt"`."""
    names = [text for text in texts if "." in text.rpartition("/")[2].strip(".")]
    parts = [text for text in texts if "." not in text and text != "/"]
    near = list(dict.fromkeys(places))
    near += [place / part for place in near for part in parts if (place / part).is_dir()]
    above = list(dict.fromkeys(place.parent for place in places))
    for name in names:
        # One in a folder above is meant only if there is none nearer.
        for folders in (near, above):
            found = [path.resolve() for folder in folders if (path := folder / name).is_file()]
            yield from found
            if found:
                break


def _writes(node: ast.AST) -> bool:
    """Whether a call writes a file: `open(…, "w")`, `write_text`."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("write_text", "write_bytes"):
        return True
    modes = [*node.args[:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
    return _called(node) == "open" and any(
        isinstance(mode, ast.Constant) and isinstance(mode.value, str) and mode.value[:1] in ("w", "a", "x")
        and len(mode.value) <= 3
        for mode in modes
    )  # fmt: skip


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "attr", None) or getattr(node.func, "id", ""))


def _modules_in(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call) and _called(node) in _IMPORTERS:
            for each in ast.walk(node):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value.lstrip(".")
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _named_modules(names: Collection[str], places: list[Path]) -> Iterator[Path]:
    """Files of modules with these names."""
    for name in names:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            continue
        for place in places:
            stem = place.joinpath(*parts)
            for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
                if path.is_file():
                    yield path.resolve()


def _computed_reads(nodes: list[ast.AST]) -> Iterator[int]:
    functions = {
        node.name: node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    waiting = [node for node in functions.values() if any(map(_marks_a_scorer, node.decorator_list))]
    waiting = waiting or list(functions.values())
    seen: set[str] = set()
    while waiting:
        function = waiting.pop()
        if function.name in seen:
            continue
        seen.add(function.name)
        for each in ast.walk(function):
            if isinstance(each, ast.Name) and each.id in functions:
                waiting.append(functions[each.id])
            elif isinstance(each, ast.Call) and _called(each) in _READERS and not _writes(each):
                yield each.lineno


_READERS = frozenset({"open", "read_text", "read_bytes"})


def _marks_a_scorer(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(named, "attr", getattr(named, "id", "")) in ("benchmark", "scorer")
