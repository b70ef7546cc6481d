"""What real servers were seen to send (llama.cpp, `transformers serve`), replayed by a server on loopback."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from fake_clock import FakeClock
from loopback_server import Call, TransportName, chat, completion, endpoint_at, in_loop, serving

from benchwright.endpoints import SEND_ONCE, EchoProfile, EchoRefusedError


def chunk(choice: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps({"object": "chunk", "choices": [{"index": 0, **choice}]}) + b"\n\n"


@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_transformers_serve_keeps_the_stop_text(stream: bool) -> None:
    async def answer(call: Call) -> None:
        if not stream:
            await call.json({"choices": [{"finish_reason": "stop", "index": 0, "text": " Paris.\n"}]})
            return  # its streams have no [DONE], and finish reasons only in the last event
        await call.events(
            chunk({"text": " Paris"}), chunk({"text": ".\n"}), chunk({"text": "", "finish_reason": "stop"})
        )

    async with serving(answer) as server, endpoint_at(server.url) as endpoint:
        reply = await endpoint.send(completion("The capital is", stop=["\n", "."], stream=stream))
        other = await endpoint.send(completion("The capital is", stop="!", stream=stream))
        kept = await endpoint.send(
            completion("The capital is", stop=["."], stream=stream, include_stop_str_in_output=True)
        )
    assert (reply.status, reply.text, reply.finish_reason) == ("answered", " Paris", "stop")
    assert other.text == kept.text == " Paris.\n"


@in_loop
async def test_a_reply_that_is_only_its_stop_text_is_empty() -> None:
    async def answer(call: Call) -> None:
        await call.says("###", finish_reason="length")

    async with serving(answer) as server, endpoint_at(server.url) as endpoint:
        reply = await endpoint.send(chat("2+2?", stop=["###"]))
    assert (reply.status, reply.text, reply.finish_reason) == ("empty", "", "stop")


def completed(tokens: int, text: str) -> dict[str, Any]:
    """A response as llama.cpp and `transformers serve` end it, whether it reached the limit or not."""
    content = [{"type": "output_text", "annotations": [], "text": text}]
    return {
        "object": "response",
        "status": "completed",
        "output": [{"type": "message", "status": "completed", "role": "assistant", "content": content}],
        "usage": {"input_tokens": 32, "output_tokens": tokens, "total_tokens": 32 + tokens},
    }


@pytest.mark.parametrize(
    ("tokens", "text", "expected"),
    [
        (8, "I'm glad you're here! I", ("answered", "length")),
        (7, "I'm glad you're here!", ("answered", "stop")),
        (8, "", ("truncated", "length")),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_a_completed_response_that_used_all_its_tokens_reached_the_limit(
    stream: bool, tokens: int, text: str, expected: tuple[str, str]
) -> None:
    async def answer(call: Call) -> None:
        whole = completed(tokens, text)
        if stream:
            event = {"type": "response.completed", "response": whole}
            await call.events(b"data: " + orjson.dumps(event) + b"\n\n")
        else:
            await call.json(whole)

    async with serving(answer) as server, endpoint_at(server.url, api="responses") as endpoint:
        reply = await endpoint.send(chat("Say hi", max_tokens=8, stream=stream))
        unlimited = await endpoint.send(chat("Say hi", stream=stream))
    assert (reply.status, reply.finish_reason) == expected
    assert unlimited.finish_reason == "stop"


@in_loop
async def test_llama_cpp_lists_log_probabilities_as_chat_does_and_ignores_echo() -> None:
    listed = {
        "id": 7042,
        "token": " Paris",
        "bytes": [32],
        "logprob": -0.2589,
        "top_logprobs": [{"id": 7042, "token": " Paris", "logprob": -0.2589}],
    }

    async def answer(call: Call) -> None:
        choice = {
            "index": 0,
            "text": " Paris",
            "logprobs": {"content": [listed]},
            "finish_reason": "length",
        }
        await call.json({"object": "text_completion", "choices": [choice]})

    async with serving(answer) as server, endpoint_at(server.url) as endpoint:
        reply = await endpoint.send(completion("The capital is", logprobs=1, max_tokens=1))
        assert reply.echoed is not None
        assert reply.echoed.tokens == [" Paris"]
        assert reply.echoed.token_logprobs == [-0.2589]
        assert reply.echoed.top_logprobs == [{" Paris": -0.2589}]
        with pytest.raises(EchoRefusedError, match="ignores `echo`"):
            await EchoProfile.learned(endpoint, "m")


def closing_after(answered: set[int]) -> Any:
    """llama.cpp: it announces that it keeps connections, and closes each one at the end of its stream. Other servers do so
    after each reply."""

    async def answer(call: Call) -> None:
        if call.connection in answered:
            call.close()  # it was closing when this request arrived
        else:
            answered.add(call.connection)
            if not call.body.get("stream"):
                await call.says("4")
                return
            await call.events(chunk({"delta": {"content": "4"}, "finish_reason": "stop"}))

    return answer


@in_loop
async def test_a_load_test_repeats_only_what_llama_cpp_lost_in_closing_a_connection() -> None:
    async with serving(closing_after(set())) as server, endpoint_at(server.url, policy=SEND_ONCE) as endpoint:
        replies = [await endpoint.send(chat("2+2?", stream=True)) for _ in range(6)]
    assert [reply.status for reply in replies] == ["answered"] * 6
    assert [reply.attempts for reply in replies] == [1, 2, 2, 1, 1, 1]
    assert len(server.calls) == 8


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("at_once", [1, 6])
@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@in_loop
async def test_a_server_that_closes_after_each_reply_loses_no_row_without_retries(
    stream: bool, at_once: int, transport: TransportName
) -> None:
    async with (
        serving(closing_after(set())) as server,
        endpoint_at(server.url, transport, max_retries=0) as endpoint,
    ):
        for _ in range(5):
            sent = [endpoint.send(chat("2+2?", stream=stream)) for _ in range(at_once)]
            assert [reply.status for reply in await asyncio.gather(*sent)] == ["answered"] * at_once


@in_loop
async def test_a_request_that_a_new_connection_loses_too_is_not_sent_again_without_retries() -> None:
    async def answer(call: Call) -> None:
        if call.number == 1:
            await call.says("4")
        else:
            call.close()

    async with serving(answer) as server, endpoint_at(server.url, max_retries=0) as endpoint:
        assert (await endpoint.send(chat("2+2?"))).status == "answered"
        assert (await endpoint.send(chat("2+2?"))).status == "failed"
    assert len(server.calls) == 3


@in_loop
async def test_a_load_test_does_not_repeat_what_a_server_read_before_it_closed() -> None:
    clock = FakeClock()

    async def answer(call: Call) -> None:
        if call.number == 2:
            clock.time += 6.0  # it thought about the request, and failed
            call.close()
        else:
            await call.says("4")

    async with serving(answer) as server, endpoint_at(server.url, policy=SEND_ONCE, clock=clock) as endpoint:
        replies = [await endpoint.send(chat("2+2?")) for _ in range(2)]
    assert [(reply.status, reply.attempts) for reply in replies] == [("answered", 1), ("failed", 1)]


@in_loop
async def test_llama_cpp_python_cuts_a_stream_for_the_next_request_and_the_failure_names_the_cure() -> None:
    async def answer(call: Call) -> None:
        opening = chunk({"delta": {"role": "assistant"}, "logprobs": None, "finish_reason": None})
        words = chunk({"delta": {"content": "Once upon"}, "logprobs": None, "finish_reason": None})
        await call.events(opening, words, b"data: [DONE]\n\n")

    async with serving(answer) as server, endpoint_at(server.url, max_retries=0) as endpoint:
        reply = await endpoint.send(chat("Tell me a long story", stream=True))
    assert reply.failure is not None
    assert reply.failure.kind == "broken_stream"
    assert "--interrupt_requests false" in reply.failure.message
