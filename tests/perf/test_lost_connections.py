"""Servers that close connections which they announced to keep: requests are neither lost nor answered twice, and reuse goes on."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.perf.loads import load, plan_of
from tests.perf.stub_server import Stub, Truth

from benchwright.perf import LoadSettings, RequestOutcome, RequestRecord

REQUESTS, PLACES = 240, 8
LAST_LOSS, LATE = 60, 180
"""After two losses, streams get 32 new connections, then 64 and so on, until a kept one is tried again."""


class Losing(Stub):
    """Loses connections when its plan says so. A connection whose first request this is, is never lost without a reply: that is an error
    by the rules, and not a lost kept connection."""

    def __init__(self, plan: Callable[[int, Random], str], seed: int) -> None:
        super().__init__(events=2)
        self._plan, self._dice = plan, Random(seed)
        self.read: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.opened, self.lost, self.most = 0, 0, 0
        self.opened_late = 0
        self._kept: dict[asyncio.StreamWriter, int] = {}

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self._kept[writer] = 0
        self.most = max(self.most, len(self._kept))
        try:
            await super().handle(reader, writer)
        finally:
            self._kept.pop(writer, None)

    async def _answer(self, truth: Truth, number: int, writer: asyncio.StreamWriter) -> bool:
        prompt = truth.body["messages"][-1]["content"]
        self.read[prompt] += 1
        if number == LATE:
            self.opened_late = self.opened
        way = self._plan(number, self._dice) if number <= LAST_LOSS else ""
        first = not self._kept.get(writer, 0)
        if way == "all":  # those that answer nothing now; this one goes on
            for other in [each for each in self._kept if each is not writer]:
                self._lose(other)
        elif way == "unread" and not first:
            self._lose(writer)
            return False
        kept = await super()._answer(truth, number, writer)
        if writer in self._kept:  # else another request closed it, and nobody got this reply
            self.answered[prompt] += 1
            self._kept[writer] += 1
        if way == "idle":
            self._lose(writer)
            return False
        return kept

    def _lose(self, writer: asyncio.StreamWriter) -> None:
        if self._kept.pop(writer, None) is not None:
            self.lost += 1
        writer.close()


def at_once(number: int, dice: Random) -> str:
    return "all" if number in (30, LAST_LOSS) else ""


def spread(number: int, dice: Random) -> str:
    return dice.choice(["idle", "unread"]) if dice.random() < 0.15 else ""


def in_bursts(number: int, dice: Random) -> str:
    return dice.choice(["idle", "unread"]) if number % 20 > 14 else ""


def after_each(number: int, dice: Random) -> str:
    return "idle"


async def loaded(server: Losing, **how: Any) -> list[RequestRecord]:
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        records, _ = await load(url, LoadSettings(**how), plan_of(REQUESTS, stream=how["stream"]))
    finally:
        listening.close()
    return records


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "how",
    [{"levels": (float(PLACES),)}, {"profile": "constant", "levels": (2000.0,), "max_concurrency": PLACES}],
    ids=["closed", "open"],
)
@pytest.mark.parametrize("plan", [at_once, spread, in_bursts, after_each], ids=lambda plan: plan.__name__)
def test_lost_connections_lose_no_request_and_reuse_goes_on(
    plan: Callable[[int, Random], str], how: dict[str, Any], stream: bool
) -> None:
    server = Losing(plan, seed=3)
    records = asyncio.run(loaded(server, requests=REQUESTS, stream=stream, **how))
    assert sorted(record.number for record in records) == list(range(REQUESTS))
    for record in records:
        prompt = f"row {record.row}"
        assert server.read[prompt] <= record.attempts <= 4
        if record.outcome is RequestOutcome.OK:
            assert server.answered[prompt] == 1
        elif plan is not at_once:  # there, a reply may be cut off
            assert (record.outcome, record.attempts) == (RequestOutcome.RESET, 4)
    assert sum(record.outcome is RequestOutcome.OK for record in records) >= 0.9 * REQUESTS
    assert server.lost >= 3
    assert server.most <= 2 * PLACES, "a lost connection is replaced, and nothing else"
    assert server.opened - server.opened_late <= PLACES, "in the end, connections are kept again"
