"""When a call was planned, sent and answered: the same stamps on every wire, streamed or not, in failures too."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
from typing import Any

import pytest
from fake_clock import FakeClock
from loopback_server import Call, TransportName, chat, delta, in_loop, make_transport, serving, sse
from test_fault_table import CASES, request_of
from wire_table import WIRES, Wire

from benchwright.core import CallTimes, ModelReply, ModelRequest
from benchwright.endpoints import SEND_ONCE, USUAL, EndpointSettings, SendPolicy, open_endpoint
from benchwright.endpoints._http_endpoint import HttpEndpoint
from benchwright.endpoints._lean import LeanTransport
from waiting import until_in_loop

TICK = 0.001


class Recorder:
    """A server that writes an event only after the client has looked at its clock because of the one before, and
    notes what time it was when each was written."""

    def __init__(self, clock: FakeClock, *events: Any) -> None:
        self.clock = clock
        self.events = events
        self.written: list[float] = []

    async def __call__(self, call: Call) -> None:
        self.written.clear()
        await self._write(
            call, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for event in self.events:
            piece = sse(event, done=False) if not isinstance(event, bytes) else event
            await self._write(call, b"%x\r\n%b\r\n" % (len(piece), piece))
        await call.raw(b"0\r\n\r\n")

    async def _write(self, call: Call, data: bytes) -> None:
        looks = self.clock.looks
        self.written.append(self.clock.time)
        await call.raw(data)
        await until_in_loop(lambda: self.clock.looks > looks)


async def timed(
    url: str,
    clock: FakeClock,
    request: ModelRequest,
    *,
    transport: TransportName = "lean",
    policy: SendPolicy = SEND_ONCE,
    planned: float | None = None,
    **settings: Any,
) -> ModelReply:
    endpoint = HttpEndpoint(
        EndpointSettings(url=url, model_id="m", **settings),
        make_transport(transport, clock=clock),
        policy=policy,
        clock=clock,
    )
    try:
        return await endpoint.send(request, planned=planned)
    finally:
        await endpoint.aclose()


def in_order(times: CallTimes) -> None:
    known = [times.planned, times.sent, times.first_byte, times.first_token, times.last_byte, times.failed]
    there = [time for time in known if time is not None]
    assert there == sorted(there)
    assert list(times.arrivals) == sorted(times.arrivals)
    if times.arrivals:
        assert times.first_token == times.arrivals[0]
        assert times.last_byte is not None
        assert times.arrivals[-1] <= times.last_byte


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize(("wire", "stream"), CASES, ids=lambda v: getattr(v, "api", v))
@in_loop
async def test_times_are_in_order_on_every_wire(transport: TransportName, wire: Wire, stream: bool) -> None:
    clock = FakeClock(TICK)

    async def whole(call: Call) -> None:
        await call.json(wire.whole("fo"))

    second = wire.piece("fo" if wire.api == "mindie" else "o")  # whose events hold all of the text so far
    recorder = Recorder(clock, wire.piece("f"), second, wire.end)
    async with serving(recorder if stream else whole) as server:
        reply = await timed(server.url, clock, request_of(wire, stream), api=wire.api, transport=transport)
    assert (reply.status, reply.text) == ("answered", "fo")
    times = reply.times
    in_order(times)
    assert times.planned is not None
    assert times.sent is not None
    assert times.first_byte is not None
    assert times.last_byte is not None
    assert times.failed is None
    assert reply.latency_s == times.last_byte - times.sent > 0
    if stream:
        assert times.first_token is not None
        assert reply.ttft_s == times.first_token - times.sent > 0
        assert len(times.arrivals) == 2, "the last event has no content, whatever else it repeats"
        assert times.last_byte > times.arrivals[-1]
    else:
        assert times.first_token is None
        assert times.arrivals == ()


EMPTY = delta("", role="assistant")
ROLE: Any = {"choices": [{"index": 0, "delta": {"role": "assistant"}}]}
USAGE: Any = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
CALLED: Any = {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize(
    ("events", "content"),
    [
        ([ROLE, delta("4"), delta("2"), delta(finish_reason="stop"), USAGE], [1, 2]),
        ([EMPTY, EMPTY, delta("4", finish_reason="stop")], [2]),
        ([ROLE, delta(reasoning_content="hm"), delta("4"), delta(finish_reason="stop")], [1, 2]),
        ([ROLE, delta(reasoning="hm"), delta(finish_reason="length")], [1]),
        ([ROLE, delta(tool_calls=[CALLED]), delta(finish_reason="tool_calls")], [1]),
        ([ROLE, delta(refusal="no"), delta(finish_reason="stop")], [1]),
        ([b": a comment\n\n", ROLE, delta("4", finish_reason="stop")], [2]),
        ([sse(ROLE, delta("4"), delta("2"), done=False), delta(finish_reason="stop")], [0, 0]),
    ],
)
@in_loop
async def test_the_first_token_is_the_first_event_with_content(
    transport: TransportName, events: list[Any], content: list[int]
) -> None:
    clock = FakeClock(TICK)
    recorder = Recorder(clock, *events)
    async with serving(recorder) as server:
        reply = await timed(server.url, clock, chat(stream=True), transport=transport)
    assert reply.failure is None
    written = [*recorder.written[1:], float("inf")]  # without the head
    assert len(reply.times.arrivals) == len(content)
    for arrived, number in zip(reply.times.arrivals, content, strict=True):
        assert written[number] < arrived <= written[number + 1]
    in_order(reply.times)


@in_loop
async def test_arrivals_are_kept_only_where_they_are_requested() -> None:
    clock = FakeClock(TICK)
    async with serving(Recorder(clock, delta("4", finish_reason="stop"))) as server:
        usual = await timed(server.url, clock, chat(stream=True), policy=USUAL)
        both = await timed(server.url, clock, chat(stream=True), policy=SendPolicy(arrivals=True))
    assert (usual.times.arrivals, len(both.times.arrivals)) == ((), 1)
    assert usual.times.first_token is not None


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize("fault", [429, 500, 503, 404, "closed", "reset", "html"])
@in_loop
async def test_a_load_test_sends_once_whatever_comes_back(
    transport: TransportName, fault: int | str, stream: bool
) -> None:
    async def fail(call: Call) -> None:
        if isinstance(fault, int):
            await call.error(fault, Retry_After="30")
        elif fault == "html":
            await call.answer(b"<html></html>")
        else:
            call.close() if fault == "closed" else call.reset()

    clock = FakeClock(TICK)
    async with serving(fail) as server:
        settings = EndpointSettings(url=server.url, model_id="m", parallelism=1)
        endpoint = HttpEndpoint(
            settings, make_transport(transport, clock=clock), policy=SEND_ONCE, clock=clock
        )
        replies = [await endpoint.send(chat(stream=stream)) for _ in range(3)]
        await endpoint.aclose()
        assert len(server.calls) == 3
        assert len({call.path for call in server.calls}) == 1, (
            "a guess of the address is not corrected either"
        )
    assert (endpoint.requests_sent, endpoint.retries, endpoint.in_flight) == (3, 0, 0)
    assert clock.slept == []
    for reply in replies:
        assert reply.failure is not None
        assert reply.attempts == 1
        assert reply.times.failed is not None
        assert reply.times.sent is not None
        in_order(reply.times)


@in_loop
async def test_a_load_test_waits_for_nobody() -> None:
    held, arrived = asyncio.Event(), asyncio.Event()

    async def hold(call: Call) -> None:
        if len(server.calls) == 20:
            arrived.set()
        await held.wait()
        await call.says("four")

    async with serving(hold) as server:
        settings = EndpointSettings(url=server.url, model_id="m", parallelism=1, requests_per_minute=1)
        endpoint = open_endpoint(settings, policy=SEND_ONCE)
        tasks = [asyncio.ensure_future(endpoint.send(chat())) for _ in range(20)]
        await arrived.wait()
        assert endpoint.in_flight == 20
        held.set()
        assert {(await task).text for task in tasks} == {"four"}
        connections = server.connections
        assert [(await endpoint.send(chat())).text for _ in range(3)] == ["four"] * 3
        assert server.connections == connections == 20, "all of them are kept, whatever the parallelism"
        await endpoint.aclose()


@in_loop
async def test_a_request_is_sent_at_its_planned_time() -> None:
    async def answer(call: Call) -> None:
        await call.says("four")

    clock = FakeClock(TICK)
    async with serving(answer) as server:
        planned = clock.time + 60
        reply = await timed(server.url, clock, chat(), planned=planned)
        late = await timed(server.url, clock, chat(), planned=planned)
    assert clock.slept == [pytest.approx(60)]
    assert reply.times.planned == late.times.planned == planned
    in_order(reply.times)
    assert reply.times.sent == pytest.approx(planned, abs=0.1)
    in_order(late.times)


@in_loop
async def test_the_clock_drives_pauses_and_what_servers_ask_for() -> None:
    clock = FakeClock()

    async def busy_twice(call: Call) -> None:
        if call.number < 3:
            await call.error(503, Retry_After="40")
        else:
            await call.says("four")

    async with serving(busy_twice) as server:
        reply = await timed(server.url, clock, chat(), policy=USUAL, request_timeout_s=60)
        assert len(server.calls) == 3
    assert (reply.text, reply.attempts) == ("four", 3)
    assert len(clock.slept) == 2
    assert all(40 <= pause <= 41 for pause in clock.slept)
    assert reply.times.sent is not None
    assert reply.times.sent >= 1080, "the times are those of the last attempt"


@in_loop
async def test_the_clock_drives_requests_per_minute() -> None:
    clock = FakeClock()
    times: list[float] = []

    async def answer(call: Call) -> None:
        times.append(clock.time)
        await call.says("four")

    async with serving(answer) as server:
        settings = EndpointSettings(url=server.url, model_id="m", requests_per_minute=2)
        endpoint = HttpEndpoint(settings, LeanTransport(4, clock), clock=clock)
        tasks = [asyncio.ensure_future(endpoint.send(chat())) for _ in range(3)]
        for number in (1, 2, 3):
            await until_in_loop(lambda number=number: len(times) == number)
            clock.advance_to(clock.time + 30)
        await asyncio.gather(*tasks)
        await endpoint.aclose()
    assert [later - earlier for earlier, later in itertools.pairwise(times)] == [30, 30]


@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_the_clock_drives_time_outs(stream: bool) -> None:
    clock = FakeClock()

    async def silence(call: Call) -> None:
        clock.advance_to(clock.time + 121)
        await asyncio.Event().wait()

    async with serving(silence) as server:
        reply = await timed(server.url, clock, chat(stream=stream))
    assert reply.failure is not None
    assert reply.failure.kind == "timeout"
    assert reply.times == CallTimes(planned=1000.0, sent=1000.0, failed=1121.0)
    assert reply.latency_s == 121.0


@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_the_clock_drives_connecting(stream: bool) -> None:
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)  # and nobody accepts: once the queue is full, further connections get no answer
        for _ in range(8):
            other = stack.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        clock = FakeClock()
        url = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        task = asyncio.ensure_future(timed(url, clock, chat(stream=stream)))
        await until_in_loop(lambda: clock.waits)
        clock.advance_to(clock.time + 15)
        reply = await task
    assert reply.failure is not None
    assert (reply.failure.kind, reply.times.sent) == ("timeout", None)
    assert "no connection" in reply.failure.message
    assert reply.latency_s == 15.0


@in_loop
async def test_a_broken_stream_keeps_what_is_known_of_it() -> None:
    clock = FakeClock(TICK)
    recorder = Recorder(clock, ROLE, delta("4"))

    async def breaks(call: Call) -> None:
        await recorder._write(call, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for event in recorder.events:
            piece = sse(event, done=False)
            await recorder._write(call, b"%x\r\n%b\r\n" % (len(piece), piece))
        call.close()

    async with serving(breaks) as server:
        reply = await timed(server.url, clock, chat(stream=True))
    assert reply.failure is not None
    assert reply.failure.kind == "broken_stream"
    times = reply.times
    in_order(times)
    assert times.first_token == times.last_byte == times.arrivals[0]
    assert times.failed is not None
    assert times.failed > times.arrivals[0]


@in_loop
async def test_a_call_without_a_connection_was_never_sent() -> None:
    async with serving(Recorder(FakeClock())) as server:
        url = server.url
    reply = await timed(url, FakeClock(TICK), chat())
    assert reply.failure is not None
    assert reply.times.sent is None
    assert reply.times.planned is not None
    assert reply.times.failed is not None
    assert reply.latency_s == reply.times.failed - reply.times.planned


def test_a_recorded_reply_keeps_its_durations() -> None:
    times = CallTimes(planned=9.0, sent=10.0, first_byte=10.5, first_token=10.75, last_byte=12.0)
    record = ModelReply("answered", "x", times=times).to_json()
    assert (record["l"], record["tt"]) == (2.0, 0.75)
    again = ModelReply.from_json(record)
    assert (again.latency_s, again.ttft_s) == (2.0, 0.75)
    assert again.to_json() == record
    failed = ModelReply("failed", times=CallTimes(planned=9.0, failed=9.5))
    assert (failed.latency_s, failed.ttft_s, ModelReply("failed").latency_s) == (0.5, None, 0.0)


def test_every_wire_is_in_the_table() -> None:
    from benchwright.core import WIRE_FORMATS

    assert {wire.api for wire in WIRES} == set(WIRE_FORMATS)
