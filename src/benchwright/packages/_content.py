"""Finds the files of a module of benchmarks: its code, the files that it imports, and the files that its benchmarks read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from benchwright.benchmarks import BenchmarkSpec, imported_modules, load_benchmarks, template_file
from benchwright.core import BenchmarkError, DatasetError, NotFoundError, expand_home
from benchwright.datasets import file_of_dataset

DATA_FIELDS = ("dataset", "fewshot_dataset")
"""Fields of a benchmark that name data."""
_TEXT_FIELDS = ("prompt", "system_prompt", "fewshot_template")
_OUTSIDE = "_outside"
"""Folder for files that are not below the module's folder."""


class Content(Struct, frozen=True):
    """A module of benchmarks and everything it needs. Places are relative to the folder of the module, or to the folder above
    its package, with forward slashes."""

    target: str
    """The target to load from there: a file, or a module's dotted name."""
    source: Path
    """The file."""
    specs: tuple[BenchmarkSpec, ...]
    """Its benchmarks, in order of definition."""
    files: dict[str, Path]
    """Code, templates, and files that the user adds, by their places."""
    data: dict[str, Path]
    """Data files by their places."""
    named: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    """Places of files by benchmark and field, each with the options that follow its path."""
    moved: frozenset[tuple[str, str]] = frozenset()
    """Benchmarks and fields whose written paths lead elsewhere once the module is packaged."""
    elsewhere: tuple[str, ...] = ()
    """Benchmarks that the module only imports from other packages; they are left out."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in (*self.files.values(), *self.data.values()))


def read_module(target: str, cwd: Path, include: Sequence[str] = ()) -> Content:
    """Load a module and find its files. `include` are further files or folders, relative to `cwd`.

    Raises BenchmarkError, DatasetError or NotFoundError for a module that cannot be packaged.
    """
    if ":" in Path(target).name:
        raise BenchmarkError(
            f"{target}: a package contains the whole file; leave out {target[target.rindex(':') :]}"
        )
    specs = load_benchmarks(target, cwd=cwd)
    source = _source(target, cwd)
    top = source.parent
    while (top / "__init__.py").is_file():  # the folder from which imports by name find it
        top = top.parent
    own = tuple(spec for spec in specs if spec.source is not None and spec.source.is_relative_to(top))
    if not own:
        raise BenchmarkError(
            f"{target} only imports benchmarks that other packages define; package those instead"
        )
    files = _code(source, top)
    data: dict[str, Path] = {}
    named: dict[str, dict[str, tuple[str, str]]] = {}
    moved: set[tuple[str, str]] = set()
    for spec in own:
        for name, path, options, written in _files_of(spec):
            place, inside = _place(path, top)
            (data if name in DATA_FIELDS else files)[place] = path
            named.setdefault(spec.key, {})[name] = (place, options)
            if not inside or Path(written).is_absolute() or written.startswith(("file:", "~")):
                moved.add((spec.key, name))
        if (required := spec.requirements_file) is not None:
            place, inside = _place(required, top)
            if not inside:
                raise BenchmarkError(
                    f"{spec.where}: the requirements file {required} is outside of {top}; move it next to {source.name}, "
                    "or give the requirements as a list"
                )
            files[place] = required
    for place, path in _included(include, cwd, top):
        files[place] = path
    written_target = target if not target.endswith(".py") else source.relative_to(top).as_posix()
    return Content(
        written_target,
        source,
        own,
        dict(sorted(files.items())),
        dict(sorted(data.items())),
        named,
        frozenset(moved),
        tuple(spec.key for spec in specs if spec not in own),
    )


def _source(target: str, cwd: Path) -> Path:
    if target.endswith(".py"):
        return (cwd / target).resolve()
    import sys

    file = getattr(sys.modules.get(target), "__file__", None)
    if file is None:
        raise BenchmarkError(f"{target} is installed already, or has no file; name a file such as bench.py")
    return Path(file).resolve()


def _code(source: Path, top: Path) -> dict[str, Path]:
    """The file, the packages that contain it, and the files that they import below `top`."""
    roots = [source]
    folder = source.parent
    while folder != top:
        roots.append(folder / "__init__.py")
        folder = folder.parent
    found = {}
    for root in roots:
        found[root.relative_to(top).as_posix()] = root
        for place in imported_modules(root):
            found[place] = top / place
    return found


def _files_of(spec: BenchmarkSpec) -> Iterable[tuple[str, Path, str, str]]:
    """Field, file, options after a question mark, and the path as written, for each field that names a file."""
    for name in DATA_FIELDS:
        ref = getattr(spec, name)
        try:
            found = file_of_dataset(ref, spec.base_dir)
        except DatasetError as error:
            raise DatasetError(f"{spec.where}: {name} of {spec.key}: {error}") from None
        if found is not None:
            yield name, found[0], found[1], os.fspath(ref)
    for name in _TEXT_FIELDS:
        value = getattr(spec, name)
        path = None if value is None else template_file(value, spec.base_dir)
        if path is not None:
            yield name, Path(os.path.abspath(path)), "", value


def _place(path: Path, top: Path) -> tuple[str, bool]:
    """The place of a file in the package, and whether that is its current place."""
    for one in (path, path.resolve()):
        if one.is_relative_to(top):
            return one.relative_to(top).as_posix(), one == path
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return f"{_OUTSIDE}/{digest[:8]}/{path.name}", False


def _included(include: Sequence[str], cwd: Path, top: Path) -> Iterable[tuple[str, Path]]:
    for written in include:
        path = Path(os.path.abspath(cwd / expand_home(written)))
        if not path.is_relative_to(top) and not path.resolve().is_relative_to(top):
            raise BenchmarkError(
                f"--include {written}: {path} is outside of {top}; code finds files only below its own folder"
            )
        found = [path] if path.is_file() else list(_below(path))
        if not found:
            raise NotFoundError(f"--include {written}: there is no file {path}")
        for one in found:
            yield _place(one, top)[0], one


def _below(folder: Path) -> Iterator[Path]:
    """The files of a folder, without hidden ones, environments of Python, byte code and wheels."""
    for path in sorted(folder.iterdir() if folder.is_dir() else ()):
        if path.name.startswith(".") or path.name == "__pycache__" or path.suffix == ".whl":
            continue
        if path.is_file():
            yield path
        elif not (path / "pyvenv.cfg").exists():
            yield from _below(path)
