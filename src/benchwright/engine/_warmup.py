"""Requests before the first: they wake a server up, and nothing of them is recorded or counted."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from itertools import chain, cycle, islice

from benchwright.benchmarks import Answer, AskableRows
from benchwright.core import ModelReply, ModelRequest, RunFailedError
from benchwright.endpoints import AdaptedEndpoint, Endpoint
from benchwright.engine._calls import Calls, RequestIdentity, SampleCalls
from benchwright.engine._feed import WorkItem
from benchwright.engine._ledger import BUDGET_SPENT
from benchwright.engine._stop import Stop


class UnrecordedCalls:
    """Stands where the ledger stands in a run. What is sent counts against the budget: it is paid for."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop

    async def call(
        self,
        key: str | None,
        request: ModelRequest,
        endpoint: Endpoint,
        identity: RequestIdentity,
        sample: SampleCalls,
    ) -> ModelReply:
        """Send, and forget."""
        if not self._stop.may_send():
            return BUDGET_SPENT
        reply = await AdaptedEndpoint(endpoint, identity.findings.adapter).send(request)
        usage = reply.usage
        self._stop.spent(0 if usage is None else usage.prompt + usage.completion)
        return reply


async def warm_up(rows: AskableRows, calls: Calls, count: int) -> None:
    """Ask the first `count` rows (over again where there are fewer). RunFailedError if not one was answered."""
    first = list(islice(chain.from_iterable(batch.rows for batch in rows.batches()), count))
    items = [WorkItem(number, 0, deepcopy(row)) for number, row in enumerate(islice(cycle(first), count))]
    answers = await asyncio.gather(
        *(rows.strategy.answer(item.row, 0, SampleCalls(calls, item, b"")) for item in items)
    )
    failures = [failure for answer in answers if (failure := _failure(answer)) is not None]
    if answers and len(failures) == len(answers):
        raise RunFailedError(
            f"all {len(answers)} warm-up requests failed, so the run was not started: {failures[0]}"
        )


def _failure(answer: Answer) -> str | None:
    if answer.reply is None:
        return answer.skipped or "the row could not be asked"
    return None if answer.reply.failure is None else answer.reply.failure.message
