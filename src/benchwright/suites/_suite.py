"""A suite: models, datasets, which of them meet, and settings of all runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field

from benchwright.config import SUITE_SETTINGS, checked_mode, checked_summarizer, read_document, settings_of
from benchwright.core import ConfigError, JsonObject, UsageError, suggest
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
            _index(f"{place}: models", wanted, models, lambda entry, name: entry.name == name)
            for wanted in list_of(f"{place}: models", entry["models"], '["local"]')
        ]
        chosen_datasets = [
            _index(f"{place}: datasets", wanted, datasets, SuiteDataset.is_called)
            for wanted in list_of(f"{place}: datasets", entry["datasets"], '["test_mcq"]')
        ]
        pairs.update(dict.fromkeys((m, d) for m in chosen_models for d in chosen_datasets))
    return tuple(pairs)


def _index(
    where: str, wanted: object, entries: Sequence[tuple[object, T]], called: Callable[[T, str], bool]
) -> int:
    for number, (written, entry) in enumerate(entries):
        if written is wanted or written == wanted or (isinstance(wanted, str) and called(entry, wanted)):
            return number
    names = [getattr(entry, "name", None) or str(getattr(entry, "target", "")) for _, entry in entries]
    near = suggest(str(wanted), names)
    raise ConfigError(f"{where}: {wanted!r} is not in the list above.{near} It has: {', '.join(names)}")


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
    """What is worth saying before it runs."""
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
    for key in document:
        if key not in SUITE_KEYS:
            raise ConfigError(
                f"{path}: {key} is not known.{suggest(key, SUITE_KEYS)} Known: {', '.join(SUITE_KEYS)}"
            )
    if "datasets" not in document and "models" not in document:
        raise ConfigError(f"{path} is no suite: it has neither models nor datasets")
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
    """Settings of the runs, and of the suite; `work_dir` and `summarizer` may stand at the top, too."""
    table = document.get("run", {})
    if not isinstance(table, Mapping):
        raise ConfigError(f"{path}: run is {table!r}; expected a table, as in {{limit = 20}}")
    values = {str(key): value for key, value in table.items()}
    for key in ("work_dir", "summarizer"):
        if document.get(key) is not None:
            if key in values:
                raise ConfigError(f"{path}: {key} stands at the top and under run; keep one of them")
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
