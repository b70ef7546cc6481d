"""The scripted endpoint: what users test their benchmarks with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from loopback_server import chat, chat_json, completion, in_loop

from benchwright import ScriptedEndpoint
from benchwright.core import JsonObject, ModelReply, ModelRequest, RequestFailure


@in_loop
async def test_list_is_answered_in_order_and_then_used_up() -> None:
    endpoint = ScriptedEndpoint(
        ["a", ModelReply("refused", "no"), chat_json("<think>x</think>b"), {"error": "e"}]
    )
    replies = [await endpoint.send(chat(str(i))) for i in range(5)]
    assert [r.status for r in replies] == ["answered", "refused", "answered", "failed", "failed"]
    assert (replies[2].text, replies[2].reasoning) == ("b", "x")
    assert replies[4].failure is not None
    assert "script is used up: it had 4 answers" in replies[4].failure.message
    assert [r.body["messages"][0]["content"] for r in endpoint.requests] == list("01234")  # type: ignore[index, call-overload]
    assert (endpoint.requests_sent, endpoint.in_flight, endpoint.retries, endpoint.limit) == (5, 0, 0, 1)
    await endpoint.aclose()


@in_loop
async def test_text_generator_function_and_coroutine() -> None:
    def count() -> Iterator[str]:
        for i in range(3):
            yield f"#{i}"

    def shout(request: ModelRequest) -> str:
        return str(request.body["prompt"]).upper()

    async def later(request: ModelRequest) -> str:
        await asyncio.sleep(0)
        return "later"

    assert [(await e.send(completion("x"))).text for e in [ScriptedEndpoint("same")] * 2] == ["same", "same"]
    endpoint = ScriptedEndpoint(count())
    assert [(await endpoint.send(chat())).text for _ in range(3)] == ["#0", "#1", "#2"]
    assert (await ScriptedEndpoint(shout).send(completion("abc"))).text == "ABC"
    assert (await ScriptedEndpoint(later).send(chat())).text == "later"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("slow"), "timeout"),
        (ConnectionResetError("gone"), "connection"),
        (RuntimeError("odd"), "server_error"),
        (RequestFailure("rate_limited", "busy", 429), "rate_limited"),
    ],
)
@in_loop
async def test_exceptions_become_failures(error: Exception | RequestFailure, kind: str) -> None:
    def raise_it(request: ModelRequest) -> str:
        assert isinstance(error, Exception)
        raise error

    scripts = [[error]] if isinstance(error, RequestFailure) else [[error], raise_it]
    for script in scripts:
        reply = await ScriptedEndpoint(script).send(chat())  # type: ignore[arg-type]
        assert reply.failure is not None
        assert (reply.status, reply.failure.kind) == ("failed", kind)


@in_loop
async def test_latency_is_simulated_and_requests_overlap() -> None:
    endpoint = ScriptedEndpoint("x", latency_s=0.02)
    replies = await asyncio.gather(*(endpoint.send(chat()) for _ in range(5)))
    assert endpoint.most_in_flight == 5
    assert all(0.015 < reply.latency_s < 60 for reply in replies)


@in_loop
async def test_first_rejection_is_remembered_and_cancellation_passes() -> None:
    endpoint = ScriptedEndpoint(
        [RequestFailure("rejected", "one", 400), RequestFailure("rejected", "two", 400)]
    )
    await endpoint.send(chat())
    await endpoint.send(chat())
    assert endpoint.first_failure is not None
    assert endpoint.first_failure.message == "one"
    slow = ScriptedEndpoint("x", latency_s=30)
    task = asyncio.create_task(slow.send(chat()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert slow.in_flight == 0


@pytest.mark.parametrize(
    "script",
    [
        "4",
        {"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]},
        ModelReply("answered", text="4"),
    ],
    ids=["text", "JSON", "reply"],
)
@in_loop
async def test_a_single_answer_is_given_to_every_request(script: str | JsonObject | ModelReply) -> None:
    endpoint = ScriptedEndpoint(script)
    assert [(await endpoint.send(chat())).text for _ in range(3)] == ["4"] * 3


@in_loop
async def test_a_single_failure_is_given_to_every_request() -> None:
    for script in (TimeoutError("slow"), RequestFailure("timeout", "slow")):
        endpoint = ScriptedEndpoint(script)
        for _ in range(2):
            reply = await endpoint.send(chat())
            assert reply.failure is not None
            assert reply.failure.kind == "timeout"
