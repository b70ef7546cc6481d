"""`compare`: two recorded runs side by side."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import fields
from pathlib import Path

from benchwright.core import NotFoundError
from benchwright.endpoints import EndpointSettings
from benchwright.engine import RunSettings
from benchwright.reports import Comparison, compare_runs
from benchwright.store import Store, existing_workspace


def compare(
    a: int | str,
    b: int | str,
    *,
    metric: str | None = None,
    tolerance: float = 0.0,
    times: bool = False,
    force: bool = False,
    listed: int | None = 20,
    lower_is_better: Collection[str] = (),
    workspace: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compare two runs by number, name, folder or `last`; `compare_runs` explains the options.

    NotFoundError for a run that is not there, UsageError for runs that cannot be compared.
    """
    place = existing_workspace(Path.cwd(), None if workspace is None else Path(workspace))
    if not place.database.exists():
        raise NotFoundError(f"there are no runs in {place.root} yet. Start one with: benchwright run TARGET")
    store = Store(place, read_only=not os.access(place.state, os.W_OK))
    try:
        return compare_runs(
            store,
            store.find_run(str(a)),
            store.find_run(str(b)),
            metric=metric,
            tolerance=tolerance,
            times=times,
            force=force,
            listed=listed,
            lower=lower_is_better,
            harmless=_harmless(),
        )
    finally:
        store.close()


def _harmless() -> set[str]:
    """Settings that decide how much work is done at a time, or only names and places: they change no result."""
    run = {each.name for each in fields(RunSettings) if each.metadata.get("decides") in ("effort", "place")}
    model = {f"model.{each.name}" for each in fields(EndpointSettings) if each.metadata.get("decides")}
    return run | model
