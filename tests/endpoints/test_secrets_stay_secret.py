"""The key's value is in the request's header and nowhere else."""

from __future__ import annotations

import html
import re
from typing import Any

import orjson
import pytest
from loopback_server import (
    Call,
    TransportName,
    chat,
    chat_json,
    completion,
    delta,
    endpoint_at,
    in_loop,
    serving,
    sse,
)

from benchwright.core import ConfigError, ModelReply, encode_json, known_secrets
from benchwright.endpoints import EndpointSettings, open_endpoint

KEY = "sk-Very/Secret+0123456789="


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MY_KEY", KEY + "\n")
    return KEY


def in_escapes(value: Any) -> bytes:
    """JSON whose texts are spelled with escapes throughout."""

    def text(found: re.Match[str]) -> str:
        return '"' + "".join(f"\\u{ord(c):04x}" for c in orjson.loads(found.group())) + '"'

    return re.sub(r'"(?:[^"\\]|\\.)*"', text, orjson.dumps(value).decode()).encode()


def echoing(kind: str) -> Any:
    async def handle(call: Call) -> None:
        said = call.headers["authorization"]
        assert said == f"Bearer {KEY}"
        if kind == "chat":
            calls = [{"function": {"name": "f", "arguments": said}}]
            await call.json(chat_json(said, reasoning_content=said, tool_calls=calls))
        elif kind == "escaped":
            await call.answer(orjson.dumps(chat_json(said)).replace(b"/", b"\\/"))
        elif kind == "completion":
            logprobs = {
                "tokens": [said],
                "token_logprobs": [-1.0],
                "top_logprobs": [{said: -1.0}],
                "text_offset": [0],
            }
            await call.json({"choices": [{"text": said, "logprobs": logprobs, "finish_reason": said}]})
        elif kind == "error":
            await call.error(401, f"Incorrect API key provided: {KEY}. Find yours at …")
        elif kind == "error text":
            await call.answer(f"bad key {KEY}".encode(), 403)
        elif kind == "error html":
            await call.answer(f"<html><title>no {KEY}</title></html>".encode(), 500)
        elif kind == "error in 200":
            await call.json({"error": {"message": f"bad {KEY}"}})
        elif kind == "html in 200":
            await call.answer(f"<html><title>no {KEY}</title></html>".encode())
        elif kind == "redirect":
            await call.answer(b"", 302, Location=f"http://x/?k={KEY}")
        elif kind == "all escaped":
            calls = [{"function": {"name": "f", "arguments": orjson.dumps({"k": KEY}).decode()}}]
            await call.answer(in_escapes(chat_json(said, said, reasoning_content=said, tool_calls=calls)))
        elif kind == "some slashes escaped":
            await call.answer(orjson.dumps(chat_json(f"{KEY} {KEY}")).replace(b"/", b"\\/", 1))
        elif kind == "arguments with escaped slash":
            escaped = orjson.dumps({"k": KEY}).decode().replace("/", "\\/")
            calls = [{"function": {"name": "f", "arguments": escaped}}]
            await call.json(chat_json("", tool_calls=calls))
        elif kind == "all escaped completion":
            await call.answer(in_escapes({"choices": [{"text": said, "finish_reason": said}]}))
        elif kind == "all escaped error in 200":
            await call.answer(in_escapes({"error": {"message": "x" * 275 + said}}))
        elif kind == "all escaped error":
            await call.answer(in_escapes({"error": {"message": "x" * 275 + said}}), 400)
        elif kind == "broken escaped json":
            await call.answer(in_escapes({"error": said})[:-1], 400)
        elif kind == "html entities":
            await call.answer(f"<html><title>{html.escape(KEY)}</title></html>".encode(), 500)
        elif kind == "odd keys":
            await call.json({KEY: 1})
        elif kind == "stream":
            await call.events(sse(delta(said[:15]), delta(said[15:]), delta(None, "stop")))
        elif kind == "stream error":
            await call.events(sse({"error": {"message": KEY, "code": 400}}, done=False))
        else:
            await call.raw(b"HTTP/1.1 " + KEY.encode() + b"\r\n\r\n")

    return handle


def stored(reply: ModelReply) -> str:
    """A reply as it would be recorded: as it came, but for secrets."""
    return known_secrets().clean_json(encode_json(reply.to_json())).decode()


KINDS = [
    "chat", "escaped", "completion", "error", "error text", "error html", "error in 200", "html in 200", "redirect",
    "odd keys", "stream", "stream error", "not http", "all escaped", "some slashes escaped",
    "arguments with escaped slash", "all escaped completion", "all escaped error in 200", "all escaped error",
    "broken escaped json", "html entities",
]  # fmt: skip


@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize("kind", KINDS)
@in_loop
async def test_key_is_in_no_record_even_when_the_server_sends_it_back(
    key: str, kind: str, transport: TransportName
) -> None:
    request = completion() if "completion" in kind else chat(stream=kind.startswith("stream"))
    async with (
        serving(echoing(kind)) as server,
        endpoint_at(server.url + "/v1", transport, api_key_name="MY_KEY", max_retries=1) as endpoint,
    ):
        reply = await endpoint.send(request)
        assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    shown = repr(reply.failure) + repr(endpoint.first_failure) + stored(reply)
    assert KEY not in shown
    assert "Very/Secret" not in shown
    assert "Very\\/Secret" not in shown.replace("\\\\", "\\")
    assert "sk-Very" not in shown
    assert "u0056" not in shown, "nor spelled with escapes"
    if kind != "not http":
        assert "[redacted]" in shown


@in_loop
async def test_secret_headers_are_hidden_too() -> None:
    async def tell(call: Call) -> None:
        h = call.headers
        await call.error(400, f"{call.path} {h['x-api-key']} {h['authorization']} {h['x-team']}")

    async with (
        serving(tell) as server,
        endpoint_at(
            server.url + "/v1?region=plain",
            headers={
                "X-Api-Key": "header-secret-1",
                "Authorization": "Token token-secret-1",
                "X-Team": "plain-team",
            },
        ) as endpoint,
    ):
        shown = stored(await endpoint.send(chat()))
        assert server.calls[0].headers["authorization"] == "Token token-secret-1"
    for secret in ("header-secret-1", "token-secret-1"):
        assert secret not in shown
    assert "plain-team" in shown
    assert "region=plain" in shown


@pytest.mark.parametrize("before", range(270, 304))
@pytest.mark.parametrize("status", [200, 400])
@in_loop
async def test_cut_through_the_key_leaves_no_part_of_it(key: str, before: int, status: int) -> None:
    async def handle(call: Call) -> None:
        await call.error(status, "x" * before + KEY + "x" * 300)

    async with (
        serving(handle) as server,
        endpoint_at(server.url + "/v1", api_key_name="MY_KEY", max_retries=0) as endpoint,
    ):
        reply = await endpoint.send(chat())
    assert reply.failure is not None
    assert "sk-" not in reply.failure.message


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 %b OK\r\n\r\n",
        b"HTTP/1.1 2%b\r\n\r\n",
        b"no HTTP, but %b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: %b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nContent-Length: 1\r\n\r\n.",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%b\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n01234567890%b\r\n",
    ],
)
@pytest.mark.parametrize("transport", ["lean", "reqwest"])
@pytest.mark.parametrize("value", [KEY, 'sk-it\'s\\a"key"-0123456789-0123456789-0123456789'])
@in_loop
async def test_protocol_errors_quote_no_key(
    monkeypatch: pytest.MonkeyPatch, value: str, sent: bytes, transport: TransportName
) -> None:
    monkeypatch.setenv("MY_KEY", value)

    async def handle(call: Call) -> None:
        await call.raw(sent.replace(b"%b", value.encode()))
        call.close()

    async with (
        serving(handle) as server,
        endpoint_at(server.url + "/v1", transport, api_key_name="MY_KEY", max_retries=0) as endpoint,
    ):
        reply = await endpoint.send(chat())
    assert reply.failure is not None
    assert value[:8].lower() not in reply.failure.message.lower()
    assert "sk-it" not in reply.failure.message.lower()


@pytest.mark.parametrize("value", [None, "", "  "])
def test_unset_variable_is_named_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(ConfigError, match="MY_KEY"):
        open_endpoint(EndpointSettings(url="http://h", model_id="m", api_key_name="MY_KEY"))


def test_key_that_no_header_can_carry_is_refused_unshown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-abc\r\nX-Evil: 1")
    with pytest.raises(ConfigError, match="MY_KEY") as caught:
        open_endpoint(EndpointSettings(url="http://h", model_id="m", api_key_name="MY_KEY"))
    assert "sk-abc" not in str(caught.value)


def test_settings_do_not_show_header_values() -> None:
    settings = EndpointSettings(url="http://h", model_id="m", headers={"api-key": "s3cr3t"})
    assert "s3cr3t" not in repr(settings)
