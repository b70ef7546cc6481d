"""A gate is asked before every attempt beyond the first, and its deadline and its stop end all waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import Any

import pytest
from loopback_server import TransportName, chat, chat_json, in_loop, make_transport, serving

from benchwright.core import RequestFailure, encode_json
from benchwright.demo import DemoSettings
from benchwright.endpoints import EndpointSettings, SendGate, open_endpoint
from benchwright.endpoints._http1 import RawHeaders
from benchwright.endpoints._http_endpoint import HttpEndpoint
from benchwright.endpoints._transport import HttpReply, HttpStream, Stamps
from waiting import PATIENCE_S, until_in_loop

GOOD = encode_json(chat_json("four"))


class Gate:
    """Allows so many further requests."""

    def __init__(self, allowed: int = 1000, deadline: float | None = None) -> None:
        self.allowed = allowed
        self.deadline = deadline
        self.asked = 0
        self.stopped = False

    def may_send(self, failed: RequestFailure | None = None) -> bool:
        self.asked += 1
        self.allowed -= 1
        return self.allowed >= 0


class BareGate:
    """Only what the protocol asks for."""

    deadline: float | None = None

    def may_send(self, failed: RequestFailure | None = None) -> bool:
        return True


class Transport:
    """Gives the statuses of a list, the last one for ever."""

    def __init__(self, *statuses: int, headers: bytes = b"", seconds: float = 0.0) -> None:
        self.statuses, self.headers, self.seconds = statuses, headers, seconds
        self.urls: list[str] = []
        self.timeouts: list[float] = []

    async def post(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> HttpReply:
        status = self.statuses[min(len(self.urls), len(self.statuses) - 1)]
        self.urls.append(url)
        self.timeouts.append(timeout_s)
        await asyncio.sleep(self.seconds)
        return HttpReply(status, RawHeaders(self.headers), GOOD if status == 200 else b"{}")

    async def stream(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> HttpStream:
        raise NotImplementedError

    async def aclose(self) -> None: ...


def gated(transport: Transport, gate: SendGate, **settings: Any) -> HttpEndpoint:
    values = {"url": "http://h/v1", "model_id": "m", "retry_backoff_s": 0.0, "max_retries": 5, **settings}
    return HttpEndpoint(EndpointSettings(**values), transport, gate=gate)


@in_loop
async def test_every_attempt_but_the_first_is_reserved() -> None:
    gate, transport = Gate(), Transport(500, 500, 200)
    reply = await gated(transport, gate).send(chat())
    assert (reply.status, reply.attempts, gate.asked) == ("answered", 3, 2)
    gate, transport = Gate(), Transport(200)
    await gated(transport, gate).send(chat())
    assert gate.asked == 0, "the caller has reserved the first attempt"


@pytest.mark.parametrize("allowed", [0, 1, 2])
@in_loop
async def test_no_more_is_sent_than_the_gate_allows(allowed: int) -> None:
    transport = Transport(500)
    endpoint = gated(transport, Gate(allowed))
    reply = await endpoint.send(chat())
    assert reply.failure is not None
    assert (reply.failure.kind, reply.failure.http_status) == ("server_error", 500), (
        "the last trouble's failure"
    )
    assert "may send no more" in reply.failure.message
    assert reply.attempts == len(transport.urls) == endpoint.requests_sent == allowed + 1
    assert endpoint.in_flight == 0


@in_loop
async def test_asking_at_another_address_is_reserved_too() -> None:
    transport = Transport(404, 200)
    reply = await gated(transport, Gate(0), url="http://h").send(chat())
    assert reply.failure is not None
    assert (reply.failure.http_status, len(transport.urls)) == (404, 1)
    transport = Transport(404, 200)
    assert (await gated(transport, Gate(1), url="http://h").send(chat())).text == "four"


@in_loop
async def test_gate_without_stopped_is_enough() -> None:
    assert (await gated(Transport(500, 200), BareGate()).send(chat())).text == "four"


@in_loop
async def test_no_attempt_starts_after_the_deadline_nor_lasts_beyond_it() -> None:
    gate, transport = Gate(deadline=monotonic() + PATIENCE_S), Transport(500, seconds=0.075)
    sending = asyncio.ensure_future(gated(transport, gate, max_retries=100_000).send(chat()))
    await until_in_loop(lambda: len(transport.urls) > 1)
    begun, gate.deadline = len(transport.urls), monotonic() + 0.6
    reply = await sending
    assert reply.failure is not None
    assert len(transport.urls) <= begun + 8, "each attempt takes 0.075 s of 0.6 seconds"
    assert all(timeout <= 0.6 for timeout in transport.timeouts[begun:])
    late = await gated(transport, gate).send(chat())
    assert late.failure is not None
    assert (late.failure.kind, late.attempts) == ("budget", 0)


@in_loop
async def test_pause_beyond_the_deadline_is_not_begun() -> None:
    gate, transport = Gate(deadline=monotonic() + 50), Transport(429, headers=b"x\r\nRetry-After: 60")
    began = monotonic()
    reply = await gated(transport, gate).send(chat())
    assert monotonic() - began < 45
    assert reply.failure is not None
    assert (reply.failure.kind, len(transport.urls)) == ("rate_limited", 1)


@in_loop
async def test_stop_ends_pauses_and_waits_for_a_place() -> None:
    gate, transport = Gate(), Transport(503, headers=b"x\r\nRetry-After: 60")
    endpoint = gated(transport, gate, parallelism=2)
    pausing = asyncio.ensure_future(endpoint.send(chat()))
    await until_in_loop(lambda: transport.urls and endpoint.in_flight == 0)
    waiting = asyncio.ensure_future(endpoint.send(chat()))  # all places are held back for a minute
    await asyncio.sleep(0)
    gate.stopped = True
    began = monotonic()
    tried, untried = await asyncio.gather(pausing, waiting)
    assert monotonic() - began < 30
    assert tried.failure is not None
    assert untried.failure is not None
    assert (tried.failure.kind, tried.attempts) == ("server_error", 1)
    assert (untried.failure.kind, untried.attempts) == ("budget", 0)
    assert len(transport.urls) == 1
    assert endpoint.in_flight == 0
    await endpoint.aclose()


@pytest.mark.parametrize("name", ["lean", "reqwest"])
@in_loop
async def test_deadline_ends_an_attempt_that_hangs(name: TransportName) -> None:
    async def hang(_: object) -> None:
        await asyncio.sleep(30)

    async with serving(hang) as server:
        settings = EndpointSettings(url=server.url + "/v1", model_id="m", max_retries=3)
        gate = Gate(deadline=monotonic() + PATIENCE_S)
        endpoint = HttpEndpoint(settings, make_transport(name), gate=gate)
        began = monotonic()
        gate.deadline = began + 0.5
        reply = await endpoint.send(chat())
        await endpoint.aclose()
    assert monotonic() - began < 20
    assert reply.failure is not None
    assert (reply.failure.kind, reply.attempts, gate.asked) == ("budget", 1, 0)
    assert "the run's time is up" in reply.failure.message


@in_loop
async def test_a_place_that_comes_free_while_the_run_stops_is_not_used() -> None:
    gate, transport = Gate(), Transport(200, seconds=0.05)
    endpoint = gated(transport, gate, parallelism=1)
    first = asyncio.ensure_future(endpoint.send(chat()))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(endpoint.send(chat()))
    await until_in_loop(lambda: transport.urls)
    gate.stopped = True
    done, waited = await asyncio.gather(first, second)
    assert done.text == "four"
    assert (waited.failure and waited.failure.kind, waited.attempts) == ("budget", 0)
    assert (len(transport.urls), endpoint.in_flight) == (1, 0)


@in_loop
async def test_cancelled_wait_for_a_gated_place_leaves_none_behind() -> None:
    endpoint = gated(Transport(200, seconds=0.05), Gate(), parallelism=1)
    first = asyncio.ensure_future(endpoint.send(chat()))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(endpoint.send(chat()))
    await asyncio.sleep(0.01)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    assert endpoint.in_flight == 0
    assert (await endpoint.send(chat())).text == "four"


@in_loop
async def test_demo_model_asks_before_it_tries_again() -> None:
    settings = DemoSettings(error_rate=1.0, max_retries=4)
    for allowed in (0, 2):
        endpoint = open_endpoint(settings, gate=Gate(allowed))
        reply = await endpoint.send(chat())
        assert reply.status == "failed"
        assert reply.attempts == endpoint.requests_sent == allowed + 1
        assert endpoint.retries == allowed


@in_loop
async def test_demo_model_keeps_to_the_deadline() -> None:
    gate = Gate(deadline=monotonic() + PATIENCE_S)
    endpoint = open_endpoint(DemoSettings(ttft_ms=60_000, parallelism=1), gate=gate)
    began = monotonic()
    gate.deadline = began + 0.5
    replies = await asyncio.gather(endpoint.send(chat()), endpoint.send(chat()))
    assert monotonic() - began < 30
    assert [reply.failure and reply.failure.kind for reply in replies] == ["budget", "budget"]
    assert sorted(reply.attempts for reply in replies) == [0, 1]
    assert endpoint.in_flight == 0
