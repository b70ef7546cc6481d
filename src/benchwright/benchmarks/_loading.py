"""Finds the benchmarks that the user names: in a file, a module or an installed package.

An entry point of an installed package names a module that defines benchmarks (`pkg.bench`) or one decorated function
(`pkg.bench:check`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

from benchwright.benchmarks._importing import import_dotted, import_file
from benchwright.benchmarks._nocode import BUILTIN_EVALUATIONS
from benchwright.benchmarks._questions import written_as
from benchwright.benchmarks._spec import BenchmarkSpec, attached_to, defined_in
from benchwright.config import SUITE_SUFFIXES
from benchwright.core import (
    BenchmarkError,
    NotFoundError,
    Registry,
    data_endings,
    nearest,
    normalise_name,
    suggest,
)

_LISTING = "What can be run from here: benchwright ls"
_SPREADSHEETS = (".numbers", ".xlsb")
"""Workbook formats that are not supported, but that users may try."""


def load_benchmarks(target: str, *, cwd: Path, names: Iterable[str] = ()) -> list[BenchmarkSpec]:
    """The benchmarks that `target` names, in order of definition.

    `target` is `file.py`, `file.py:name`, `package.module`, `package.module:name`, or the name of an installed
    benchmark. Relative files and modules start at `cwd`. Every call runs the file again. `names` are other
    evaluations that the user could have meant: configured and built-in ones.

    Raises BenchmarkError for code that cannot be imported or defines nothing, NotFoundError for a file, module
    or name that does not exist; both list what exists.
    """
    place, name = _split(target)
    path = cwd / place
    package = place.isidentifier() and (path / "__init__.py").is_file()
    if place.endswith(".py") or (path.is_file() and "/" in place):
        specs, where = _from_file(path, place), place
    else:
        # A known name is meant, even if a file or folder, perhaps of results, has the same one.
        installed = _installed(place) if name is None else None
        if installed is not None:
            return list(installed)
        module = (
            None
            if path.exists() and not package and not _is_module(place, cwd)
            else import_dotted(place, cwd)
        )
        if module is None and path.exists():
            return _from_file(path, place)
        if module is None:
            raise missing_target(target, place, cwd, names)
        specs, where = _of_module(module), place
    if not specs:
        raise BenchmarkError(
            f"{where} defines no benchmark; decorate a scorer with @benchmark(name=..., dataset=..., prompt=...)"
        )
    return specs if name is None else [_named(specs, name, where)]


def _is_module(place: str, cwd: Path) -> bool:
    """Whether a file of Python code next to a folder with the same name is meant."""
    return place.isidentifier() and (cwd / f"{place}.py").is_file()


def _installed(name: str) -> tuple[BenchmarkSpec, ...] | None:
    """What an installed package offers under `name`, `package.name`, or the type used in result files."""
    found = BENCHMARK_PLUGINS.find(name)
    short = name.rpartition(".")[2]
    return BENCHMARK_PLUGINS.find(short) if found is None and name == f"byob_{short}.{short}" else found


def _split(target: str) -> tuple[str, str | None]:
    place, colon, name = target.rpartition(":")
    # A colon inside a path (a drive letter, a URL) is followed by a slash.
    if not colon or not place or "/" in name or "\\" in name:
        return target, None
    if not name:
        raise NotFoundError(
            f"{target!r} names no benchmark after the colon; leave it off to take all of them"
        )
    return place, name


def _from_file(path: Path, shown: str) -> list[BenchmarkSpec]:
    if path.is_dir():
        inside = [str(Path(shown) / name) for name in _runnable_files(path)[:8]]
        files = f"one of its files: {', '.join(inside)}" if inside else "a file; none in it can be run"
        raise NotFoundError(f"{shown} is a folder; name {files}. {_LISTING}")
    if not path.is_file():
        near = _near_file(path.name, _runnable_files(path.parent))
        raise NotFoundError(f"there is no file {shown}.{near} {_LISTING}")
    if path.suffix.lower() in _SPREADSHEETS:
        raise BenchmarkError(
            f"{shown} is a workbook that benchwright cannot read; save the sheet as CSV (in Excel: CSV UTF-8) and name that file"
        )
    if path.suffix != ".py":
        raise BenchmarkError(
            f"{shown} is not a Python file; benchmarks are defined in .py files, and files of questions end in "
            f"{', '.join(data_endings())}"
        )
    return _of_module(import_file(path))


def _of_module(module: ModuleType) -> list[BenchmarkSpec]:
    """Benchmarks defined in the module and its submodules, then those that it imports by name from elsewhere."""
    specs = defined_in(module)
    known = {id(spec) for spec in specs}
    for value in list(vars(module).values()):
        spec = attached_to(value)
        if spec is not None and id(spec) not in known:
            known.add(id(spec))
            specs.append(spec)
        elif isinstance(value, ModuleType):
            for other in _of_neighbour(value, module):
                if id(other) not in known:
                    known.add(id(other))
                    specs.append(other)
    _refuse_twins(specs, module.__name__)
    return specs


def _of_neighbour(value: ModuleType, module: ModuleType) -> list[BenchmarkSpec]:
    """Benchmarks of a neighbouring file: a file may collect these by importing it."""
    here, there = getattr(module, "__file__", None), getattr(value, "__file__", None)
    if here is None or there is None or not Path(there).is_relative_to(Path(here).parent):
        return []
    return defined_in(value)


def _refuse_twins(specs: list[BenchmarkSpec], where: str) -> None:
    seen: dict[str, BenchmarkSpec] = {}
    for spec in specs:
        twin = seen.setdefault(spec.key, spec)
        if twin is not spec:
            raise BenchmarkError(
                f"{where} defines two benchmarks named {spec.key}: {twin.where} and {spec.where}; rename one"
            )


def _named(specs: list[BenchmarkSpec], name: str, where: str) -> BenchmarkSpec:
    key = normalise_name(name)
    for spec in specs:
        if spec.key == key:
            return spec
    keys = [spec.key for spec in specs]
    near = nearest(key, keys)
    hint = f" Did you mean {where}:{near}?" if near else ""
    raise NotFoundError(f"{where} has no benchmark named {name!r}.{hint} It has: {', '.join(keys)}")


def custom_media_file(name: str, cwd: Path) -> str | None:
    """Find the file for a name such as `mm_custom_gen` if there is no configuration of that name: the only match
    in the usual places. Users of another tool put their rows there, or name the place in a configuration."""
    if not name.startswith("mm_custom") or "." in name or "/" in name:
        return None
    patterns = (
        f"{name}.jsonl",
        "mm_custom.jsonl",
        "mm_custom/*.jsonl",
        "*/mm_custom/*.jsonl",
        "*/*/mm_custom/*.jsonl",
    )
    for pattern in patterns:
        found = sorted(cwd.glob(pattern))
        if len(found) == 1:
            return str(found[0])
        if found:
            return None  # only the user knows which one is meant
    return None


def missing_target(target: str, place: str, cwd: Path, names: Iterable[str] = ()) -> NotFoundError:
    """The error for a target that does not exist, with similar names."""
    path = cwd / place
    if path.suffix and ("/" in place or path.suffix in SUITE_SUFFIXES):
        near = suggest(path.name, _runnable_files(path.parent))
        return NotFoundError(f"there is no file {place}.{near} {_LISTING}")
    known = [*names, *BENCHMARK_PLUGINS.names()]
    files = _runnable_files(cwd)
    near = _near_benchmark(place, cwd, files) or _near_file(place, files, *known)
    offered = f" Names known here: {', '.join(known)}." if known else ""
    # A user who types the name of a public benchmark probably means its dataset.
    hub = "" if near or path.suffix else f" A dataset of the hub is written hf://ORG/{place}."
    if place.startswith("mm_custom"):  # another tool's configuration, which its users edit
        hub = (
            f" This is the name of a file of yours: call it {place}.jsonl, name it by --custom-dataset-path FILE.jsonl, or "
            "describe it in "
            f"configs/datasets/{place}.py: mm_custom_datasets = [dict(path='FILE.jsonl')]."
        )
    return NotFoundError(
        f"there is no file, configured name, module or installed benchmark {target!r}.{near}{offered}{hub} {_LISTING}"
    )


def _near_benchmark(written: str, cwd: Path, files: Sequence[str]) -> str:
    """A hint at a benchmark of this name that a file here declares. The files are parsed, not run: nobody has named them."""
    key = normalise_name(written.rpartition(".")[2])
    for name in files:
        if not name.endswith(".py"):
            continue
        try:
            tree = ast.parse((cwd / name).read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        keywords = [node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "name"]
        names = [each.value.value for each in keywords if isinstance(each.value, ast.Constant)]
        if key and any(normalise_name(str(each)) == key for each in names):
            return f" Did you mean '{name}:{key}'?"
    return ""


def _near_file(written: str, files: Sequence[str], *names: str) -> str:
    """A hint at what the user meant: files that differ only in their ending, else similar names.

    >>> _near_file("quiz.csv", ["quiz.xlsx", "quit.csv"]), _near_file("quiz", ["quiz.csv"]), _near_file("qiz", ["quiz.csv"])
    (" Did you mean 'quiz.xlsx'?", " Did you mean 'quiz.csv'?", " Did you mean 'quiz.csv'?")
    """
    stem = written.partition(".")[0]
    alike = [file for file in files if file.partition(".")[0] == stem]
    if not alike:
        # Stems are compared, but files are suggested, because a stem alone cannot be run.
        by_stem = {Path(file).stem: file for file in reversed(files)}
        known = [*names, *files, *by_stem]
        near = nearest(written, known)
        if near is None or near in names or near in files:
            return suggest(written, [*names, *files])
        alike = [by_stem[near]]
    return f" Did you mean {' or '.join(map(repr, alike[:3]))}?"


def _runnable_files(folder: Path) -> list[str]:
    """Names of the files in a folder that the user could have meant: Python, questions, suites."""
    try:
        files = sorted(file.name for file in folder.iterdir() if file.is_file())
    except OSError:
        return []
    return [name for name in files if name.endswith(SUITE_SUFFIXES) or written_as(name) == "questions"]


def _check(value: object) -> tuple[BenchmarkSpec, ...]:
    if isinstance(value, BenchmarkSpec):  # from a package made by `benchwright compile`
        specs: tuple[BenchmarkSpec, ...] = (value,)
    elif isinstance(value, ModuleType):
        specs = tuple(defined_in(value))
    else:
        spec = attached_to(value)
        specs = () if spec is None else (spec,)
    if not specs:
        raise ValueError("defines no benchmark")
    return specs


BENCHMARK_PLUGINS: Registry[tuple[BenchmarkSpec, ...]] = Registry(
    "benchmarks", _check, built_in=lambda: BUILTIN_EVALUATIONS, error=BenchmarkError
)
"""Installed benchmarks by name."""
