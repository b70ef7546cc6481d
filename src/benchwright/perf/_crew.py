"""The crew of a load test: this process or several send the phases of a test one after the other, by one clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from benchwright.endpoints import SEND_ONCE, ModelSettings, TimedEndpoint, open_endpoint
from benchwright.perf._journal import Journals
from benchwright.perf._loop import PhaseLoop, PhaseResult, PhaseTask
from benchwright.perf._plan import RequestPlan
from benchwright.perf._values import LoadSettings, RequestRecord, StopCause


class Crew(Protocol):
    """Performs phases."""

    @property
    def in_flight(self) -> int:
        """Requests in flight, as far as known."""

    async def phase(self, tasks: Sequence[PhaseTask]) -> list[PhaseResult]:
        """Perform one phase, with a task for each process. Returns when its last request has ended."""

    def stop(self, cause: StopCause) -> None:
        """Send nothing more."""

    def abort(self) -> None:
        """Give up what is in flight."""

    async def close(self) -> None:
        """Release connections and processes."""


class LocalCrew:
    """Implements `Crew` in the running event loop."""

    def __init__(
        self,
        settings: LoadSettings,
        plan: RequestPlan,
        endpoints: Sequence[TimedEndpoint],
        ended: Callable[[RequestRecord], None],
    ) -> None:
        self._settings, self._plan, self._endpoints, self._ended = settings, plan, endpoints, ended
        self._loop: PhaseLoop | None = None
        self._stop: StopCause | None = None

    @property
    def in_flight(self) -> int:
        """Number of requests in flight."""
        return 0 if self._loop is None else self._loop.in_flight

    async def phase(self, tasks: Sequence[PhaseTask]) -> list[PhaseResult]:
        """Perform the single task."""
        (task,) = tasks
        loop = self._loop = PhaseLoop(self._settings, task, self._plan, self._endpoints, self._ended)
        if self._stop is not None:
            loop.stop(self._stop)
        return [await loop.run()]

    def stop(self, cause: StopCause) -> None:
        """Send nothing more, in this phase or another."""
        self._stop = cause
        if self._loop is not None:
            self._loop.stop(cause)

    def abort(self) -> None:
        """Give up what is in flight."""
        self._stop = "interrupt"
        if self._loop is not None:
            self._loop.abort()

    async def close(self) -> None:
        """Close the connections."""
        for endpoint in self._endpoints:
            await endpoint.aclose()
        await asyncio.sleep(0)


async def open_crew(
    settings: LoadSettings,
    plan: RequestPlan,
    models: Sequence[ModelSettings],
    ended: Callable[[RequestRecord], None],
    journals: Journals | None = None,
) -> Crew:
    """Open the crew of a test. `ended` is called with each record, and journals it if there are journals; other processes write
    journals of their own until then."""
    if settings.workers == 1:
        return LocalCrew(settings, plan, open_endpoints(models), ended)
    from benchwright.perf._process_crew import ProcessCrew

    return await ProcessCrew.open(settings, plan, models, ended, journals)


def open_endpoints(models: Sequence[ModelSettings]) -> list[TimedEndpoint]:
    """The endpoints of a load test: each request is sent once, at its time."""
    return [open_endpoint(model, policy=SEND_ONCE) for model in models]
