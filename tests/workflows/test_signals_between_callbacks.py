"""A signal may come in the middle of a callback of the event loop; the workflow is cancelled after it."""

from __future__ import annotations

import asyncio
import signal
from asyncio import futures
from typing import Any

from benchwright.workflows._execution import _Job


class InterruptedFuture(asyncio.Future[None]):
    """A future during whose look at itself a signal comes."""

    job: _Job | None = None

    def cancelled(self) -> bool:
        found = super().cancelled()
        if self.job is not None and not found:
            job, self.job = self.job, None
            job._stop(signal.SIGTERM, None)
        return found


def test_a_signal_while_a_timer_ends_a_step_is_no_error_of_the_loop() -> None:
    errors: list[dict[str, Any]] = []

    async def work(job: _Job) -> str:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: errors.append(context))
        job._loop, job._task = loop, asyncio.current_task()
        step = InterruptedFuture()
        step.job = job
        loop.call_soon(futures._set_result_unless_cancelled, step, None)  # type: ignore[attr-defined]
        try:
            await step
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "cancelled"
        return "went on"

    job = _Job()
    assert asyncio.run(work(job)) == "cancelled"
    assert errors == []
    assert job.stopped_by is signal.SIGTERM
