"""The life of a run in the process that works on it, the same for every kind: owned, started, beating with progress, ended,
filed, finished."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from benchwright.core import BenchwrightError, JsonObject, RunOwnedError, RunProgress, RunStatus
from benchwright.store import HEARTBEAT_S, RunRecord, Store, StoreError


class InterruptedRunError(BenchwrightError):
    """The user pressed Ctrl-C before the first request, or twice."""

    exit_code = 130


class RunLife:
    """One start of a run that this process owns.

    Whatever happens inside its `with` block, the run does not stay `running` without an owner. Records stay; a run that could
    not resume gets the status `otherwise`, which it had before.
    """

    def __init__(self, store: Store, run: RunRecord, *, otherwise: RunStatus = "failed") -> None:
        self.store = store
        self.run = run
        """Its record, as far as its life has come."""
        self.beat_every_s: float | None = None
        """Seconds between two heartbeats; None: as others have them."""
        self._otherwise = otherwise
        self._next_beat = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            return
        # A store that failed may fail again: then the first reason counts, and the run is interrupted without a record of it.
        with suppress(Exception) if isinstance(error, StoreError) else nullcontext():
            self._record_failure(error)

    def _record_failure(self, error: BaseException) -> None:
        current = self.store.run(self.run.id)
        if current.status != "running":
            return
        text = str(error) if isinstance(error, BenchwrightError) else f"{type(error).__name__}: {error}"
        failed = isinstance(error, Exception) and not isinstance(error, InterruptedRunError)
        self.run = replace(current, status=self._otherwise if failed else "interrupted", error=text)
        with suppress(RunOwnedError):  # taken over by another process, which records its end
            self.finish()

    def start(self, manifest: JsonObject | None = None) -> None:
        """Begin to work on it."""
        self.run = self.store.start_run(self.run.id, manifest)

    def beat(self, progress: Callable[[], RunProgress | None]) -> None:
        """Show that its process is alive, and how far it has come, if it is time for that."""
        if time.monotonic() >= self._next_beat:
            self.store.beat(self.run.id, progress())
            self._next_beat = time.monotonic() + (
                HEARTBEAT_S if self.beat_every_s is None else self.beat_every_s
            )

    @asynccontextmanager
    async def beating(
        self, show: Callable[[], None], progress: Callable[[], RunProgress], every_s: float
    ) -> AsyncIterator[None]:
        """Work inside. `show` is called every few tenths of a second, for whoever watches in this process; other processes read
        `progress` with the heartbeats."""

        async def watch() -> None:
            while True:
                show()
                if self.store.local:
                    self.beat(progress)
                else:
                    await asyncio.to_thread(self.beat, progress)
                await asyncio.sleep(every_s)

        watching = asyncio.create_task(watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    def end(self, status: RunStatus, error: str | None = None, *, summary: JsonObject | None = None) -> None:
        """The work is done, with these figures. The run stays `running`, and this process's, until its files are written and it
        is finished: one that is killed meanwhile is not complete, and can be resumed."""
        if summary is not None:
            self.run = self.store.record_end(self.run.id, summary)
        self.run = replace(self.run, status=status, error=error)

    def finish(self) -> None:
        """Record how it ended, and release it."""
        run = self.run
        self.store.finish_run(run.id, run.status, summary=run.summary, error=run.error)
