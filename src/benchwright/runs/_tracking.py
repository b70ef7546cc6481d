"""Informs the trackers of a running run. Loaded only for runs with trackers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from benchwright.core import JsonObject
from benchwright.engine import Progress, Watcher, stopped_twice
from benchwright.perf import LoadProgress, LoadWatcher
from benchwright.reports import Tracking
from benchwright.results import benchmark_details, recorded_load
from benchwright.store import Store


class RunTracking:
    """Replaces the watcher of a run: passes progress on to it, and now and then to the trackers."""

    def __init__(self, store: Store, run_id: int, names: Sequence[str], watcher: Watcher | None) -> None:
        """Inform the trackers that the run begins."""
        self._store = store
        self._run_id = run_id
        self._watcher = watcher
        self._tracking = Tracking(names)
        self._tracking.started(self._run())

    def show(self, progress: Progress) -> None:
        """Draw the current state."""
        if self._watcher is not None:
            self._watcher.show(progress)
        self._tracking.progress(progress.done, progress.total, progress.failed)

    async def finished(self) -> list[str]:
        """Inform the trackers that the run has ended, and wait for them without blocking other runs. Returns their errors."""
        return await asyncio.to_thread(self._tracking.finished, self._run(), stopped_twice)

    def abandon(self) -> None:
        """Release the trackers of a run that failed before its end."""
        self._tracking.abandon()

    def _run(self) -> JsonObject:
        return benchmark_details(self._store.run(self._run_id)).to_json()


class LoadTracking:
    """Replaces the watcher of a load test, as `RunTracking` does for a run."""

    def __init__(
        self, store: Store, run_id: int, names: Sequence[str], total: int | None, watcher: LoadWatcher | None
    ) -> None:
        """Inform the trackers that the test begins; `total` requests are planned, if that is known."""
        self._watcher, self._total = watcher, total
        self._details: Callable[[], JsonObject] = lambda: recorded_load(store, store.run(run_id)).to_json()
        self._tracking = Tracking(names)
        self._tracking.started(self._details())

    def show(self, progress: LoadProgress) -> None:
        """Draw the current state."""
        if self._watcher is not None:
            self._watcher.show(progress)
        self._tracking.progress(progress.ended_so_far, self._total, progress.failed_so_far)

    def finished(self) -> list[str]:
        """Inform the trackers that the test has ended and its files are written. Returns their errors."""
        return self._tracking.finished(self._details(), stopped_twice)

    def abandon(self) -> None:
        """Release the trackers of a test that failed before its end."""
        self._tracking.abandon()
