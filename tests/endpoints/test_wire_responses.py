"""OpenAI's responses route, spoken by a small server of this test's own."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from loopback_server import Call, chat, completion, endpoint_at, in_loop, serving


def message(*content: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": list(content),
    }


def said(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def response(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "output": list(output),
        "usage": {
            "input_tokens": 12,
            "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 20},
            "total_tokens": 42,
        },
        **more,
    }


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: ".encode() + orjson.dumps({"type": kind, **fields}) + b"\n\n"


THOUGHT = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "two and two"}]}


@in_loop
async def test_chat_body_and_whole_reply() -> None:
    async def answer(call: Call) -> None:
        await call.json(response(THOUGHT, message(said("4"))))

    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    async with serving(answer) as server, endpoint_at(server.url, api="responses") as endpoint:
        reply = await endpoint.send(
            chat(
                messages=messages, max_tokens=64, temperature=0.0, top_p=1.0, reasoning_effort="low", user="u"
            )
        )
        (call,) = server.calls
    assert call.path == "/v1/responses"
    assert call.body == {
        "model": "m", "input": messages, "store": False, "stream": False, "max_output_tokens": 64, "temperature": 0.0, "top_p": 1.0,
        "reasoning": {"effort": "low"}, "user": "u",
    }  # fmt: skip
    assert (reply.status, reply.text, reply.reasoning, reply.finish_reason) == (
        "answered",
        "4",
        "two and two",
        "stop",
    )
    assert reply.usage is not None
    assert (reply.usage.prompt, reply.usage.completion) == (12, 30)


@in_loop
async def test_prompt_is_the_input_and_bare_host_without_v1_is_found() -> None:
    async def answer(call: Call) -> None:
        if call.path.startswith("/v1"):
            await call.json({"detail": "Not Found"}, 404)
        else:
            await call.json(response(message(said("4"))))

    async with serving(answer) as server, endpoint_at(server.url, api="responses") as endpoint:
        reply = await endpoint.send(completion("2+2="))
        assert [call.path for call in server.calls] == ["/v1/responses", "/responses"]
        assert server.calls[1].body == {"model": "m", "input": "2+2=", "store": False, "stream": False}
    assert (reply.status, reply.text) == ("answered", "4")


@in_loop
async def test_tools_images_and_formats_under_their_names_here() -> None:
    async def answer(call: Call) -> None:
        call_item = {
            "type": "function_call",
            "id": "fc",
            "call_id": "c9",
            "name": "add",
            "arguments": '{"a": 1}',
        }
        await call.json(response(call_item))

    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
    earlier = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    messages = [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                {"type": "text", "text": "add"},
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": [earlier]},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ]
    schema = {"name": "sum", "schema": {"type": "object"}, "strict": True}
    async with serving(answer) as server, endpoint_at(server.url, api="responses") as endpoint:
        reply = await endpoint.send(
            chat(
                messages=messages,
                tools=[tool],
                tool_choice={"type": "function", "function": {"name": "add"}},
                response_format={"type": "json_schema", "json_schema": schema},
            )
        )
        body = server.calls[0].body
    assert body["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
                {"type": "input_text", "text": "add"},
            ],
        },
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "3"},
    ]
    assert body["tools"] == [{"type": "function", "name": "add", "parameters": {"type": "object"}}]
    assert body["tool_choice"] == {"type": "function", "name": "add"}
    assert body["text"] == {"format": {"type": "json_schema", **schema}}
    assert (reply.status, reply.finish_reason) == ("answered", "tool_calls")
    assert reply.tool_calls == [
        {"id": "c9", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    ]


@pytest.mark.parametrize(
    ("reply_json", "status", "finish"),
    [
        (response(THOUGHT, status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "truncated", "length"),
        (response(message(said("4")), status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "answered", "length"),
        (response(status="incomplete", incomplete_details={"reason": "content_filter"}), "refused", "content_filter"),
        (response(message({"type": "refusal", "refusal": "No."})), "refused", "stop"),
        (response(message(said(""))), "empty", "stop"),
        (response(message({"type": "output_text", "text": None})), "empty", "stop"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
@in_loop
async def test_what_a_reply_counts_as(
    reply_json: dict[str, Any], status: str, finish: str, stream: bool
) -> None:
    async def answer(call: Call) -> None:
        if stream:
            await call.events(
                event("response.created", response={}),
                event(f"response.{reply_json['status']}", response=reply_json),
            )
        else:
            await call.json(reply_json)

    async with serving(answer) as server, endpoint_at(server.url, api="responses") as endpoint:
        reply = await endpoint.send(chat(stream=stream))
    assert (reply.status, reply.finish_reason, reply.failure) == (status, finish, None)


DELTAS = (
    event("response.created", response={"status": "in_progress"}),
    event("response.reasoning_summary_text.delta", delta="two and "),
    event("response.reasoning_summary_text.delta", delta="two"),
    event("response.output_text.delta", delta="grü"),
    event("response.output_text.delta", delta="ße"),
)


@pytest.mark.parametrize(
    "output", [(THOUGHT, message(said("grüße"))), ()], ids=["whole at the end", "deltas only"]
)
@in_loop
async def test_stream(output: tuple[dict[str, Any], ...]) -> None:
    async def answer(call: Call) -> None:
        await call.events(*DELTAS, event("response.completed", response=response(*output)), pause_s=0.03)

    async with serving(answer) as server, endpoint_at(server.url, api="responses") as endpoint:
        reply = await endpoint.send(chat(stream=True))
        assert server.calls[0].body["stream"] is True
        assert "stream_options" not in server.calls[0].body
    assert (reply.status, reply.text, reply.reasoning) == ("answered", "grüße", "two and two")
    assert reply.usage is not None
    assert (reply.usage.prompt, reply.usage.completion) == (12, 30)
    assert reply.ttft_s is not None
    assert 0.02 < reply.ttft_s < reply.latency_s - 0.06


@pytest.mark.parametrize(
    ("last", "kind", "words"),
    [
        (None, "broken_stream", "before the answer did"),
        (event("error", code="server_error", message="overheated", param=None), "server_error", "overheated"),
        (event("error", code="rate_limit_exceeded", message="slow down"), "rate_limited", "slow down"),
        (
            event(
                "response.failed",
                response=response(status="failed", error={"code": "server_error", "message": "oh"}),
            ),
            "server_error",
            "oh",
        ),
    ],
    ids=["ended early", "error", "rate limited", "failed"],
)
@in_loop
async def test_streams_that_end_badly(last: bytes | None, kind: str, words: str) -> None:
    async def answer(call: Call) -> None:
        await call.events(*DELTAS, *([last] if last else []))

    async with serving(answer) as server, endpoint_at(server.url, api="responses", max_retries=0) as endpoint:
        reply = await endpoint.send(chat(stream=True))
    assert reply.failure is not None
    assert (reply.failure.kind, reply.text) == (kind, "")
    assert words in reply.failure.message


@in_loop
async def test_failed_response_and_stop_texts() -> None:
    async def answer(call: Call) -> None:
        await call.json(response(status="failed", error={"code": "server_error", "message": "overheated"}))

    async with serving(answer) as server, endpoint_at(server.url, api="responses", max_retries=0) as endpoint:
        reply = await endpoint.send(chat())
        assert reply.failure is not None
        assert (reply.failure.kind, "overheated" in reply.failure.message) == ("server_error", True)
        reply = await endpoint.send(chat(stop=["\n"]))
        assert len(server.calls) == 1
    assert reply.failure is not None
    assert (reply.failure.kind, "--stop" in reply.failure.message) == ("rejected", True)
