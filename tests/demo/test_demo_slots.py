"""The slots of the demo server: so many requests are answered at once, and others wait in the order in which they came."""

from __future__ import annotations

import heapq
import socket
from itertools import count
from random import Random
from typing import Any

import orjson
import pytest
from tests.demo.test_demo_server import QUESTION, ask, post

from benchwright.core import UsageError
from benchwright.demo import DemoSettings, demo_server
from benchwright.demo._responses import Counters, Response
from benchwright.demo._server import Slots
from waiting import PATIENCE_S, until


class Client:
    """A connection in virtual time."""

    def __init__(self, agenda: list[Any], order: Any) -> None:
        self.began: float | None = None
        self._agenda, self._order = agenda, order

    def begin(self, response: Response, at: float) -> None:
        self.began = at
        heapq.heappush(self._agenda, (at + response.delay_s, next(self._order), "done", self))


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("seed", range(6))
def test_requests_are_served_as_a_queue_with_so_many_places_serves_them(number: int, seed: int) -> None:
    """Against the usual recursion of such a queue: a request begins when it comes, or when the first place is free."""
    dice, order = Random(seed), count()
    agenda: list[Any] = []
    counters = Counters()
    slots: Any = Slots(number, counters)
    times = sorted(dice.uniform(0, 30) for _ in range(80))
    needs = [dice.uniform(0.1, 1.5) for _ in times]
    clients = [Client(agenda, order) for _ in times]
    for at, need, client in zip(times, needs, clients, strict=True):
        heapq.heappush(agenda, (at, next(order), Response([b"x"], True, need), client))
    while agenda:
        now, _, what, client = heapq.heappop(agenda)
        if what == "done":
            slots.give_back(client, now)
        else:
            slots.take(client, what, now)
        assert 0 <= counters.running <= number
        assert not counters.waiting or counters.running == number
    free = [0.0] * number
    for at, need, client in zip(times, needs, clients, strict=True):
        begin = max(at, free[0])
        heapq.heapreplace(free, begin + need)
        assert client.began == pytest.approx(begin)
    assert (counters.running, counters.waiting) == (0, 0)


def test_who_leaves_takes_no_place_and_gives_its_own_back() -> None:
    agenda: list[Any] = []
    counters = Counters()
    slots: Any = Slots(1, counters)
    first, leaver, second, third = (Client(agenda, count()) for _ in range(4))
    for at, client in enumerate((first, leaver, second, third)):
        slots.take(client, Response([b"x"], True, 9.0), float(at))
    slots.give_back(leaver, 5.0)
    assert (counters.running, counters.waiting) == (1, 2)
    slots.give_back(first, 9.0)
    slots.give_back(second, 10.0)  # left while it was served
    assert [each.began for each in (first, leaver, second, third)] == [0.0, None, 9.0, 10.0]
    assert (counters.running, counters.waiting) == (1, 0)


def test_requests_wait_over_http_while_other_routes_answer() -> None:
    """The one slot is held by a reply that takes longer than any test, so nothing here depends on speed."""
    with demo_server(DemoSettings(ttft_ms=3_600_000, slots=1)) as server:
        request = post(orjson.dumps(QUESTION))
        with socket.create_connection((server.host, server.port), timeout=PATIENCE_S) as served:
            served.sendall(request)
            until(lambda: server.stats()["running"] == 1)
            with socket.create_connection((server.host, server.port), timeout=PATIENCE_S) as waits:
                waits.sendall(request)
                until(lambda: server.stats()["waiting"] == 1)
                assert ask(server, None, "/health", "GET")[1] == {"status": "ok"}
            until(lambda: server.stats()["waiting"] == 0)
            assert server.stats()["running"] == 1
        until(lambda: server.stats()["running"] == 0)


@pytest.mark.parametrize(
    ("slots", "ttft_ms", "message"), [(0, 10.0, "1 or more"), (2, 0.0, "take no time.*--ttft-ms 100")]
)
def test_slots_that_cannot_be_are_refused(slots: int, ttft_ms: float, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        DemoSettings(slots=slots, ttft_ms=ttft_ms)
