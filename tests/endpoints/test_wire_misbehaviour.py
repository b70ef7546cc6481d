"""The same trouble in every wire format comes out under the same name."""

from __future__ import annotations

from typing import Any

import pytest
from loopback_server import (
    Call,
    TransportName,
    chat,
    endpoint_at,
    in_loop,
    one_after_another,
    serving,
    sse,
)
from wire_table import WIRES

from benchwright.core import WIRE_FORMATS, encode_json

BY_API = {wire.api: wire for wire in reversed(WIRES)}  # the first of a format that has several routes

pytestmark = [
    pytest.mark.parametrize("api", WIRE_FORMATS),
    pytest.mark.parametrize("transport", ["lean", "reqwest"]),
]


async def reply_to(handler: Any, api: str, transport: TransportName, *, stream: bool, **settings: Any) -> Any:
    async with (
        serving(handler) as server,
        endpoint_at(server.url, transport, api=api, **settings) as endpoint,
    ):
        reply = await endpoint.send(chat(stream=stream))
        assert endpoint.in_flight == 0
    return reply


@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_null_content_is_empty(api: str, transport: TransportName, stream: bool) -> None:
    async def answer(call: Call) -> None:
        await call.json(BY_API[api].whole(None))

    reply = await reply_to(answer, api, transport, stream=stream)
    assert (reply.status, reply.text, reply.failure) == ("empty", "", None)


@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_whole_reply_is_read_even_where_a_stream_was_asked_for(
    api: str, transport: TransportName, stream: bool
) -> None:
    async def answer(call: Call) -> None:
        await call.json(BY_API[api].whole("four"))

    reply = await reply_to(answer, api, transport, stream=stream)
    assert (reply.status, reply.text, reply.ttft_s) == ("answered", "four", None)


@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_web_page_is_a_bad_reply(api: str, transport: TransportName, stream: bool) -> None:
    async def page(call: Call) -> None:
        await call.answer(b"<!doctype html><html><head><title>Sign in</title></head></html>")

    reply = await reply_to(page, api, transport, stream=stream)
    assert (reply.failure.kind, reply.attempts) == ("bad_reply", 2)
    assert 'an HTML page titled "Sign in"' in reply.failure.message


@in_loop
async def test_words_of_a_server_and_the_cure_are_two_sentences(api: str, transport: TransportName) -> None:
    async def unknown(call: Call) -> None:
        await call.error(404, "There is no model m.")

    reply = await reply_to(unknown, api, transport, stream=False)
    assert "There is no model m. Check --model-url and --model-id" in reply.failure.message


@in_loop
async def test_text_that_is_no_json_names_what_to_check(api: str, transport: TransportName) -> None:
    async def greet(call: Call) -> None:
        await call.answer(b"hello")

    reply = await reply_to(greet, api, transport, stream=False)
    assert "not JSON: hello. Check --model-url, and which API is there (--api)" in reply.failure.message


@pytest.mark.parametrize("body", [{"detail": "hello"}, [], "text"])
@in_loop
async def test_other_json_is_a_bad_reply(api: str, transport: TransportName, body: Any) -> None:
    async def answer(call: Call) -> None:
        await call.json(body)

    reply = await reply_to(answer, api, transport, stream=False)
    assert (reply.failure.kind, reply.attempts) == ("bad_reply", 2)
    if isinstance(body, dict):
        assert next(iter(body.values())) in reply.failure.message or "detail" in reply.failure.message


@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_no_room_is_waited_for(api: str, transport: TransportName, stream: bool) -> None:
    async def busy(call: Call) -> None:
        await call.error(429, "slow down", Retry_After="0.05")

    async def answer(call: Call) -> None:
        await call.json(BY_API[api].whole("four"))

    reply = await reply_to(one_after_another(busy, answer), api, transport, stream=stream)
    assert (reply.text, reply.attempts) == ("four", 2)
    reply = await reply_to(busy, api, transport, stream=stream, max_retries=1)
    assert (reply.failure.kind, reply.failure.http_status) == ("rate_limited", 429)
    assert "slow down" in reply.failure.message


@in_loop
async def test_cut_stream_is_broken(api: str, transport: TransportName) -> None:
    async def cut_off(call: Call) -> None:
        await call.events(sse(BY_API[api].piece("fo"), done=False), end=False, pause_s=0.02)
        call.close()

    reply = await reply_to(cut_off, api, transport, stream=True, max_retries=1)
    assert (reply.failure.kind, reply.text, reply.attempts) == ("broken_stream", "", 2)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("halves", "text"),
    [((b"\\ud83d", b"\\uDE00"), "😀"), ((b"a\\ud83d", b"b"), "a\ufffdb"), ((b"\\udE00", b""), "\ufffd")],
)
@in_loop
async def test_halves_of_a_character_are_joined_or_replaced(
    api: str, transport: TransportName, stream: bool, halves: tuple[bytes, bytes], text: str
) -> None:
    """A server whose texts are UTF-16 may cut a character between two events."""
    wire = BY_API[api]
    first, second = halves

    async def answer(call: Call) -> None:
        if not stream:
            await call.answer(encode_json(wire.whole("<1>")).replace(b"<1>", first + second))
            return
        pieces = [] if api == "mindie" else ["<1>", "<2>"]  # its last event has the whole answer
        events = sse(*map(wire.piece, pieces), wire.end).replace(b'"fo"', b'"<1><2>"')
        await call.events(events.replace(b"<1>", first).replace(b"<2>", second))

    reply = await reply_to(answer, api, transport, stream=stream, max_retries=0)
    assert (reply.failure, reply.text) == (None, text)


@in_loop
async def test_event_that_is_not_json_is_a_bad_reply(api: str, transport: TransportName) -> None:
    async def garble(call: Call) -> None:
        await call.events(sse(BY_API[api].piece("fo"), done=False), b"data: {oops\n\n")

    reply = await reply_to(garble, api, transport, stream=True, max_retries=0)
    assert (reply.failure.kind, reply.text) == ("bad_reply", "")
    assert "not JSON" in reply.failure.message


@pytest.mark.parametrize("line_break", [b"", b"\n"], ids=["endless line", "many lines"])
@in_loop
async def test_event_beyond_the_limit_is_a_bad_reply(
    api: str, transport: TransportName, line_break: bytes
) -> None:
    async def flood(call: Call) -> None:
        await call.events(*[b"data: " + b"x" * 90 + line_break] * 20, end=False)
        call.close()

    reply = await reply_to(flood, api, transport, stream=True, max_retries=0, max_event_bytes=1000)
    assert reply.failure.kind == "bad_reply"
    assert "larger than 1000 bytes" in reply.failure.message
    assert "--max-event-bytes" in reply.failure.message


@in_loop
async def test_secret_sent_back_is_not_kept(
    api: str, transport: TransportName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIRE_KEY", "sk-very-secret-key")

    async def tell(call: Call) -> None:
        assert call.headers["authorization"] == "Bearer sk-very-secret-key"
        await call.json({"error": "your key sk-very-secret-key is wrong"}, 401)

    reply = await reply_to(tell, api, transport, stream=False, api_key_name="WIRE_KEY")
    assert "your key [redacted] is wrong" in reply.failure.message
    assert "WIRE_KEY" in reply.failure.message
