"""Informs the trackers of a running run. Loaded only for runs with trackers."""

from __future__ import annotations

import asyncio
from typing import Any

from benchwright.core import JsonObject
from benchwright.engine import RunGroup, RunLife
from benchwright.reports import Tracking
from benchwright.runs._jobs import Work


class RunTracking:
    """Replaces the watcher of a run: passes progress on to it, and now and then to the trackers."""

    def __init__(self, life: RunLife, work: Work, watcher: Any) -> None:
        """Inform the trackers that the run begins."""
        self._store, self._run_id = life.store, life.run.id
        self._work, self._watcher = work, watcher
        self._tracking = Tracking(work.trackers)
        self._tracking.started(self._run())

    def show(self, progress: Any) -> None:
        """Draw the current state."""
        if self._watcher is not None:
            self._watcher.show(progress)
        self._tracking.progress(*self._work.counted(progress))

    async def finished(self) -> list[str]:
        """Inform the trackers that the run has ended, and wait for them without blocking other runs. Returns their errors."""
        return await asyncio.to_thread(self._tracking.finished, self._run(), RunGroup.stopped_twice)

    def abandon(self) -> None:
        """Release the trackers of a run that failed before its end."""
        self._tracking.abandon()

    def _run(self) -> JsonObject:
        return self._work.details(self._store, self._store.run(self._run_id))
