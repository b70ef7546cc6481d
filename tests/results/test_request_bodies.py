"""What recorded bodies ask: the short way for bodies that differ in one text finds what the long way finds."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st

from benchwright.core import encode_json
from benchwright.results._sample_columns import request_texts, texts_in_one_frame, texts_one_by_one

TEXTS = st.one_of(st.text(max_size=10), st.text('\0"\\/here é\n', max_size=10))
AFTER = {"temperature": 0.0, "max_tokens": 4096}


def chat(*messages: tuple[str, Any], **settings: Any) -> bytes:
    said = [{"role": role, "content": content} for role, content in messages]
    return encode_json({"model": "m", "messages": said, **(settings or AFTER)})


def lists(found: Any) -> list[list[Any]]:
    return [list(column) for column in found]


@given(st.lists(TEXTS, min_size=1, max_size=6), st.none() | TEXTS, st.lists(TEXTS, max_size=2))
def test_bodies_with_one_frame_are_read_in_it(
    prompts: list[str], system: str | None, history: list[str]
) -> None:
    before = [] if system is None else [("system", system)]
    before += [("user", text) for text in history]
    bodies = [chat(*before, ("user", prompt)) for prompt in prompts]
    found = texts_in_one_frame(bodies)
    if found is None:  # only where our own mark stands in a body
        assert any("\0" in text for text in (system or "", *history))
    else:
        assert lists(found) == lists(texts_one_by_one(bodies))
        assert list(found[0]) == prompts


PARTS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
        st.just({"type": "image_url"}),
        st.just("bare"),
    ),
    max_size=2,
)
MESSAGES = st.lists(
    st.tuples(st.sampled_from(["system", "user", "assistant"]), st.one_of(TEXTS, TEXTS, st.none(), PARTS)),
    max_size=3,
)
BODIES = st.one_of(
    st.none(),
    st.builds(lambda text: chat(("user", text)), TEXTS),
    st.builds(lambda messages: chat(*messages), MESSAGES),
    st.builds(lambda messages, length: chat(*messages, max_tokens=length), MESSAGES, st.integers(1, 2)),
    st.builds(lambda text: encode_json({"model": "m", "prompt": text, "echo": True}), TEXTS),
    st.just(b"{}"),
    st.just(b'{"model": "m", "messages": [{"role": "user", "content": "spaced"}]}'),
    st.just(
        b'{"model":"m","messages":[{"role":"user","content":"\\u0061"}],"temperature":0.0,"max_tokens":4096}'
    ),
)


@given(st.lists(BODIES, min_size=1, max_size=6))
def test_any_bodies_are_read_as_one_by_one(bodies: list[bytes | None]) -> None:
    assert lists(request_texts(bodies)) == lists(texts_one_by_one(bodies))


@pytest.mark.parametrize(
    "other",
    [
        b'{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}],"temperature":0.0}',
        b'{"model":"m","messages":[{"role":"user","content":"a","name":"b"}],"temperature":0.0}',
        b'{"model":"m","messages":[{"role":"user","content":["a"]}],"temperature":0.0}',
        b'{"model":"m","messages":[{"role":"user","content":null}],"temperature":0.0}',
        None,
    ],
)
def test_a_body_of_another_shape_among_others_is_read_the_long_way(other: bytes | None) -> None:
    bodies = [chat(("user", "first"), temperature=0.0), other, chat(("user", "last"), temperature=0.0)]
    assert texts_in_one_frame(bodies) is None
    prompts, _, messages = request_texts(bodies)
    assert (prompts[0], prompts[2]) == ("first", "last")
    assert lists(request_texts(bodies)) == lists(texts_one_by_one(bodies))
    assert (
        messages[1] is None
        if other is None
        else orjson.loads(messages[1] or b"") == orjson.loads(other)["messages"]
    )


def test_a_system_message_alone_is_both() -> None:
    bodies = [chat(("system", "one")), chat(("system", "two"))]
    prompts, systems, _ = request_texts(bodies)
    assert list(prompts) == list(systems) == ["one", "two"]
