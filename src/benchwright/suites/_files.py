"""Which targets are suites, and how Python suites are read: by running them, as benchmark files are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchwright.benchmarks import import_file, missing_target
from benchwright.config import CONFIG_NAMES
from benchwright.core import ConfigError, load_json
from benchwright.suites._suite import SUITE_KEYS, Suite, read_suite, suite_of


@contextmanager
def read_base() -> Iterator[None]:
    """Does nothing: what a Python suite imports is imported.

    >>> with read_base():
    ...     models = ["demo"]
    """
    yield


_ALWAYS = (".toml", ".yaml", ".yml")
_GATHERED = "_datasets"
_RUNNERS = ("infer", "eval", "judge_infer")
_LARGE = 1_000_000
"""Bytes above which a JSON file is data: a suite is written by hand."""


def load_suite(target: str, *, cwd: Path) -> Suite | None:
    """The suite that `target` names, or None if it names something else."""
    path = Path(target).expanduser()
    suffix = path.suffix.lower()
    there = cwd / path
    if suffix in _ALWAYS:
        if path.name in CONFIG_NAMES:
            raise ConfigError(
                f"{target} holds names and defaults; it is no suite. A suite has lists of models and datasets: suite.toml"
            )
        if not there.is_file():
            raise missing_target(target, target, cwd)
        return read_suite(path if path.is_file() else there, cwd=cwd)
    if not there.is_file():
        return None
    if suffix == ".json" and _is_json_suite(there):
        return read_suite(path if path.is_file() else there, cwd=cwd)
    if suffix == ".py":
        return python_suite(path if path.is_file() else there, cwd=cwd)
    return None


def python_suite(path: Path, *, cwd: Path) -> Suite | None:
    """A Python file with a list `datasets` (or lists whose names end in `_datasets`) is a suite; None: it is none.

    A file that does not even bind such a name is not run to find that out.
    """
    if not any(name in ("datasets", "*") or name.endswith(_GATHERED) for name in _bound_names(path)):
        return None
    names = vars(import_file(path))
    document: dict[str, object] = {key: names[key] for key in SUITE_KEYS if key in names}
    notes = [
        f"{path}: {key} tells AISBench how to start tasks, and is not needed here"
        for key in _RUNNERS
        if key in names
    ]
    if not isinstance(document.get("datasets"), list | tuple):
        gathered = gathered_datasets(names)
        if not gathered:
            return None
        document["datasets"] = gathered
    if isinstance(document.get("summarizer"), Mapping):
        notes.append(f"{path}: summarizer is a dict, which only AISBench reads; here it is a name")
        del document["summarizer"]
    return suite_of(path, document, cwd=cwd, notes=tuple(notes))


def gathered_datasets(names: Mapping[str, object], ending: str = _GATHERED) -> list[object]:
    """The entries of all lists whose names end in `ending`, in order of definition."""
    lists = [value for name, value in names.items() if name.endswith(ending) and isinstance(value, list)]
    return [entry for entries in lists for entry in entries]


def _bound_names(path: Path) -> set[str]:
    """Names that the file's top level binds, inside `with`, `if` and `try` too; `*` for a star import."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return set()  # whoever imports it says what is wrong
    return {name for statement in _statements(tree.body) for name in _bound_by(statement)}


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for part in ("body", "orelse", "finalbody"):
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _statements(getattr(statement, part, None) or [])


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases)


def _is_json_suite(path: Path) -> bool:
    """Whether a JSON file holds an object with lists of models or datasets, rather than rows."""
    if path.stat().st_size > _LARGE:
        return False

    try:
        document = load_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except ValueError:
        return False
    return isinstance(document, dict) and isinstance(document.get("datasets"), list)
