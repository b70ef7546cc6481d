"""The workspace's records in one hand."""

from __future__ import annotations

from benchwright.store._runs import Runs
from benchwright.store._steps import Steps


class Store(Runs, Steps):
    """One workspace database, opened by one process. Steps are written by `StepWriter`, all else here."""
