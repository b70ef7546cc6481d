"""The recorded runs of a suite: the newest run of each model on each dataset."""

from __future__ import annotations

from collections.abc import Iterable

from benchwright.core import JsonObject, NotFoundError, RunKind, suggest
from benchwright.results._work_table import WorkRun, WorkTable, WorkTask
from benchwright.store import RunRecord, Store


def suite_table(store: Store, name: str, runs: Iterable[RunRecord] | None = None) -> WorkTable:
    """All models on all datasets of a suite. `runs` are those to look among, newest first; None: all of the store.

    Raises NotFoundError with similar names.
    """
    found: dict[tuple[str, str], int] = {}
    known = store.runs(kind=RunKind.BENCHMARK) if runs is None else runs
    names: dict[str, None] = {}
    order: dict[tuple[str, str], None] = {}
    for run in known:
        suite, model, dataset = (run.settings.get(key) for key in ("suite", "model_name", "dataset_name"))
        if isinstance(suite, str):
            names[suite] = None
        if suite == name:
            pair = str(model), str(dataset)
            found.setdefault(pair, run.id)
            order = {
                pair: None,
                **{each: None for each in order if each != pair},
            }  # as the suite first had them
    if not found:
        there = f" Suites: {', '.join(sorted(names))}." if names else " No run here is part of a suite."
        raise NotFoundError(f"no run of a suite {name!r}.{suggest(name, names)}{there}")
    return WorkTable.of([WorkRun.of(store, WorkTask(*pair, found[pair])) for pair in order])


def suite_document(store: Store, name: str, runs: Iterable[RunRecord] | None = None) -> JsonObject:
    """A suite for its page: `suite`, and what a work folder's page shows."""
    return {"suite": name, **suite_table(store, name, runs).page()}
