"""Performs a load test from its first warm-up request to its last stage."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from time import monotonic, time
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from msgspec.structs import replace

from benchwright.core import RunFailedError
from benchwright.perf._crew import Crew
from benchwright.perf._health import judged, rare_collections
from benchwright.perf._limits import most_connections
from benchwright.perf._loop import PhaseResult, PhaseTask
from benchwright.perf._schedule import random_count
from benchwright.perf._server_figures import ServerFigures
from benchwright.perf._values import (
    LoadSearch,
    LoadSettings,
    PhaseName,
    RequestRecord,
    StageRecord,
    StopCause,
)

if TYPE_CHECKING:
    from benchwright.perf._boundary import Probe
    from benchwright.perf._server_watch import ServerWatch

_Read = TypeVar("_Read")

_LEAD_S = 0.02
"""Seconds between the order to begin and the first request, so that the process has the order in time."""
_MANY_LEAD_S = 0.15
"""Like `_LEAD_S`, for several processes."""
_DRAW_S = 2e-6
"""Seconds that the time of one request may take to compute, if times are random."""

LEAST_PER_SLOT = 4
"""The fewest requests of a probe for each slot; with fewer, the queue of the server does not show."""


class LoadTest:
    """The stages of one test, which a crew performs in turn."""

    def __init__(
        self,
        settings: LoadSettings,
        crew: Crew,
        *,
        stage_ended: Callable[[StageRecord], None] | None = None,
        phase_begins: Callable[[int, PhaseName, float, float | None], None] | None = None,
        inside: bool = False,
        server: ServerWatch | None = None,
    ) -> None:
        self._settings, self._crew, self._inside = settings, crew, inside
        self._stage_ended, self._phase_begins = stage_ended, phase_begins
        self._server = server
        self._used = 0
        self._probed: list[RequestRecord] = []  # requests of the current probe
        self.zero = monotonic()
        """When the test's clock started, by the clock of the machine."""
        self.wall = time() - self.zero
        """How far the wall clock was ahead of the machine's then."""
        self.stages: list[StageRecord] = []
        """Stages that have ended."""
        self._warmups, self._warm_error = Counter[bool](), ""
        self.stage = 0
        """Index of the current stage."""
        self.cause: StopCause | None = None
        """Why the test stopped early; None if it did not."""
        self.aborted = False
        """Whether the requests in flight were given up."""
        self._reading: asyncio.Task[Any] | None = None

    def ended(self, record: RequestRecord) -> None:
        """Take a record. Must be called for every record."""
        if self._settings.search is not None and record.phase == "measured":
            self._probed.append(record)
        if record.phase == "warmup":
            self._warmups[record.ok] += 1
            self._warm_error = record.error or ""

    async def run(self) -> list[StageRecord]:
        """Perform all stages. Raises RunFailedError if every warm-up request failed."""
        with rare_collections():
            self.zero = monotonic()
            self.wall = time() - self.zero
            return await self._run()

    async def _run(self) -> list[StageRecord]:
        settings = self._settings
        if settings.warmup:
            await self._phase(0, "warmup", settings.levels[0])
            if self._warmups and not self._warmups[True] and self.cause is None:
                raise RunFailedError(
                    f"all {self._warmups[False]} warm-up requests failed; nothing was measured. The last: {self._warm_error}"
                )
        if settings.search is not None:
            await self._search(settings.search)
            return self.stages
        for self.stage, level in enumerate(settings.levels):
            if self.cause is not None:
                break
            await self._measure(level, settings.seconds)
        return self.stages

    async def _search(self, search: LoadSearch) -> None:
        """Probe one level after the other, each chosen by the results of earlier probes."""
        from benchwright.perf._search import next_probe

        probes: list[Probe] = []
        began = monotonic()
        while self.cause is None and len(probes) < search.most_probes:
            # It may compute for seconds; meanwhile the live view, the heartbeat and Ctrl-C must not wait.
            following = await asyncio.to_thread(next_probe, tuple(probes), self._settings)
            if following is None or self.cause is not None:
                return
            if probes and monotonic() - began + self._expected_seconds(following.seconds) > search.seconds:
                return
            self.stage = len(probes)
            self._probed = []
            stage = await self._measure(following.level, following.seconds)
            if self.cause is None:  # an interrupted probe tells nothing and need not be judged
                probes.append(self._judged(stage))

    def _judged(self, stage: StageRecord) -> Probe:
        """Judge a probe by the figures of reports, computed between two probes, while nothing is measured."""
        from benchwright.perf._requests import Requests
        from benchwright.perf._stage_summary import summarise_stage
        from benchwright.perf._summary import probe_of

        requests = Requests.of(self._probed)
        stage_summary = summarise_stage(requests, stage.stage, self._settings, stage)
        return probe_of(stage_summary, self._settings, requests)

    def _expected_seconds(self, seconds: float | None) -> float:
        """How long a probe will take: as long as it sends or, with a number of requests, as long as the probe before."""
        if self._settings.requests is None and seconds is not None:
            return seconds
        before = self.stages[-1].ended - self.stages[-1].started
        return before if seconds is None else min(before, seconds)

    async def _measure(self, level: float, seconds: float | None) -> StageRecord:
        if self._server is not None:
            await self._unless_aborted(self._server.begin())
        results, started = await self._phase(self.stage, "measured", level, seconds)
        counted = None if self._server is None else await self._unless_aborted(self._server.end())
        return self._finish(results, started, level, counted)

    async def _unless_aborted(self, reading: Coroutine[Any, Any, _Read]) -> _Read | None:
        """What is read from the server; None once the test is aborted: nobody waits for a server that may hang."""
        if self.aborted:
            reading.close()
            return None
        task: asyncio.Task[_Read] = asyncio.create_task(reading)
        self._reading = task
        try:
            return await task
        except asyncio.CancelledError:
            if not self.aborted:
                raise
            return None
        finally:
            self._reading = None

    def stop(self, cause: StopCause = "interrupt") -> None:
        """Send nothing more; what is in flight may end."""
        self.cause = self.cause or cause
        self._crew.stop(cause)

    def abort(self) -> None:
        """Give up what is in flight."""
        self.cause = self.cause or "interrupt"
        self.aborted = True
        if self._reading is not None:
            self._reading.cancel()
        self._crew.abort()

    async def _phase(
        self, stage: int, phase: PhaseName, level: float, seconds: float | None = None
    ) -> tuple[list[PhaseResult], float]:
        if self._phase_begins is not None:
            self._phase_begins(stage, phase, level, seconds)
        workers = self._settings.workers
        start_at = monotonic() + (_LEAD_S if workers == 1 else _MANY_LEAD_S)
        if phase == "measured":
            start_at += _DRAW_S * random_count(replace(self._settings, seconds=seconds), level)
        tasks = [
            self._task(stage, level, phase == "warmup", start_at, worker, seconds)
            for worker in range(workers)
        ]
        results = await self._crew.phase(tasks)
        self._used += max(result.numbers for result in results)
        return results, start_at

    def _task(
        self, stage: int, level: float, warmup: bool, start_at: float, worker: int, seconds: float | None
    ) -> PhaseTask:
        settings = self._settings
        workers = settings.workers
        slots = settings.slots_of(level)
        requests = settings.requests
        if warmup:
            slots, requests = min(settings.warmup, slots or 16), settings.warmup
        elif settings.search is not None and requests is not None and slots is not None:
            requests = max(requests, LEAST_PER_SLOT * slots)
        # Without a given cap, an open loop leaves some open files for records.
        cap = settings.max_concurrency or (most_connections(workers) if slots is None else None)
        return PhaseTask(
            stage=stage,
            phase="warmup" if warmup else "measured",
            zero=self.zero,
            wall=self.wall,
            start_at=start_at,
            base=self._used,
            level=level,
            worker=worker,
            workers=workers,
            closed=None if slots is None else part_of(slots, worker, workers),
            slots=slots or 1,
            cap=None if cap is None else max(1, part_of(cap, worker, workers)),
            requests=requests,
            cooldown=0 if warmup else settings.cooldown,
            seconds=seconds,
        )

    def _finish(
        self, results: list[PhaseResult], started: float, level: float, counted: ServerFigures | None
    ) -> StageRecord:
        settings = self._settings
        causes = {result.stopped_by for result in results}
        # The most serious first.
        cause = next(each for each in _CAUSES if each in causes)
        stage = StageRecord(
            stage=self.stage,
            level=None if settings.profile == "throughput" else level,
            started=started - self.zero,
            ended=max(result.ended for result in results) - self.zero,
            offered=sum(result.offered for result in results),
            delayed=sum(result.delayed for result in results),
            delayed_s=sum(result.delayed_s for result in results),
            stopped_by=cause,
            health=judged(
                [result.health for result in results], open_loop=settings.open_loop, inside=self._inside
            ),
            server=counted,
        )
        self.stages.append(stage)
        # A probe may fail; that is what a search looks for.
        if cause in ("interrupt", "watchdog") or (cause == "errors" and settings.search is None):
            self.cause = self.cause or cause
        if self._stage_ended is not None:
            self._stage_ended(stage)
        return stage


_CAUSES: tuple[StopCause, ...] = get_args(StopCause)


def part_of(total: int, worker: int, workers: int) -> int:
    """A worker's share of a whole number; the shares of all workers add up to it.

    >>> [part_of(10, worker, 4) for worker in range(4)]
    [3, 3, 2, 2]
    """
    return total // workers + (worker < total % workers)
