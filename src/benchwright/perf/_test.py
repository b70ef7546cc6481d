"""A load test from its first warm-up request to its last stage."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import get_args

from msgspec import Struct

from benchwright.core import RunFailedError
from benchwright.perf._crew import Crew
from benchwright.perf._health import judged, rare_collections
from benchwright.perf._loop import PhaseResult, PhaseTask
from benchwright.perf._values import LoadSettings, PhaseName, RequestRecord, StageRecord, StopCause

_LEAD_S = 0.02
"""Between the order to begin and the first request, so that every process has the order by then."""
_MANY_LEAD_S = 0.15
"""The same where several processes have to hear of it."""

USUAL_THROUGHPUT = 256
"""Requests in flight in profile `throughput`, where no other limit is given."""


class LoadTest:
    """The stages of one test, done in turn by a crew."""

    def __init__(
        self,
        settings: LoadSettings,
        crew: Crew,
        *,
        stage_ended: Callable[[StageRecord], None] | None = None,
        phase_begins: Callable[[int, PhaseName], None] | None = None,
        inside: bool = False,
    ) -> None:
        self._settings, self._crew, self._inside = settings, crew, inside
        self._stage_ended, self._phase_begins = stage_ended, phase_begins
        self._used = 0
        self.zero = monotonic()
        """When the test's clock started, by the machine's."""
        self.stages: list[StageRecord] = []
        """Those that have ended."""
        self.warmups = Tally()
        self.stage = 0
        """The one under way."""
        self.cause: StopCause | None = None
        """Why the test stopped before its end; None: it did not."""

    def ended(self, record: RequestRecord) -> None:
        """Every record has to come by here."""
        if record.phase == "warmup":
            self.warmups = Tally(self.warmups.sent + 1, self.warmups.failed + (not record.ok), record.error)

    async def run(self) -> list[StageRecord]:
        """Do all stages. RunFailedError where every warm-up request failed."""
        with rare_collections():
            self.zero = monotonic()
            return await self._run()

    async def _run(self) -> list[StageRecord]:
        settings = self._settings
        if settings.warmup:
            await self._phase(0, "warmup")
            if self.warmups.sent and self.warmups.failed == self.warmups.sent and self.cause is None:
                raise RunFailedError(
                    f"all {self.warmups.sent} warm-up requests failed; nothing was measured. The last: {self.warmups.error}"
                )
        for self.stage in range(len(settings.levels)):
            if self.cause is not None:
                break
            results, started = await self._phase(self.stage, "measured")
            self._finish(results, started)
        return self.stages

    def stop(self, cause: StopCause = "interrupt") -> None:
        """Send nothing more; what is in flight may end."""
        self.cause = self.cause or cause
        self._crew.stop(cause)

    def abort(self) -> None:
        """Give up what is in flight."""
        self.cause = self.cause or "interrupt"
        self._crew.abort()

    async def _phase(self, stage: int, phase: PhaseName) -> tuple[list[PhaseResult], float]:
        if self._phase_begins is not None:
            self._phase_begins(stage, phase)
        workers = self._settings.workers
        start_at = monotonic() + (_LEAD_S if workers == 1 else _MANY_LEAD_S)
        tasks = [self._task(stage, phase == "warmup", start_at, worker) for worker in range(workers)]
        results = await self._crew.phase(tasks)
        self._used += max(result.numbers for result in results)
        return results, start_at

    def _task(self, stage: int, warmup: bool, start_at: float, worker: int) -> PhaseTask:
        settings = self._settings
        workers = settings.workers
        slots = min(settings.warmup, slots_of(settings, stage) or 16) if warmup else slots_of(settings, stage)
        cap = settings.max_concurrency
        return PhaseTask(
            stage=stage,
            phase="warmup" if warmup else "measured",
            zero=self.zero,
            start_at=start_at,
            base=self._used,
            worker=worker,
            workers=workers,
            closed=None if slots is None else part_of(slots, worker, workers),
            slots=slots or 1,
            cap=None if cap is None else max(1, part_of(cap, worker, workers)),
            requests=settings.warmup if warmup else settings.requests,
            cooldown=0 if warmup else settings.cooldown,
            seconds=None if warmup else settings.seconds,
        )

    def _finish(self, results: list[PhaseResult], started: float) -> None:
        settings = self._settings
        causes = {result.stopped_by for result in results}
        # The gravest first.
        cause = next(each for each in _CAUSES if each in causes)
        stage = StageRecord(
            stage=self.stage,
            level=None if settings.profile == "throughput" else settings.levels[self.stage],
            started=started - self.zero,
            ended=max(result.ended for result in results) - self.zero,
            offered=sum(result.offered for result in results),
            delayed=sum(result.delayed for result in results),
            delayed_s=sum(result.delayed_s for result in results),
            stopped_by=cause,
            health=judged(
                [result.health for result in results], open_loop=settings.open_loop, inside=self._inside
            ),
        )
        self.stages.append(stage)
        if cause in ("interrupt", "watchdog", "errors"):
            self.cause = self.cause or cause
        if self._stage_ended is not None:
            self._stage_ended(stage)


_CAUSES: tuple[StopCause, ...] = get_args(StopCause)


class Tally(Struct, frozen=True):
    """Requests of the warm-up."""

    sent: int = 0
    failed: int = 0
    error: str | None = None


def slots_of(settings: LoadSettings, stage: int) -> int | None:
    """Requests that a stage keeps in flight; None in an open loop."""
    if settings.open_loop:
        return None
    if settings.profile == "throughput":
        return settings.max_concurrency or USUAL_THROUGHPUT
    slots = int(settings.levels[stage])
    return slots if settings.max_concurrency is None else min(slots, settings.max_concurrency)


def part_of(total: int, worker: int, workers: int) -> int:
    """A worker's share of a whole number; the shares of all workers add up to it.

    >>> [part_of(10, worker, 4) for worker in range(4)]
    [3, 3, 2, 2]
    """
    return total // workers + (worker < total % workers)
