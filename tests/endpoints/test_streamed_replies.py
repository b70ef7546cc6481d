"""Streams: put together, timed, and told apart when they break."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from loopback_server import (
    Call,
    TransportName,
    chat,
    chat_json,
    completion,
    cut,
    delta,
    endpoint_at,
    in_loop,
    one_after_another,
    serving,
    sse,
)

pytestmark = pytest.mark.parametrize("transport", ["lean", "reqwest"])

USAGE = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 9}}
GOOD = sse(delta("", role="assistant"), delta("grü"), delta("ße 🎉"), delta(None, "stop"), USAGE)


def stream_of(*pieces: bytes, end: bool = True, pause_s: float = 0.0, reset: bool = False) -> Any:
    async def handle(call: Call) -> None:
        await call.events(*pieces, end=end, pause_s=pause_s)
        if reset:
            call.reset()
        elif not end:
            call.close()

    return handle


@pytest.mark.parametrize("size", [1, 5, 10_000])
@in_loop
async def test_pieces_are_put_together_wherever_they_are_cut(transport: TransportName, size: int) -> None:
    async with serving(stream_of(*cut(GOOD, size))) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat(stream=True))
        assert server.calls[0].body["stream_options"] == {"include_usage": True}
    assert (reply.status, reply.text, reply.finish_reason) == ("answered", "grüße 🎉", "stop")
    assert reply.usage is not None
    assert (reply.usage.prompt, reply.usage.completion) == (5, 9)
    assert reply.ttft_s is not None
    assert 0 < reply.ttft_s <= reply.latency_s


@in_loop
async def test_time_to_first_token_is_of_the_first_content(transport: TransportName) -> None:
    pieces = [
        sse(delta("", role="assistant"), done=False),
        sse(delta("a"), done=False),
        sse(delta("b", "stop")),
    ]
    async with (
        serving(stream_of(*pieces, pause_s=0.05)) as server,
        endpoint_at(server.url, transport) as endpoint,
    ):
        reply = await endpoint.send(chat(stream=True))
    assert reply.ttft_s is not None
    assert 0.04 < reply.ttft_s <= reply.latency_s  # test_call_times.py knows both to the tick


@pytest.mark.parametrize(
    "wire",
    [
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"data: ", b"data:"),
        b": ping\n\n" + GOOD.replace(b"data: {", b": ping\n\nevent: chunk\ndata: {"),
        GOOD.replace(b"data: [DONE]\n\n", b""),
        GOOD.removesuffix(b"\n\n"),
        GOOD.replace(b"data: [DONE]\n\n", b"data: [DONE]"),
    ],
    ids=["crlf", "no space", "comments", "no DONE", "no last line break", "DONE without line break"],
)
@in_loop
async def test_dialects_are_understood(transport: TransportName, wire: bytes) -> None:
    async with serving(stream_of(wire)) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat(stream=True))
    assert (reply.status, reply.text, reply.attempts) == ("answered", "grüße 🎉", 1)
    assert reply.usage is not None


@pytest.mark.parametrize(
    "broken",
    [
        stream_of(sse(delta("gr"), done=False)),
        stream_of(sse(delta("gr"), done=False), end=False),
        stream_of(sse(delta("gr"), done=False), end=False, pause_s=0.02, reset=True),
        stream_of(sse(delta("gr"), done=False), b'data: {"choices": [{"del'),
    ],
    ids=["ended early", "closed half-way", "reset half-way", "half an event"],
)
@in_loop
async def test_half_a_stream_is_broken_and_retried(transport: TransportName, broken: Any) -> None:
    async with (
        serving(one_after_another(broken, stream_of(GOOD))) as server,
        endpoint_at(server.url, transport) as endpoint,
    ):
        reply = await endpoint.send(chat(stream=True))
        assert (reply.text, reply.attempts) == ("grüße 🎉", 2)
    async with serving(broken) as server, endpoint_at(server.url, transport, max_retries=1) as endpoint:
        reply = await endpoint.send(chat(stream=True))
    assert reply.failure is not None
    assert (reply.failure.kind, reply.attempts) == ("broken_stream", 2)
    assert reply.text == ""


@in_loop
async def test_connection_lost_after_the_finish_reason_loses_nothing(transport: TransportName) -> None:
    wire = sse(delta("four"), delta(None, "stop"), done=False)
    async with (
        serving(stream_of(wire, end=False, pause_s=0.02, reset=True)) as server,
        endpoint_at(server.url, transport) as endpoint,
    ):
        reply = await endpoint.send(chat(stream=True))
    assert (reply.status, reply.text, reply.attempts) == ("answered", "four", 1)


@in_loop
async def test_error_inside_a_stream_is_told_in_the_servers_words(transport: TransportName) -> None:
    for error, kind, attempts in (
        ({"message": "out of memory"}, "server_error", 2),
        ({"message": "prompt too long", "code": 400}, "rejected", 1),
    ):
        wire = sse(delta("fo"), {"error": error}, done=False)
        async with (
            serving(stream_of(wire)) as server,
            endpoint_at(server.url, transport, max_retries=1) as endpoint,
        ):
            reply = await endpoint.send(chat(stream=True))
        assert reply.failure is not None
        assert (reply.failure.kind, reply.attempts) == (kind, attempts)
        assert error["message"] in reply.failure.message  # type: ignore[operator]


@in_loop
async def test_plain_json_in_answer_to_a_stream_is_read(transport: TransportName) -> None:
    async def ignore_stream(call: Call) -> None:
        await call.json(chat_json("four"))

    async with serving(ignore_stream) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat(stream=True))
    assert (reply.status, reply.text, reply.ttft_s) == ("answered", "four", None)


@in_loop
async def test_html_and_errors_in_answer_to_a_stream(transport: TransportName) -> None:
    async def html(call: Call) -> None:
        await call.answer(b"<html><title>Login</title></html>")

    async def busy(call: Call) -> None:
        await call.error(429, "slow down", Retry_After="0")

    async with serving(html) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat(stream=True))
        assert reply.failure is not None
        assert (reply.failure.kind, reply.attempts) == ("bad_reply", 2)
    async with (
        serving(one_after_another(busy, stream_of(GOOD))) as server,
        endpoint_at(server.url, transport) as endpoint,
    ):
        assert (await endpoint.send(chat(stream=True))).attempts == 2


@pytest.mark.parametrize("own", [False, True], ids=["added by us", "in the body"])
@in_loop
async def test_stream_options_are_dropped_for_good_when_refused(transport: TransportName, own: bool) -> None:
    async def old(call: Call) -> None:
        if "stream_options" in call.body:
            await call.error(400, "Unrecognized request argument supplied: stream_options")
        else:
            await call.events(GOOD)

    extra: dict[str, Any] = {"stream_options": {"include_usage": True}} if own else {}
    async with serving(old) as server, endpoint_at(server.url, transport) as endpoint:
        first = await endpoint.send(chat(stream=True, **extra))
        second = await endpoint.send(chat(stream=True, **extra))
        assert len(server.calls) == 3
    assert (first.status, first.attempts, second.attempts) == ("answered", 2, 1)
    assert endpoint.first_failure is None


@in_loop
async def test_streamed_tool_calls_reasoning_and_refusals(transport: TransportName) -> None:
    def call_piece(index: int, **function: str) -> dict[str, Any]:
        return {"index": index, **({"id": f"c{index}"} if "name" in function else {}), "function": function}

    wire = sse(
        delta(None, reasoning_content="let me "),
        delta(None, reasoning_content="see"),
        delta(None, tool_calls=[call_piece(0, name="add", arguments='{"a"')]),
        delta(None, tool_calls=[call_piece(0, arguments=": 1}"), call_piece(1, name="sub", arguments="{}")]),
        delta(None, "tool_calls"),
    )
    async with serving(stream_of(wire)) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat(stream=True))
    assert (reply.status, reply.reasoning, reply.finish_reason) == ("answered", "let me see", "tool_calls")
    assert reply.tool_calls == [
        {"id": "c0", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}},
        {"id": "c1", "type": "function", "function": {"name": "sub", "arguments": "{}"}},
    ]
    wire = sse(delta(None, refusal="I "), delta(None, refusal="won't"), delta(None, "stop"))
    async with serving(stream_of(wire)) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(chat(stream=True))
    assert (reply.status, reply.text) == ("refused", "I won't")


@in_loop
async def test_streamed_completions_and_thoughts(transport: TransportName) -> None:
    wire = sse(
        {"choices": [{"text": "<thi"}]},
        {"choices": [{"text": "nk>2+2</think>"}]},
        {"choices": [{"text": "4", "finish_reason": "stop"}]},
    )
    async with serving(stream_of(wire)) as server, endpoint_at(server.url, transport) as endpoint:
        reply = await endpoint.send(completion(stream=True))
        assert server.calls[0].path == "/v1/completions"
    assert (reply.status, reply.text, reply.reasoning) == ("answered", "4", "2+2")


@in_loop
async def test_stream_that_stalls_times_out(transport: TransportName) -> None:
    async def stall(call: Call) -> None:
        await call.events(sse(delta("gr"), done=False), end=False)
        await asyncio.sleep(30)

    async with (
        serving(stall) as server,
        endpoint_at(server.url, transport, request_timeout_s=0.1, max_retries=0) as endpoint,
    ):
        reply = await endpoint.send(chat(stream=True))
        assert endpoint.in_flight == 0
    assert reply.failure is not None
    assert reply.failure.kind == "timeout"
