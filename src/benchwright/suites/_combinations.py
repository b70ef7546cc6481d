"""`model_dataset_combinations`: which models meet which datasets, where that is not all with all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from benchwright.core import ConfigError, suggest
from benchwright.suites._datasets import SuiteDataset
from benchwright.suites._entries import list_of
from benchwright.suites._models import SuiteModel

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
