"""What a server's JSON counts as."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from loopback_server import chat_json

from benchwright.core import ModelReply, TokenUsage
from benchwright.endpoints._replies import BadReply, read_reply
from benchwright.endpoints._transport import Stamps


def read(data: Any, route: Any = "chat", **more: Any) -> ModelReply:
    reply = read_reply(data, route, Stamps(), **more)
    assert isinstance(reply, ModelReply), reply
    return reply


@pytest.mark.parametrize(
    ("content", "finish", "message", "status", "text"),
    [
        ("four", "stop", {}, "answered", "four"),
        ("four", None, {}, "answered", "four"),
        ("  four\n", "stop", {}, "answered", "  four\n"),
        ("four", "length", {}, "answered", "four"),
        (None, "stop", {}, "empty", ""),
        ("", "stop", {}, "empty", ""),
        (" \n", "stop", {}, "empty", " \n"),
        (None, "length", {}, "truncated", ""),
        ("", "length", {"reasoning_content": "hm"}, "truncated", ""),
        ("<think>hm", "length", {}, "truncated", ""),
        ("<think>hm", "stop", {}, "truncated", ""),
        ("<think>hm</think>", "stop", {}, "empty", ""),
        ("", "content_filter", {}, "refused", ""),
        ("par", "content_filter", {}, "refused", "par"),
        (None, "stop", {"refusal": "I cannot help with that."}, "refused", "I cannot help with that."),
        ([{"type": "text", "text": "fo"}, {"type": "text", "text": "ur"}], "stop", {}, "answered", "four"),
        ([{"type": "image_url"}], "stop", {}, "empty", ""),
        (None, "tool_calls", {"tool_calls": [{"id": "1"}]}, "answered", ""),
        (None, "function_call", {"function_call": {"name": "f", "arguments": "{}"}}, "answered", ""),
    ],
)
def test_status_and_text_of_a_chat_reply(
    content: Any, finish: str | None, message: dict[str, Any], status: str, text: str
) -> None:
    reply = read(chat_json(content, finish, **message))
    assert (reply.status, reply.text, reply.finish_reason) == (status, text, finish)


@pytest.mark.parametrize(
    ("message", "answer", "reasoning"),
    [
        ({"content": "4", "reasoning_content": "2+2"}, "4", "2+2"),
        ({"content": "4", "reasoning": "2+2"}, "4", "2+2"),
        ({"content": "<think>2+2</think>\n\n4"}, "4", "2+2"),
        ({"content": "2+2\n</think>\n4"}, "4", "2+2"),
        ({"content": "\n<think>\na</think>b<think>c</think>d"}, "d", "a</think>b<think>c"),
        ({"content": "say <think> if you must"}, "say <think> if you must", ""),
        ({"content": "a </think> b", "reasoning_content": "r"}, "a </think> b", "r"),
        (
            {"content": [{"type": "thinking", "thinking": [{"text": "2+2"}]}, {"type": "text", "text": "4"}]},
            "4",
            "2+2",
        ),
    ],
)
def test_reasoning_is_split_off(message: dict[str, Any], answer: str, reasoning: str) -> None:
    reply = read({"choices": [{"message": message, "finish_reason": "stop"}]})
    assert (reply.text, reply.reasoning) == (answer, reasoning)


def test_second_thought_without_end_is_truncated() -> None:
    reply = read(chat_json("<think>a</think><think>b"))
    assert (reply.status, reply.text, reply.reasoning) == ("truncated", "", "a\nb")


def test_tool_calls_are_kept_as_sent() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}]
    assert read(chat_json(None, "tool_calls", tool_calls=calls)).tool_calls == calls
    old = read(chat_json(None, "function_call", function_call={"name": "f", "arguments": "{}"}))
    assert old.tool_calls == [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]
    assert read(chat_json("x", tool_calls=[])).tool_calls is None


def test_completions_text_and_logprobs() -> None:
    logprobs = {
        "tokens": ["2+2=", "4"],
        "token_logprobs": [None, -0.5],
        "text_offset": [0, 4],
        "top_logprobs": [None, {"4": -0.5, "5": None}],
    }
    reply = read({"choices": [{"text": "<think>2+2=4", "logprobs": logprobs}]}, "completions", raw_text=True)
    assert (reply.status, reply.text) == ("answered", "<think>2+2=4"), "an echoed prompt is not a thought"
    assert reply.echoed is not None
    assert reply.echoed.token_logprobs == [None, -0.5]
    assert reply.echoed.top_logprobs == [None, {"4": -0.5}]
    assert read({"choices": [{"text": "4", "logprobs": None}]}, "completions").echoed is None
    assert read({"choices": [{"text": "4", "logprobs": {"content": []}}]}, "completions").echoed is None
    assert read({"choices": [{"text": None}]}, "completions").status == "empty"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4}, TokenUsage(3, 4)),
        ({"prompt_tokens": 3}, TokenUsage(3, 0)),
        ({}, None),
        (None, None),
        ("many", None),
        ({"prompt_tokens": None, "completion_tokens": None}, None),
        ({"prompt_tokens": -5, "completion_tokens": 1}, None),
        ({"prompt_tokens": 5, "completion_tokens": 2**63 - 1}, None),
        ({"prompt_tokens": 5, "completion_tokens": 10**9 + 1}, None),
        ({"prompt_tokens": True, "completion_tokens": 1}, None),
        (
            {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": -1}},
            TokenUsage(5, 1),
        ),
    ],
)
def test_usage(usage: Any, expected: TokenUsage | None) -> None:
    assert read({**chat_json("x"), "usage": usage}).usage == expected


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "a list"),
        (None, "null"),
        (3, "a number"),
        ({}, "no choices; it has nothing"),
        ({"id": 1}, "no choices; it has id"),
        ({"choices": [], "id": 1}, "the reply's list of choices is empty"),
        ({"choices": None}, "the reply's choices are null, not a list"),
        ({"choices": {}}, "the reply's choices are an object, not a list"),
        ({"choices": ["4"]}, "the reply's first choice is a text, not an object"),
        ({"choices": None, "error": {"message": "asleep", "code": 502}}, "asleep"),
        ({"error": "asleep"}, "asleep"),
        ({"choices": [{"text": "4"}]}, "no message"),
        ({"detail": [{"loc": ["body", "model"], "msg": "field required"}]}, "it has detail"),
    ],
)
def test_json_that_is_no_reply(data: Any, words: str) -> None:
    reply = read_reply(data, "chat", Stamps())
    assert isinstance(reply, BadReply)
    assert words in reply.message


FIELDS = [
    "choices", "message", "content", "text", "finish_reason", "usage", "tool_calls", "refusal", "logprobs", "tokens",
    "token_logprobs", "text_offset", "top_logprobs", "reasoning", "thinking", "type", "error", "code",
    "prompt_tokens", "function_call",
]  # fmt: skip

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values, json_values, st.sampled_from(["chat", "completions"]))
def test_no_json_whatever_makes_reading_fail(data: Any, inner: Any, route: Any) -> None:
    for value in (
        data,
        {"choices": [data]},
        {"choices": [{"message": data, "logprobs": inner, "text": inner}]},
    ):
        reply = read_reply(value, route, Stamps())  # type: ignore[arg-type]
        assert isinstance(reply, ModelReply | BadReply)
