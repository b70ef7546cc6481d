"""`slices`: a recorded run by the values of one column."""

from __future__ import annotations

import os

from benchwright.core import NotFoundError
from benchwright.results import RunResult, Slices
from benchwright.runs._result import called, recorded
from benchwright.runs._session import Session


def slices(
    run: int | str | RunResult,
    by: str,
    *,
    metric: str | None = None,
    workspace: str | os.PathLike[str] | None = None,
) -> Slices:
    """A run of the workspace by the values of a column of its data: the headline metric, or another.

    Raises NotFoundError for a run, column or metric that does not exist, and UsageError for a column with too many values.
    """
    with Session(workspace) as session:
        store = session.recorded()
        if store is None:
            raise NotFoundError(f"no run {called(run)!r}: there are no runs here yet. See: benchwright list")
        return Slices.of(store, recorded(store, run), by, metric)
