"""Canonical JSON of steps: equal values give equal hashes, nothing is dropped, and what cannot be held is named."""

from __future__ import annotations

import enum
import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel

from benchwright import error_message, hash_json, stable_stringify
from benchwright.core import UsageError
from benchwright.workflows._canonical import read_back

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None)),  # type: ignore[arg-type]  # half characters too
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_the_text_reads_back_as_the_value_and_does_not_depend_on_order(value: Any) -> None:
    text = stable_stringify(value)
    assert text == json.dumps(value, sort_keys=True, separators=(",", ":"))
    assert text.isascii()
    assert stable_stringify(read_back(text)) == text
    assert json.loads(text) == read_back(text)
    if isinstance(value, dict):
        assert stable_stringify(dict(reversed(value.items()))) == text
    assert hash_json(value) == hashlib.sha256(text.encode()).hexdigest()


def test_none_is_kept_and_numbers_keep_their_kind() -> None:
    assert stable_stringify({"b": 1, "a": None}) == '{"a":null,"b":1}'
    assert hash_json({"a": None, "b": 1}) != hash_json({"b": 1})
    assert hash_json(1) != hash_json(1.0)
    assert hash_json(2**80) != hash_json(float(2**80))
    assert stable_stringify((1, (2, 3))) == "[1,[2,3]]"


class Colour(enum.Enum):
    RED = "red"


class Row(BaseModel):
    name: str
    score: float | None = None
    when: datetime = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass
class Point:
    x: int
    row: Row
    tags: tuple[str, ...] = ()
    colours: list[Colour] = field(default_factory=list)


def test_models_dataclasses_and_enums_are_dumped() -> None:
    row = '{"name":"a","score":null,"when":"2026-01-02T00:00:00Z"}'
    assert stable_stringify(Row(name="a")) == row
    assert (
        stable_stringify([Point(1, Row(name="a"), ("t",), [Colour.RED])])
        == '[{"colours":["red"],"row":' + row + ',"tags":["t"],"x":1}]'
    )
    assert stable_stringify({"c": Colour.RED}) == '{"c":"red"}'


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"rows": [1, {"score": float("nan")}]}, r"\$\.rows\[1\]\.score is nan.*finite"),
        ([float("-inf")], r"\$\[0\] is -inf"),
        ({1: "a"}, r"\$ has the key 1; expected text"),
        ({"a": {"b c": {None: 1}}}, r"\$\.a\['b c'\] has the key None"),
        ({"a": {1, 2}}, r"\$\.a is a set"),
        (b"bytes", r"\$ is a bytes"),
        (datetime(2026, 1, 2, tzinfo=UTC), r"\$ is a datetime"),
        (Row(name="a", score=float("inf")), r"\$\.score"),
        (Point, r"\$ is a type"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place(value: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        stable_stringify(value)
    assert isinstance(caught.value, ValueError)


def test_a_value_that_is_part_of_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(UsageError, match="part of itself"):
        stable_stringify(endless)


def test_errors_tell_their_message_or_their_class() -> None:
    assert error_message(ValueError("no such row")) == "no such row"
    assert error_message(KeyError()) == "KeyError"
    assert error_message("plain") == "plain"
