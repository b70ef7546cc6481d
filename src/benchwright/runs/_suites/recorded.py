"""Finds the suite that a user names among recorded runs."""

from __future__ import annotations

from pathlib import PurePath

from benchwright.config import SUITE_SUFFIXES
from benchwright.core import NotFoundError
from benchwright.store import Store, named_run


def recorded_suite(store: Store, written: str) -> str | None:
    """The name of a suite with recorded runs, given as it is, as the suite's file, or as the file of its data; None: a run is meant. A run of
    the same name goes before a suite, unless a file is named."""
    path = PurePath(written)
    names = {run.settings.get("suite") for run in store.runs()}
    if path.suffix.lower() in SUITE_SUFFIXES:
        return path.stem if path.stem in names else None
    found = next((name for name in (written, path.stem) if name in names), None)
    if found is None:
        return None
    try:
        named_run(store, written)
    except NotFoundError:
        return found
    return None
