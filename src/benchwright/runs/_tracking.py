"""Trackers of a run that is under way: told from where it is performed. Loaded for runs that have some."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from benchwright.core import JsonObject
from benchwright.engine import Progress, Watcher, stopped_twice
from benchwright.reports import Tracking, benchmark_details
from benchwright.store import Store


class RunTracking:
    """Stands where the watcher of a run stands: passes progress on to it, and now and then to the trackers."""

    def __init__(self, store: Store, run_id: int, names: Sequence[str], watcher: Watcher | None) -> None:
        """The run begins."""
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
        """The run has ended. Returns what went wrong with trackers; others work on while this waits for them."""
        return await asyncio.to_thread(self._tracking.finished, self._run(), stopped_twice)

    def abandon(self) -> None:
        """The run failed before its end."""
        self._tracking.abandon()

    def _run(self) -> JsonObject:
        return benchmark_details(self._store.run(self._run_id)).to_json()
