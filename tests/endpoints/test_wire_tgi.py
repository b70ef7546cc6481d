"""Text Generation Inference, as its documentation describes it, spoken by a small server of this test's own."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from loopback_server import Call, TransportName, chat, completion, endpoint_at, in_loop, serving

DETAILS = {
    "finish_reason": "eos_token",
    "generated_tokens": 3,
    "seed": None,
    "prefill": [],
    "tokens": [{"id": 1, "text": "4", "logprob": -0.1, "special": False}],
}


def token(text: str, *, special: bool = False, whole: str | None = None, **details: Any) -> bytes:
    event = {
        "index": 1,
        "token": {"id": 7, "text": text, "logprob": -0.2, "special": special},
        "generated_text": whole,
        "details": details or None,
    }
    return b"data:" + orjson.dumps(event) + b"\n\n"


STREAM = [
    token("gr"),
    token("üße"),
    token(" 🎉"),
    token(
        "</s>",
        special=True,
        whole="grüße 🎉",
        finish_reason="stop_sequence",
        generated_tokens=4,
        input_length=9,
    ),
]


@in_loop
async def test_whole_reply_with_counts_from_the_headers() -> None:
    async def answer(call: Call) -> None:
        await call.json(
            {"generated_text": "4", "details": DETAILS}, x_prompt_tokens="11", x_generated_tokens="3"
        )

    async with serving(answer) as server, endpoint_at(server.url, api="tgi") as endpoint:
        reply = await endpoint.send(
            completion("2+2=", max_tokens=16, temperature=0.0, top_p=1.0, stop="\n", seed=7, top_k=5)
        )
        (call,) = server.calls
    assert call.path == "/generate"
    assert call.body == {
        "inputs": "2+2=",
        "parameters": {
            "details": True, "max_new_tokens": 16, "do_sample": False, "stop": ["\n"], "seed": 7, "top_k": 5,
        },
    }  # fmt: skip
    assert (reply.status, reply.text, reply.finish_reason, reply.attempts) == ("answered", "4", "stop", 1)
    assert reply.usage is not None
    assert (reply.usage.prompt, reply.usage.completion) == (11, 3)


@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_the_stop_text_is_taken_off(stream: bool) -> None:
    async def answer(call: Call) -> None:
        details = {"finish_reason": "stop_sequence", "generated_tokens": 2, "seed": None}
        if stream:
            await call.events(token("4"), token("\n", whole="4\n", **details))
        else:
            await call.json({"generated_text": "4\n", "details": details})

    async with serving(answer) as server, endpoint_at(server.url, api="tgi") as endpoint:
        reply = await endpoint.send(completion("2+2=", stop=["Q:", "\n"], stream=stream))
        other = await endpoint.send(completion("2+2=", stop=["Q:"], stream=stream))
    assert (reply.text, reply.finish_reason) == ("4", "stop")
    assert other.text == "4\n"


@in_loop
async def test_sampling_says_so_and_a_list_of_one_is_read() -> None:
    async def answer(call: Call) -> None:
        await call.json([{"generated_text": " 4"}])

    async with serving(answer) as server, endpoint_at(server.url, api="tgi") as endpoint:
        reply = await endpoint.send(chat("2+2?", temperature=0.7, top_p=0.9, stop=["a", "b"]))
        parameters = server.calls[0].body["parameters"]
    assert parameters == {
        "details": True, "do_sample": True, "temperature": 0.7, "top_p": 0.9, "stop": ["a", "b"],
    }  # fmt: skip
    assert (reply.status, reply.text, reply.usage, reply.finish_reason) == ("answered", " 4", None, None)


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@in_loop
async def test_stream_ends_with_the_whole_text(transport: TransportName) -> None:
    async def answer(call: Call) -> None:
        await call.events(*STREAM, pause_s=0.02)

    async with serving(answer) as server, endpoint_at(server.url, transport, api="tgi") as endpoint:
        reply = await endpoint.send(completion("hi", stream=True, max_tokens=5))
        (call,) = server.calls
    assert call.path == "/generate_stream"
    assert call.body == {"inputs": "hi", "parameters": {"details": True, "max_new_tokens": 5}}
    assert (reply.status, reply.text, reply.finish_reason) == ("answered", "grüße 🎉", "stop")
    assert reply.usage is not None
    assert (reply.usage.prompt, reply.usage.completion) == (9, 4)
    assert reply.ttft_s is not None
    assert 0 < reply.ttft_s <= reply.latency_s  # test_call_times.py knows both to the tick


@in_loop
async def test_special_tokens_do_not_start_the_clock() -> None:
    async def answer(call: Call) -> None:
        await call.events(token("<s>", special=True), *STREAM, pause_s=0.04)

    async with serving(answer) as server, endpoint_at(server.url, api="tgi") as endpoint:
        reply = await endpoint.send(completion("hi", stream=True))
    assert reply.ttft_s is not None
    assert reply.ttft_s > 0.03


@in_loop
async def test_running_out_of_tokens_is_a_length() -> None:
    async def answer(call: Call) -> None:
        await call.json({"generated_text": "", "details": {"finish_reason": "length"}})

    async with serving(answer) as server, endpoint_at(server.url, api="tgi") as endpoint:
        reply = await endpoint.send(completion())
    assert (reply.status, reply.finish_reason) == ("truncated", "length")


@pytest.mark.parametrize(
    ("status", "error_type", "kind", "attempts"),
    [
        (422, "validation", "prompt_too_long", 1),
        (424, "generation", "server_error", 2),
        (429, "overloaded", "rate_limited", 2),
    ],
)
@in_loop
async def test_errors_keep_the_servers_words(status: int, error_type: str, kind: str, attempts: int) -> None:
    words = "`inputs` must have less than 1024 tokens. Given: 3000"
    error = {"error": words, "error_type": error_type}

    async def refuse(call: Call) -> None:
        await call.json(error, status)

    async def refuse_midway(call: Call) -> None:
        await call.events(token("gr"), b"data:" + orjson.dumps(error) + b"\n\n")

    for handler, stream in ((refuse, False), (refuse, True), (refuse_midway, True)):
        async with (
            serving(handler) as server,
            endpoint_at(server.url, api="tgi", max_retries=1) as endpoint,
        ):
            reply = await endpoint.send(completion(stream=stream))
        assert reply.failure is not None
        assert words in reply.failure.message
        assert (reply.failure.kind, reply.attempts) == (kind, attempts)


@in_loop
async def test_what_the_format_has_no_words_for_is_not_sent() -> None:
    async def answer(call: Call) -> None:
        raise AssertionError("nothing may arrive")

    talk = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://h/x.png"}}]}]
    async with serving(answer) as server, endpoint_at(server.url, api="tgi") as endpoint:
        for request, words in (
            (chat(messages=talk), "conversation"),
            (chat(messages=image), "images"),
            (chat(tools=[{"type": "function"}]), "'tools'"),
            (completion(echo=True), "'echo'"),
            (completion(stream=True, logprobs=1), "'logprobs'"),
        ):
            reply = await endpoint.send(request)
            assert reply.failure is not None
            assert (reply.failure.kind, reply.attempts) == ("rejected", 1)
            assert words in reply.failure.message
            assert "--api openai" in reply.failure.message
    assert server.calls == []


@in_loop
async def test_system_text_stands_before_the_question_and_thoughts_are_split_off() -> None:
    async def answer(call: Call) -> None:
        await call.json({"generated_text": "<think>two and two</think>\n4"})

    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    async with serving(answer) as server, endpoint_at(server.url, api="tgi") as endpoint:
        reply = await endpoint.send(chat(messages=messages))
        assert server.calls[0].body["inputs"] == "Be brief.\n2+2?"
    assert (reply.text, reply.reasoning) == ("4", "two and two")


@in_loop
async def test_wrong_server_is_told_with_the_wire_format() -> None:
    async def unknown(call: Call) -> None:
        await call.json({"detail": "Not Found"}, 404)

    async with serving(unknown) as server, endpoint_at(server.url, api="tgi") as endpoint:
        reply = await endpoint.send(completion())
    assert reply.failure is not None
    assert "/generate: Not Found" in reply.failure.message
    assert "the server speaks tgi (--api)" in reply.failure.message
