"""Triton's generate extension, spoken by a small server of this test's own."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from loopback_server import Call, completion, endpoint_at, in_loop, serving


def piece(text: str, **more: Any) -> bytes:
    return (
        b"data: "
        + orjson.dumps({"model_name": "m", "model_version": "1", "text_output": text, **more})
        + b"\n\n"
    )


def answering(*events: bytes, end: bool = True, pause_s: float = 0.0) -> Any:
    async def answer(call: Call) -> None:
        await call.events(*events, end=end, pause_s=pause_s)
        if not end:
            call.close()

    return answer


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("{}", "/v2/models/my%20llm/generate"),
        ("{}/v1", "/v2/models/my%20llm/generate"),
        ("{}/v2", "/v2/models/my%20llm/generate"),
        ("{}/proxy", "/proxy/v2/models/my%20llm/generate"),
        ("{}/v2/models/my%20llm/generate_stream", "/v2/models/my%20llm/generate"),
        ("{}/v2/models/my llm/versions/3", "/v2/models/my%20llm/versions/3/generate"),
    ],
)
@in_loop
async def test_model_is_part_of_the_url(url: str, path: str) -> None:
    async def answer(call: Call) -> None:
        await call.json({"model_name": "m", "model_version": "1", "text_output": " 4"})

    async with (
        serving(answer) as server,
        endpoint_at(url.format(server.url), api="triton", model_id="my llm") as endpoint,
    ):
        reply = await endpoint.send(
            completion("2+2=", max_tokens=8, temperature=0, top_p=1, seed=3, stop=["\n"], top_k=2)
        )
        (call,) = server.calls
    assert call.path == path
    body = call.body
    assert isinstance(body.pop("id"), str)
    assert body == {
        "text_input": "2+2=",
        "parameters": {"max_new_tokens": 8, "do_sample": False, "seed": 3, "stop": "\n", "top_k": 2},
    }
    assert (reply.status, reply.text, reply.usage) == ("answered", " 4", None)


@in_loop
async def test_pieces_of_a_stream_are_appended() -> None:
    events = (piece(""), piece("gr"), piece("üße"), piece(" 🎉"))
    async with (
        serving(answering(*events, pause_s=0.03)) as server,
        endpoint_at(server.url, api="triton") as endpoint,
    ):
        reply = await endpoint.send(completion("hi", stream=True))
        assert server.calls[0].path == "/v2/models/m/generate_stream"
    assert (reply.status, reply.text) == ("answered", "grüße 🎉")
    assert reply.ttft_s is not None
    assert 0.02 < reply.ttft_s < reply.latency_s - 0.03


@in_loop
async def test_cut_off_stream_is_broken_unless_the_finish_reason_was_there() -> None:
    last = piece("b", details={"finish_reason": "eos_token", "generated_tokens": 2})
    for events, text, kind in (((piece("a"),), "", "broken_stream"), ((piece("a"), last), "ab", None)):
        async with (
            serving(answering(*events, end=False, pause_s=0.02)) as server,
            endpoint_at(server.url, api="triton", max_retries=0) as endpoint,
        ):
            reply = await endpoint.send(completion(stream=True))
        assert reply.text == text
        assert (reply.failure.kind if reply.failure else None) == kind


@in_loop
async def test_prompt_sent_back_in_front_of_the_answer_is_cut_off() -> None:
    async def answer(call: Call) -> None:
        if call.path.endswith("_stream"):
            await call.events(piece("The capital of France is"), piece(" Paris"))
        else:
            await call.json({"text_output": "The capital of France is Paris"})

    async with serving(answer) as server, endpoint_at(server.url, api="triton") as endpoint:
        for stream in (False, True):
            reply = await endpoint.send(completion("The capital of France is", stream=stream))
            assert reply.text == " Paris"


@in_loop
async def test_back_end_with_plain_names_is_asked_with_them_from_then_on() -> None:
    async def vllm(call: Call) -> None:
        await asyncio.sleep(0.01)
        parameters = call.body["parameters"]
        odd = next((name for name in parameters if name in ("max_new_tokens", "do_sample")), None)
        if odd:
            await call.json({"error": f"__init__() got an unexpected keyword argument '{odd}'"}, 500)
        elif parameters.get("stream"):
            await call.events(piece("4"))
        else:
            await call.json({"text_output": "4"})

    async with serving(vllm) as server, endpoint_at(server.url, api="triton") as endpoint:
        first = await endpoint.send(completion(max_tokens=8, temperature=0.0, top_p=1.0))
        second = await endpoint.send(completion(max_tokens=8, temperature=0.0, stream=True))
        assert len(server.calls) == 3
        assert server.calls[1].body["parameters"] == {"max_tokens": 8, "temperature": 0.0, "top_p": 1.0}
        assert server.calls[2].body["parameters"] == {"max_tokens": 8, "temperature": 0.0, "stream": True}
    assert (first.text, first.attempts, second.text, second.attempts) == ("4", 2, "4", 1)
    async with serving(vllm) as server, endpoint_at(server.url, api="triton", max_retries=0) as endpoint:
        replies = await asyncio.gather(*(endpoint.send(completion(max_tokens=8)) for _ in range(4)))
    assert [(reply.text, reply.attempts) for reply in replies] == [("4", 2)] * 4


@in_loop
async def test_errors_keep_the_servers_words() -> None:
    async def refuse(call: Call) -> None:
        await call.json({"error": "Request for unknown model: 'm' is not found"}, 400)

    midway = answering(piece("a"), b'data: {"error": "CUDA out of memory"}\n\n')
    for handler, words, kind in (
        (refuse, "unknown model: 'm'", "rejected"),
        (midway, "CUDA out of memory", "server_error"),
    ):
        async with (
            serving(handler) as server,
            endpoint_at(server.url, api="triton", max_retries=0) as endpoint,
        ):
            reply = await endpoint.send(completion(stream=True))
        assert reply.failure is not None
        assert (reply.failure.kind, words in reply.failure.message) == (kind, True)


MISSING = (
    "expected 4 inputs but got 1 inputs for model 'ensemble'. Got input(s) ['text_input'], but missing required "
    "input(s) ['max_tokens','bad_words','stop_words']. Please provide all required input(s)."
)


@pytest.mark.parametrize(
    "words", [MISSING, "the model requires max_tokens", "'max_tokens' is a required input"]
)
@in_loop
async def test_inputs_that_the_model_requires_are_sent_as_inputs(words: str) -> None:
    async def answer(call: Call) -> None:
        if "max_tokens" not in call.body:
            await call.json({"error": words}, 400)
        else:
            await call.json({"model_name": "m", "model_version": "1", "text_output": "4"})

    async with serving(answer) as server, endpoint_at(server.url, api="triton", model_id="m") as endpoint:
        first = await endpoint.send(completion("2+2=", max_tokens=8, temperature=0.0))
        second = await endpoint.send(completion("3+1=", max_tokens=8, temperature=0.0))
        bodies = [call.body for call in server.calls]
    assert (first.text, first.attempts, second.text, second.attempts) == ("4", 2, "4", 1)
    assert bodies[-1]["max_tokens"] == 8
    assert ("bad_words" in bodies[-1]) == ("bad_words" in words)


@in_loop
async def test_what_nobody_can_give_is_not_asked_for_ever() -> None:
    async def answer(call: Call) -> None:
        await call.json({"error": "missing required input(s) ['image']"}, 400)

    async with serving(answer) as server, endpoint_at(server.url, api="triton", model_id="m") as endpoint:
        reply = await endpoint.send(completion("2+2="))
        assert len(server.calls) == 1
    assert reply.failure is not None
    assert "image" in reply.failure.message
