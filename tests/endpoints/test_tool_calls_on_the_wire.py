"""Tool calls on every route that has them, whole and streamed: what arrives, whatever the server makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from loopback_server import Call, endpoint_at, in_loop, serving, sse

from benchwright.core import ModelReply, ModelRequest, encode_json

TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
ROUTES = [("openai", False), ("openai", True), ("responses", False), ("responses", True)]
Calls = list[tuple[str, str, Any]]
"""Id, name and arguments of each."""


def openai_calls(calls: Calls) -> list[dict[str, Any]]:
    return [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in calls
    ]


def openai_whole(calls: Any, text: str | None = None) -> Any:
    message = {"role": "assistant", "content": text, "tool_calls": calls}
    return {"choices": [{"message": message, "finish_reason": "tool_calls"}]}


def openai_stream(*deltas: Any, finish: str | None = "tool_calls") -> bytes:
    events: list[Any] = [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish is not None:
        events.append({"choices": [{"delta": {}, "finish_reason": finish}]})
    return sse(*events, done=finish is not None)


def pieces_of(calls: Calls) -> list[Any]:
    """A call in four deltas: id and name, and the arguments in thirds."""
    deltas: list[Any] = [{"role": "assistant", "content": None}]
    for index, (id_, name, arguments) in enumerate(calls):
        deltas.append(
            {"tool_calls": [{"index": index, "id": id_, "function": {"name": name, "arguments": ""}}]}
        )
        third = max(1, len(arguments) // 3)
        for at in range(0, len(arguments), third):
            piece = {"index": index, "function": {"arguments": arguments[at : at + third]}}
            deltas.append({"tool_calls": [piece]})
    return deltas


def responses_items(calls: Calls) -> list[Any]:
    return [
        {"type": "function_call", "id": f"item_{id_}", "call_id": id_, "name": name, "arguments": arguments}
        for id_, name, arguments in calls
    ]


def responses_stream(calls: Calls, *, last_has_items: bool, ends: bool = True) -> bytes:
    events: list[Any] = []
    for item in responses_items(calls):
        events.append({"type": "response.output_item.added", "item": {**item, "arguments": ""}})
        delta = {"type": "response.function_call_arguments.delta", "item_id": item["id"]}
        events += [{**delta, "delta": character} for character in item["arguments"]]
    if ends:
        output = responses_items(calls) if last_has_items else []
        events.append({"type": "response.completed", "response": {"status": "completed", "output": output}})
    return sse(*events, done=ends)


async def reply_to(answer: Any, api: str = "openai", *, stream: bool = False) -> ModelReply:
    async def handle(call: Call) -> None:
        assert call.body["tools"][0].get("type") == "function"
        if isinstance(answer, bytes):
            await call.events(answer)
        else:
            await call.json(answer)

    body: dict[str, Any] = {
        "model": "m", "messages": [{"role": "user", "content": "1 + 2?"}], "tools": [TOOL],
        **({"stream": True} if stream else {}),
    }  # fmt: skip
    async with serving(handle) as server, endpoint_at(server.url, "lean", api=api, max_retries=0) as endpoint:
        return await endpoint.send(ModelRequest("chat", body, encode_json(body)))


def answer_of(api: str, stream: bool, calls: Calls) -> Any:
    if api == "responses":
        return (
            responses_stream(calls, last_has_items=True)
            if stream
            else {"status": "completed", "output": responses_items(calls)}
        )
    return openai_stream(*pieces_of(calls)) if stream else openai_whole(openai_calls(calls))


@pytest.mark.parametrize(("api", "stream"), ROUTES)
@pytest.mark.parametrize(
    "calls",
    [
        [("c1", "add", '{"a": 1, "b": "zwei ✓"}')],
        [("c1", "add", '{"a": 1}'), ("c2", "add", '{"a": 2}'), ("c3", "sub", "{}")],
        [("c1", "add", "{not JSON")],
        [("c1", "add", '{"a": 1}{"a": 2}')],
        [("c1", "", '{"a": 1}')],
        [("c1", "no.such-tool!", "[1, 2]")],
        [("c1", "add", "")],
    ],
    ids=["one", "parallel", "not JSON", "two texts in one", "no name", "a list of arguments", "no arguments"],
)
@in_loop
async def test_calls_arrive_as_the_server_sent_them(api: str, stream: bool, calls: Calls) -> None:
    reply = await reply_to(answer_of(api, stream, calls), api, stream=stream)
    assert (reply.status, reply.finish_reason, reply.attempts) == ("answered", "tool_calls", 1)
    assert reply.tool_calls == openai_calls(calls)


@in_loop
async def test_a_responses_stream_whose_last_event_leaves_the_calls_out() -> None:
    calls: Calls = [("c1", "add", '{"a": 1}'), ("c2", "sub", "{}")]
    reply = await reply_to(responses_stream(calls, last_has_items=False), "responses", stream=True)
    assert reply.tool_calls == openai_calls(calls)


def piece(name: str = "", arguments: Any = "", **more: Any) -> Any:
    return {**more, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "deltas",
    [
        [[piece("add", '{"a": 1}', id="c1")], [piece("sub", "{}", id="c2")]],
        [[piece("add", '{"a": 1}', id="c1", index=0)], [piece("sub", "{}", id="c2", index=0)]],
        [[piece("add", '{"a": 1}', id="c1"), piece("sub", "{}", id="c2")]],
        [[piece("add", '{"a"', id="c1", index=0)], [piece("add", ": 1}", id="c1", index=0)],
         [piece("sub", "{}", id="c2", index=1)]],
        [[piece("ad", id="c1", index=0)], [piece("d", '{"a": 1}', index=0)], [piece("sub", "{}", id="c2", index=1)]],
        [[piece("sub", "{}", id="c2", index=1)], [piece("add", '{"a": 1}', id="c1", index=0)]],
        [[piece("add", {"a": 1}, id="c1", index=0)], [piece("sub", {}, id="c2", index=1)]],
    ],
    ids=["no numbers", "always number 0", "no numbers, one event", "name repeated", "name in pieces", "out of order",
         "arguments as an object"],
)  # fmt: skip
@in_loop
async def test_servers_that_number_calls_in_their_own_way(deltas: list[Any]) -> None:
    reply = await reply_to(openai_stream(*({"tool_calls": calls} for calls in deltas)), stream=True)
    assert [call["function"]["name"] for call in reply.tool_calls or []] == ["add", "sub"]  # type: ignore[index,call-overload]
    assert [call["id"] for call in reply.tool_calls or []] == ["c1", "c2"]  # type: ignore[index,call-overload]
    first = reply.tool_calls[0]["function"]["arguments"]  # type: ignore[index,call-overload]
    assert first.replace(" ", "") == '{"a":1}'  # type: ignore[union-attr]


@in_loop
async def test_unnamed_calls_without_ids_begin_anew_at_each_name() -> None:
    deltas = [{"tool_calls": [piece("add", '{"a": 1}')]}, {"tool_calls": [piece("add", '{"a": 2}')]}]
    reply = await reply_to(openai_stream(*deltas), stream=True)
    assert [call["function"]["arguments"] for call in reply.tool_calls or []] == ['{"a": 1}', '{"a": 2}']  # type: ignore[index,call-overload]


@in_loop
async def test_a_whole_message_at_the_end_of_a_stream_is_not_counted_twice() -> None:
    calls: Calls = [("c1", "add", '{"a": 1}')]
    message = {"role": "assistant", "content": None, "tool_calls": openai_calls(calls)}
    last = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    events = [{"choices": [{"delta": delta}]} for delta in pieces_of(calls)]
    assert (await reply_to(sse(*events, last), stream=True)).tool_calls == openai_calls(calls)
    assert (await reply_to(sse(last), stream=True)).tool_calls == openai_calls(calls)


@in_loop
async def test_the_form_before_tool_calls_in_a_stream() -> None:
    deltas = [{"function_call": {"name": "add"}}, {"function_call": {"arguments": '{"a": 1}'}}]
    reply = await reply_to(openai_stream(*deltas, finish="function_call"), stream=True)
    assert reply.status == "answered"
    assert reply.tool_calls == [
        {"id": None, "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    ]


@pytest.mark.parametrize(("api", "stream"), ROUTES)
@in_loop
async def test_calls_as_text_are_text(api: str, stream: bool) -> None:
    """A server without a parser for its model's calls: they are not mistaken for calls, and nothing is lost."""
    text = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
    if api == "responses":
        item = {"type": "message", "content": [{"type": "output_text", "text": text}]}
        answer: Any = {"status": "completed", "output": [item]}
        if stream:
            answer = sse({"type": "response.output_text.delta", "delta": text},
                         {"type": "response.completed", "response": answer})  # fmt: skip
    else:
        answer = openai_stream({"content": text}, finish="stop") if stream else openai_whole(None, text)
    reply = await reply_to(answer, api, stream=stream)
    assert (reply.status, reply.text, reply.tool_calls) == ("answered", text, None)


@in_loop
async def test_text_and_calls_together() -> None:
    calls: Calls = [("c1", "add", "{}")]
    whole = await reply_to(openai_whole(openai_calls(calls), "I shall add."))
    streamed = await reply_to(openai_stream({"content": "I shall add."}, *pieces_of(calls)), stream=True)
    for reply in (whole, streamed):
        assert (reply.text, reply.tool_calls) == ("I shall add.", openai_calls(calls))


def cut_stream(api: str) -> bytes:
    calls: Calls = [("c1", "add", '{"a": 1}')]
    if api == "responses":
        return responses_stream(calls, last_has_items=False, ends=False)
    return openai_stream(*pieces_of(calls)[:-1], finish=None)


@pytest.mark.parametrize("api", ["openai", "responses"])
@in_loop
async def test_a_stream_cut_within_a_call_is_no_call(api: str) -> None:
    reply = await reply_to(cut_stream(api), api, stream=True)
    assert reply.failure is not None
    assert reply.failure.kind == "broken_stream"
    assert reply.tool_calls is None


@pytest.mark.parametrize("wrong", [7, "add", {"name": "add"}, [7], [None], ["add(1)"]])
@pytest.mark.parametrize(
    "build", [openai_whole, lambda calls: openai_stream({"tool_calls": calls})], ids=["whole", "stream"]
)
@in_loop
async def test_calls_of_another_type_are_no_reply(wrong: Any, build: Callable[[Any], Any]) -> None:
    answer = build(wrong)
    reply = await reply_to(answer, stream=isinstance(answer, bytes))
    assert reply.failure is not None
    assert reply.failure.kind == "bad_reply"
    assert "tool call" in reply.failure.message
