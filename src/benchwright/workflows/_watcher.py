"""What can be seen of a program while it runs: its output, its steps, its metrics."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from benchwright.store import Lease, Store
from benchwright.workflows._child import Stream

_EVERY_S = 0.5
_SHARE = 20
"""Looking takes at most one part in so many: a run of a million steps is looked at less often."""


@dataclass(frozen=True, slots=True)
class ProgramProgress:
    """Where a run stands."""

    run_id: int
    """Number of the run."""
    name: str
    """Its name."""
    steps: dict[str, int]
    """Steps per status."""
    metrics: dict[str, float]
    """Each metric's mean so far."""
    seconds: float
    """Since the start."""
    stopping: str = ""
    """Why it is being stopped."""


class ProgramWatcher(Protocol):
    """Shows a run."""

    def output(self, stream: Stream, data: bytes) -> None:
        """The program printed something. Called from other threads."""
        ...

    def begun(self, run_id: int) -> None:
        """The run is on record."""
        ...

    def progress(self, progress: ProgramProgress) -> None:
        """A new picture."""
        ...


class Looker:
    """Takes a picture of a run now and then."""

    def __init__(self, store: Store, lease: Lease, name: str, watcher: ProgramWatcher) -> None:
        self._store = store
        self._run_id = lease.run_id
        self._name = name
        self._watcher = watcher
        self._began = time.monotonic()
        self._next = self._began + _EVERY_S

    def look(self, stopping: str) -> None:
        """Take one, if it is time."""
        now = time.monotonic()
        if now < self._next:
            return
        steps = self._store.workflow_step_counts(self._run_id)
        metrics = {name: totals.mean for name, totals in self._store.metric_totals(self._run_id).items()}
        seconds = now - self._began
        self._watcher.progress(ProgramProgress(self._run_id, self._name, steps, metrics, seconds, stopping))
        self._next = time.monotonic() + max(_EVERY_S, _SHARE * (time.monotonic() - now))
