"""Plain replies are read quickly, and exactly as all others are."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from benchwright.core import ModelReply, ModelRequest, Route, load_json
from benchwright.endpoints import SERVED_BY_DEMO
from benchwright.endpoints._plain_replies import plain_reply
from benchwright.endpoints._replies import read_reply, served_as
from benchwright.endpoints._transport import Stamps

STAMPS = Stamps(started_at=5.0, planned=1.0, sent=2.0, first_byte=3.0, last_byte=4.0, attempts=2)
CHAT = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "system_fingerprint": None,
    "choices": [
        {"index": 0, "finish_reason": "stop", "logprobs": None,
         "message": {"role": "assistant", "content": "Paris.", "refusal": None, "tool_calls": []}},
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
}  # fmt: skip
COMPLETION = {
    "object": "text_completion", "model": "m",
    "choices": [{"index": 0, "finish_reason": "length", "logprobs": None, "text": " Paris."}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
}  # fmt: skip
ODD: list[Any] = [
    None, "", " ", "stop", "length", "tool_calls", "content_filter", "error", "abort", 0, 1, -1, 3.0, 2.5, True, False,
    [], {}, [None], [{}], [{"type": "text", "text": "x"}], {"error": "no"}, "<think>hm</think>Paris", "half</think>Paris",
    "ünï", "\u2028", 10**30, SERVED_BY_DEMO, "other", {"prompt_tokens": 1}, {"prompt_tokens": True, "completion_tokens": 2},
    {"prompt_tokens": 1.0, "completion_tokens": 2.0}, {"prompt_tokens": None, "completion_tokens": 2},
]  # fmt: skip
PLACES: list[tuple[Any, ...]] = [
    (), ("choices",), ("choices", 0), ("choices", 0, "message"), ("choices", 0, "text"), ("choices", 0, "logprobs"),
    ("choices", 0, "finish_reason"), ("choices", 0, "content"), ("choices", 0, "reasoning"), ("choices", 0, "error"),
    ("choices", 0, "reasoning_content"), ("usage",), ("usage", "prompt_tokens"), ("usage", "completion_tokens"),
    ("model",), ("system_fingerprint",), ("error",), ("whatever",),
    *(("choices", 0, "message", name)
      for name in ("content", "reasoning_content", "reasoning", "refusal", "tool_calls", "function_call", "role")),
]  # fmt: skip
GONE = object()


def changed(reply: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The reply with another value at a place, or without it."""
    reply = deepcopy(reply)
    if not place:
        return None if value is GONE else value
    inner = reply
    for step in place[:-1]:
        try:
            inner = inner[step]
        except (KeyError, IndexError, TypeError):
            return reply
    if isinstance(inner, dict):
        if value is GONE:
            inner.pop(place[-1], None)
        else:
            inner[place[-1]] = value
    return reply


def agree(body: bytes, route: Route, asked: dict[str, Any]) -> bool:
    """Whether the quick reader takes the body; if so, it must read what the other reads."""
    request = ModelRequest(route, asked, b"")
    quick = plain_reply(body, request, STAMPS)
    if quick is None:
        return False
    data = load_json(body)
    known = read_reply(data, route, STAMPS, bool(asked.get("echo")), str, served_as(data, asked.get("model")))
    assert isinstance(known, ModelReply)
    assert quick == known
    return True


@pytest.mark.parametrize(("route", "reply"), [("chat", CHAT), ("completions", COMPLETION)])
def test_a_usual_reply_is_a_plain_one(route: Route, reply: dict[str, Any]) -> None:
    assert agree(json.dumps(reply).encode(), route, {"model": "m"})
    assert agree(json.dumps(reply).encode(), route, {"model": "another"})
    assert not agree(json.dumps(reply).encode(), route, {"model": "m", "echo": True})


@pytest.mark.parametrize(("route", "reply"), [("chat", CHAT), ("completions", COMPLETION)])
@pytest.mark.parametrize("place", PLACES)
def test_one_odd_value_anywhere_is_read_as_ever(
    route: Route, reply: dict[str, Any], place: tuple[Any, ...]
) -> None:
    for value in [*ODD, GONE]:
        agree(json.dumps(changed(reply, place, value)).encode(), route, {"model": "m"})
        agree(json.dumps(changed(reply, place, value), ensure_ascii=False).encode(), route, {"model": "m"})


@given(
    st.sampled_from([("chat", CHAT), ("completions", COMPLETION)]),
    st.lists(st.tuples(st.sampled_from(PLACES[1:]), st.sampled_from([*ODD, GONE])), max_size=3),
)
@settings(max_examples=500, deadline=None)
def test_several_odd_values_are_read_as_ever(form: Any, changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    route, reply = form
    for place, value in changes:
        reply = changed(reply, place, value)
    agree(json.dumps(reply).encode(), route, {"model": "m"})


@pytest.mark.parametrize(
    "damage",
    [
        lambda body: body[:-1],
        lambda body: body + b"x",
        lambda body: b"\xef\xbb\xbf" + body,
        lambda body: body.replace(b"chatcmpl-1", b"\xff"),
        lambda body: body.replace(b"Paris.", b"\\ud800"),
        lambda body: body.replace(b"Paris.", b"a\x01b"),
        lambda body: body.replace(b'"created": 1', b'"created": NaN'),
        lambda body: body.replace(b'"created": 1', b'"created": ' + b"[" * 5_000 + b"]" * 5_000),
        lambda body: body.replace(b'"created": 1', b'"created": ' + b"[" * 300 + b"]" * 300),
        lambda body: b"<html>" + body,
        lambda body: b"",
    ],
)
def test_what_is_no_json_is_left_to_the_other_reader(damage: Any) -> None:
    assert not agree(damage(json.dumps(CHAT).encode()), "chat", {"model": "m"})
