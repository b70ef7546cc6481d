"""Read suites: models, datasets, which of them are paired, and settings of all runs. Python suites are executed, as
benchmark files are. Also decides whether a file is a suite."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from msgspec import field

from benchwright.benchmarks import import_file, missing_target, written_as
from benchwright.config import (
    SUITE_SETTINGS,
    SUITE_SUFFIXES,
    ConfigFile,
    LoadOptions,
    RunOptions,
    SuiteOptions,
    read_document,
    settings_of,
)
from benchwright.core import ConfigError, JsonObject, UsageError, expand_home, suggest
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import Watcher
from benchwright.runs._resolved import Resolved
from benchwright.runs._session import Session
from benchwright.runs._suites.entries import (
    SuiteDataset,
    SuiteModel,
    known_settings,
    list_of,
    read_suite_dataset,
    read_suite_model,
    take_settings,
)

if TYPE_CHECKING:
    from benchwright.results import RunResult
    from benchwright.runs._run import Plan
    from benchwright.runs._suites.result import PairResult

T = TypeVar("T")
_EXAMPLE = '[{models = ["local"], datasets = ["test_mcq"]}]'


def read_combinations(
    path: Path,
    value: object,
    models: Sequence[tuple[object, SuiteModel]],
    datasets: Sequence[tuple[object, SuiteDataset]],
) -> tuple[tuple[int, int], ...]:
    """Return the pairs as indices into the two lists, without duplicates. Entries are given by name or, in Python files,
    as the same object."""
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


class Suite(Resolved, frozen=True, kw_only=True):
    """The content of a suite file, checked as far as possible without opening its data."""

    is_suite: ClassVar[bool] = True

    path: Path
    """The file; relative paths in it are resolved from its folder."""
    models: tuple[SuiteModel, ...] = ()
    """Models, in order; if empty, the call or the command names them."""
    datasets: tuple[SuiteDataset, ...] = ()
    """Datasets and benchmarks, in order."""
    pairs: tuple[tuple[int, int], ...] | None = None
    """Indices of the models and datasets that are paired; None pairs all with all."""
    run: JsonObject = field(default_factory=dict)
    """Settings of every run, under their canonical names."""
    settings: JsonObject = field(default_factory=dict)
    """Settings of the suite as a whole: mode, work_dir, max_num_workers, merge_ds, summarizer, dump_*."""
    notes: tuple[str, ...] = ()
    """Notes for the user before the suite runs."""
    chosen: bool = False
    """Whether the models were named by the call or the command; an address given with them then applies to them."""

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    def perform(
        self,
        session: Session,
        options: RunOptions,
        how: SuiteOptions,
        *,
        watcher: Watcher | None,
        finished: Callable[[RunResult], None] | None,
        endpoint: OpenEndpoint | None,
    ) -> Any:
        """Run every pair."""
        from benchwright.runs._suites.run import run_suite

        def report(pair: PairResult) -> None:
            if finished is not None and pair.result is not None:
                finished(pair.result)

        return run_suite(self, options, how, watcher=watcher, endpoint=endpoint, finished=report)

    def check(self, session: Session, options: RunOptions, how: SuiteOptions) -> Any:
        """Check every pair."""
        from benchwright.runs._suites.run import check_suite

        return check_suite(self, options, how.over(self.settings))

    def load_plans(
        self, session: Session, options: RunOptions, load: LoadOptions, *, ask_server: bool
    ) -> tuple[list[Plan], bool]:
        """The load tests of every pair."""
        from benchwright.runs._suites.run import plan_pair_loads

        return plan_pair_loads(self, options, load, session.config, ask_server=ask_server), True


def read_suite(path: Path, *, cwd: Path) -> Suite:
    """Read a TOML, YAML or JSON suite. A `ConfigError` names the file, the entry and the key."""
    return suite_of(path, read_document(path, known=SUITE_KEYS), cwd=cwd)


def _refuse_tasks(path: Path, document: Mapping[str, object]) -> None:
    """Raise for a task of lm-evaluation-harness, which is YAML too."""
    if {"task", "group"} & document.keys() and {
        "dataset_path",
        "doc_to_text",
        "output_type",
        "task",
    } & document.keys():
        raise ConfigError(
            f"{path} is a task of lm-evaluation-harness, which benchwright does not read. Give its data directly, as in "
            "benchwright run questions.jsonl or benchwright run 'hf://OWNER/NAME?split=test' with --template for its doc_to_text and "
            "--output-column for its doc_to_target. See: docs/moving.md"
        )


def suite_of(path: Path, document: Mapping[str, object], *, cwd: Path, notes: tuple[str, ...] = ()) -> Suite:
    """Build a suite from the top level of its file, or from the names that a Python file defines."""
    if "datasets" not in document and not {"config", "evaluation"}.isdisjoint(document):
        raise ConfigError(f"{path} is a run configuration; start it with: benchwright run --config {path}")
    _refuse_tasks(path, document)
    for key in document:
        if key not in SUITE_KEYS:
            raise ConfigError(
                f"{path}: {key} is not known.{suggest(key, SUITE_KEYS)} Known: {', '.join(SUITE_KEYS)}"
            )
    if "datasets" not in document and "models" not in document:
        raise ConfigError(
            f'{path} is not a suite: it has neither models nor datasets. Write both, such as models = ["demo"] and datasets = '
            '["questions.csv"]. See: docs/suites.md'
        )
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
    """Return the settings of the runs and of the suite; `work_dir` and `summarizer` may also be at the top level."""
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
        SuiteOptions.from_keywords(settings)
    except UsageError as error:
        raise ConfigError(f"{path}: {error}") from None
    if "work_dir" in settings:  # relative to the suite's folder, like every path in the file
        settings["work_dir"] = str(path.parent / expand_home(str(settings["work_dir"])))
    return {name: value for name, value in checked.items() if name not in _SUITE_NAMES}, settings


@contextmanager
def read_base() -> Iterator[None]:
    """Do nothing. AISBench's files wrap imports in it; here they are ordinary imports.

    >>> with read_base():
    ...     models = ["demo"]
    """
    yield


_GATHERED = "_datasets"
_RUNNERS = ("infer", "eval", "judge_infer")
_LARGE = 1_000_000
"""Size in bytes above which a file that may contain data is taken for data, since suites are written by hand."""


def load_suite(target: str, *, cwd: Path) -> Suite | None:
    """Load the suite that `target` names; None if it names something else."""
    path = expand_home(target)
    suffix = path.suffix.lower()
    there = cwd / path
    if written_as(path.name) == "suite":
        if path.name in ConfigFile.names:
            raise ConfigError(
                f"{target} contains names and defaults; it is not a suite. A suite has lists of models and datasets: suite.toml"
            )
        if not there.is_file():
            raise missing_target(target, target, cwd)
        return read_suite(path if path.is_file() else there, cwd=cwd)
    if not there.is_file():
        return None
    if suffix == ".py":
        return python_suite(path if path.is_file() else there, cwd=cwd)
    if suffix in SUITE_SUFFIXES and _reads_as_suite(there):  # data has this ending too
        return read_suite(path if path.is_file() else there, cwd=cwd)
    return None


def python_suite(path: Path, *, cwd: Path) -> Suite | None:
    """Load a Python file as a suite; None if it has no list `datasets` and none whose name ends in `_datasets`.

    A file that does not assign such a name is not executed.
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
    """Return the entries of all lists whose names end in `ending`, in order of definition."""
    lists = [value for name, value in names.items() if name.endswith(ending) and isinstance(value, list)]
    return [entry for entries in lists for entry in entries]


def _bound_names(path: Path) -> set[str]:
    """Return the names bound at the file's top level, including inside `with`, `if` and `try`; `*` for a star import."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return set()  # importing the file later reports the error
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


def _reads_as_suite(path: Path) -> bool:
    """Whether a file contains a table with a list of datasets, rather than rows."""
    if path.stat().st_size > _LARGE:
        return False
    try:
        document = read_document(path)
    except ConfigError:
        return False
    return isinstance(document.get("datasets"), list)
