"""`compare`: two recorded runs side by side."""

from __future__ import annotations

import os
from collections.abc import Collection
from inspect import signature
from pathlib import Path
from typing import Never

from benchwright.config import HARMLESS
from benchwright.core import NotFoundError, UsageError, suggest
from benchwright.endpoints import changes_no_reply
from benchwright.engine import DECIDES
from benchwright.reports import Comparison, SamplesOf, as_filed, compare_runs, folder_run, is_run_folder
from benchwright.runs import RunResult, called, recorded
from benchwright.store import RunRecord, Store, Workspace, existing_workspace, open_existing


def compare(
    a: int | str | RunResult,
    b: int | str | RunResult,
    *,
    metric: str | None = None,
    tolerance: float = 0.0,
    times: bool = False,
    force: bool = False,
    listed: int | None = 20,
    lower_is_better: Collection[str] = (),
    workspace: str | os.PathLike[str] | None = None,
    **unknown: Never,
) -> Comparison:
    """Compare two runs by number, name, folder, `last` or result; `compare_runs` explains the options.

    A folder may also be one that holds the files of a run from elsewhere. NotFoundError for a run that is not there,
    UsageError for runs that cannot be compared.
    """
    from contextlib import nullcontext

    for name in unknown:
        raise UsageError(f"compare() has no option {name!r}.{suggest(name, _KEYWORDS)}")
    place = existing_workspace(Path.cwd(), None if workspace is None else Path(workspace))
    store = open_existing(place)
    with nullcontext() if store is None else store:
        runs = [_find(store, wanted, -number, place) for number, wanted in enumerate((a, b))]
        folders = {run.id: run.folder for run in runs if run.id <= 0}
        if folders:
            runs = [run if run.id <= 0 else as_filed(run) for run in runs]
        return compare_runs(
            store,
            *runs,
            metric=metric,
            tolerance=tolerance,
            times=times,
            force=force,
            listed=listed,
            lower=lower_is_better,
            harmless=_harmless(),
            samples=SamplesOf(store, folders) if folders else None,
        )


_KEYWORDS = [name for name, each in signature(compare).parameters.items() if each.kind is each.KEYWORD_ONLY]


def _find(store: Store | None, wanted: int | str | RunResult, number: int, place: Workspace) -> RunRecord:
    """A run of the workspace, or of a folder that it does not know; the latter under `number`, 0 or less."""
    folder = Path(called(wanted)).expanduser()
    try:
        if store is not None:
            return recorded(store, wanted)
    except NotFoundError:
        if not is_run_folder(folder):
            raise
    if is_run_folder(folder):
        return folder_run(folder.resolve(), number)
    raise NotFoundError(
        f"there are no runs in {place.root} yet, and {called(wanted)} is no folder of a run. Start one with: benchwright run TARGET"
    )


def _harmless() -> set[str]:
    """Settings that decide how much work is done at a time, or only names and places: they change no result."""
    run = {name for name, what in DECIDES.items() if what in HARMLESS}
    return run | {f"model.{name}" for name in changes_no_reply()}
