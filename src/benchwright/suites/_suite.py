"""A suite: models, datasets, which of them meet, and settings of all runs; and which files hold one. Python suites are run, as
benchmark files are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field

from benchwright.benchmarks import import_file, missing_target
from benchwright.config import (
    CONFIG_NAMES,
    SUITE_SETTINGS,
    checked_mode,
    checked_summarizer,
    read_document,
    settings_of,
)
from benchwright.core import ConfigError, JsonObject, UsageError, load_json, suggest
from benchwright.suites._entries import (
    SuiteDataset,
    SuiteModel,
    known_settings,
    list_of,
    read_suite_dataset,
    read_suite_model,
    take_settings,
)

T = TypeVar("T")
_EXAMPLE = '[{models = ["local"], datasets = ["test_mcq"]}]'


def read_combinations(
    path: Path,
    value: object,
    models: Sequence[tuple[object, SuiteModel]],
    datasets: Sequence[tuple[object, SuiteDataset]],
) -> tuple[tuple[int, int], ...]:
    """Pairs of numbers into the lists, each once. Entries are named, or, in Python files, given again."""
    where = f"{path}: model_dataset_combinations"
    pairs: dict[tuple[int, int], None] = {}
    for number, entry in enumerate(list_of(where, value, _EXAMPLE), 1):
        place = f"{where}, entry {number}"
        if not isinstance(entry, Mapping) or set(entry) != {"models", "datasets"}:
            raise ConfigError(f"{place}: expected the keys models and datasets, as in {_EXAMPLE}")
        chosen_models = [
            _index(f"{place}: models", name, models, lambda entry, name: entry.name == name)
            for name in list_of(f"{place}: models", entry["models"], '["local"]')
        ]
        chosen_datasets = [
            _index(f"{place}: datasets", name, datasets, SuiteDataset.is_called)
            for name in list_of(f"{place}: datasets", entry["datasets"], '["test_mcq"]')
        ]
        pairs.update(dict.fromkeys((m, d) for m in chosen_models for d in chosen_datasets))
    return tuple(pairs)


def _index(
    where: str, name: object, entries: Sequence[tuple[object, T]], called: Callable[[T, str], bool]
) -> int:
    for number, (written, entry) in enumerate(entries):
        if written is name or written == name or (isinstance(name, str) and called(entry, name)):
            return number
    names = [getattr(entry, "name", None) or str(getattr(entry, "target", "")) for _, entry in entries]
    near = suggest(str(name), names)
    raise ConfigError(f"{where}: {name!r} is not in the list above.{near} It has: {', '.join(names)}")


SUITE_KEYS = ("models", "datasets", "run", "model_dataset_combinations", "work_dir", "summarizer")
"""Keys of a suite's file."""

_RUN = known_settings((*settings_of("suite"), *SUITE_SETTINGS))
_SUITE_NAMES = frozenset(setting.name for setting in SUITE_SETTINGS)


class Suite(Struct, frozen=True, kw_only=True):
    """What a suite file says, checked as far as that goes without opening its data."""

    path: Path
    """The file; relative paths in it start at its folder."""
    models: tuple[SuiteModel, ...] = ()
    """Models, in order; empty: whoever runs the suite says which."""
    datasets: tuple[SuiteDataset, ...] = ()
    """Datasets and benchmarks, in order."""
    pairs: tuple[tuple[int, int], ...] | None = None
    """Numbers of the models and datasets that meet; None: all with all."""
    run: JsonObject = field(default_factory=dict)
    """Settings of every run, under their canonical names."""
    settings: JsonObject = field(default_factory=dict)
    """Settings of the suite as a whole: mode, work_dir, max_num_workers, merge_ds, summarizer, dump_*."""
    notes: tuple[str, ...] = ()
    """Notes for the user before it runs."""
    chosen: bool = False
    """Whether its models were named by whoever runs it: an address given with the names is then theirs."""

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem


def read_suite(path: Path, *, cwd: Path) -> Suite:
    """Read a TOML, YAML or JSON suite. `ConfigError` names the file, the entry and the key."""
    return suite_of(path, read_document(path), cwd=cwd)


def suite_of(path: Path, document: Mapping[str, object], *, cwd: Path, notes: tuple[str, ...] = ()) -> Suite:
    """A suite from the top level of its file, or from the names of a Python file."""
    if "datasets" not in document and not {"config", "evaluation"}.isdisjoint(document):
        raise ConfigError(f"{path} is a run configuration; start it with: benchwright run --config {path}")
    for key in document:
        if key not in SUITE_KEYS:
            raise ConfigError(
                f"{path}: {key} is not known.{suggest(key, SUITE_KEYS)} Known: {', '.join(SUITE_KEYS)}"
            )
    if "datasets" not in document and "models" not in document:
        raise ConfigError(f"{path} is not a suite: it has neither models nor datasets")
    written_models = list_of(f"{path}: models", document.get("models", []), '["demo"]')
    written_datasets = list_of(
        f"{path}: datasets", document.get("datasets", []), '[{path = "questions.csv"}]'
    )
    models = [read_suite_model(path, number, value) for number, value in enumerate(written_models, 1)]
    datasets = [
        read_suite_dataset(path, number, value, cwd) for number, value in enumerate(written_datasets, 1)
    ]
    pairs = None
    if document.get("model_dataset_combinations") is not None:
        pairs = read_combinations(
            path,
            document["model_dataset_combinations"],
            list(zip(written_models, models, strict=True)),
            list(zip(written_datasets, datasets, strict=True)),
        )
    run, settings = _run_table(path, document)
    return Suite(
        path=path,
        models=tuple(models),
        datasets=tuple(datasets),
        pairs=pairs,
        run=run,
        settings=settings,
        notes=(
            *notes,
            *(f"{m.name}: {note}" for m in models if m.config is not None for note in m.config.notes),
            *(note for dataset in datasets for note in dataset.notes),
        ),
    )


def _run_table(path: Path, document: Mapping[str, object]) -> tuple[JsonObject, JsonObject]:
    """Settings of the runs, and of the suite; `work_dir` and `summarizer` may be at the top, too."""
    table = document.get("run", {})
    if not isinstance(table, Mapping):
        raise ConfigError(f"{path}: run is {table!r}; expected a table, as in {{limit = 20}}")
    values = {str(key): value for key, value in table.items()}
    for key in ("work_dir", "summarizer"):
        if document.get(key) is not None:
            if key in values:
                raise ConfigError(f"{path}: {key} is at the top and under run; keep one of them")
            values[key] = document[key]
    checked, _ = take_settings(f"{path}: run", values, _RUN, ())
    settings = {name: value for name, value in checked.items() if name in _SUITE_NAMES}
    try:
        if "mode" in settings:
            checked_mode(str(settings["mode"]))
        if "summarizer" in settings:
            checked_summarizer(str(settings["summarizer"]))
    except UsageError as error:
        raise ConfigError(f"{path}: {error}") from None
    if "work_dir" in settings:  # like every path of the file, it starts at the file
        settings["work_dir"] = str(path.parent / Path(str(settings["work_dir"])).expanduser())
    return {name: value for name, value in checked.items() if name not in _SUITE_NAMES}, settings


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
                f"{target} holds names and defaults; it is not a suite. A suite has lists of models and datasets: suite.toml"
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
