"""MindIE's own `/infer` route, spoken by a small server of this test's own."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from loopback_server import Call, completion, endpoint_at, in_loop, serving


def event(**fields: Any) -> bytes:
    return b"data: " + orjson.dumps(fields) + b"\n\n"


def answering(*events: bytes, end: bool = True, **more: Any) -> Any:
    async def answer(call: Call) -> None:
        await call.events(*events, end=end, **more)
        if not end:
            call.close()

    return answer


TOKENS = (
    event(prefill_time=45.54, decode_time=None, token={"id": 626, "text": "am"}),
    event(prefill_time=None, decode_time=12.3, token={"id": 263, "text": " a"}),
)
LAST = event(
    prefill_time=None, decode_time=12.8, generated_text="am a speaker", token={"id": [1], "text": None}
)
DETAILED = event(generated_text="am a speaker", details={"finish_reason": "length", "generated_tokens": 3})


@in_loop
async def test_whole_reply() -> None:
    async def answer(call: Call) -> None:
        details = {"finish_reason": "eos_token", "generated_tokens": 20, "seed": 846930886}
        await call.json({"generated_text": "am a French native speaker.", "details": details})

    async with serving(answer) as server, endpoint_at(f"{server.url}/infer", api="mindie") as endpoint:
        reply = await endpoint.send(
            completion("My name is Olivier and I", max_tokens=20, temperature=0.5, top_p=0.95)
        )
        (call,) = server.calls
    assert call.path == "/infer"
    assert call.body == {
        "inputs": "My name is Olivier and I",
        "stream": False,
        "parameters": {
            "details": True, "max_new_tokens": 20, "do_sample": True, "temperature": 0.5, "top_p": 0.95,
        },
    }  # fmt: skip
    assert (reply.status, reply.text, reply.finish_reason) == (
        "answered",
        "am a French native speaker.",
        "stop",
    )
    assert reply.usage is None, "prompt tokens are not told, and half a count would put a zero into the sums"


@pytest.mark.parametrize(
    ("events", "finish"),
    [
        ((*TOKENS, LAST), None),
        ((*TOKENS, DETAILED), "length"),
        (
            (event(generated_text=""), event(generated_text="am"), event(generated_text="am a speaker")),
            None,
        ),
        ((event(generated_text="am a spe\ufffd\ufffd"), event(generated_text="am a speaker")), None),
    ],
    ids=["tokens then all", "with details", "cumulative", "half a character"],
)
@in_loop
async def test_streams_of_both_kinds(events: tuple[bytes, ...], finish: str | None) -> None:
    async with (
        serving(answering(*events, pause_s=0.01)) as server,
        endpoint_at(server.url, api="mindie") as endpoint,
    ):
        reply = await endpoint.send(completion(stream=True, max_tokens=9))
        assert server.calls[0].body["stream"] is True
    assert (reply.status, reply.text, reply.finish_reason) == ("answered", "am a speaker", finish)
    assert reply.ttft_s is not None
    assert 0 < reply.ttft_s <= reply.latency_s


@in_loop
async def test_first_content_not_first_event_starts_the_clock() -> None:
    events = (event(generated_text=""), event(generated_text="am"), event(generated_text="am a speaker"))
    async with (
        serving(answering(*events, pause_s=0.04)) as server,
        endpoint_at(server.url, api="mindie") as endpoint,
    ):
        reply = await endpoint.send(completion(stream=True))
    assert reply.ttft_s is not None
    assert reply.ttft_s > 0.03


@pytest.mark.parametrize(
    ("events", "end", "kind"),
    [
        (TOKENS, False, "broken_stream"),
        ((event(generated_text="am"),), False, "broken_stream"),
        ((event(generated_text="am a"), event(generated_text=" speaker")), True, "bad_reply"),
    ],
    ids=["tokens cut off", "cumulative cut off", "not cumulative"],
)
@in_loop
async def test_half_an_answer_is_no_answer(events: tuple[bytes, ...], end: bool, kind: str) -> None:
    async with (
        serving(answering(*events, end=end, pause_s=0.01)) as server,
        endpoint_at(server.url, api="mindie", max_retries=0) as endpoint,
    ):
        reply = await endpoint.send(completion(stream=True))
    assert reply.failure is not None
    assert (reply.failure.kind, reply.text) == (kind, "")


@in_loop
async def test_connection_lost_after_the_last_event_loses_nothing() -> None:
    async with (
        serving(answering(*TOKENS, LAST, end=False, pause_s=0.01)) as server,
        endpoint_at(server.url, api="mindie") as endpoint,
    ):
        reply = await endpoint.send(completion(stream=True))
    assert (reply.status, reply.text, reply.attempts) == ("answered", "am a speaker", 1)


@in_loop
async def test_errors_keep_the_servers_words() -> None:
    async def refuse(call: Call) -> None:
        await call.json({"error": "Inputs is empty", "error_type": "Input Validation Error"}, 422)

    midway = answering(TOKENS[0], event(error="Engine went down", error_type="Incomplete Generation"))
    for handler, words, kind in (
        (refuse, "Inputs is empty", "rejected"),
        (midway, "Engine went down", "server_error"),
    ):
        async with (
            serving(handler) as server,
            endpoint_at(server.url, api="mindie", max_retries=0) as endpoint,
        ):
            reply = await endpoint.send(completion(stream=True))
        assert reply.failure is not None
        assert (reply.failure.kind, words in reply.failure.message) == (kind, True)
