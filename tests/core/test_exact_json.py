"""JSON that keeps every digit."""

from __future__ import annotations

import json
import math

import pytest

from benchwright.core import canonical_json, encode_json, exact_json, load_exact_json

VALUES = [
    10**30,
    -(2**64),
    2**63,
    {"n": 10**19, "f": 1.5, "none": None, "text": "é"},
    ["\ud800", {"key \ud800": [10**25]}],
    "12345678901234567890123",
    1234567890123456789012345.0,
]


@pytest.mark.parametrize("value", VALUES)
def test_values_come_back_as_they_were(value: object) -> None:
    for text in (exact_json(value), exact_json(value, indent=True)):
        assert load_exact_json(text) == value
        assert type(load_exact_json(text)) is type(value)
        assert json.loads(text) == value


def test_odd_numbers_are_null_also_beside_long_ones() -> None:
    assert exact_json([math.nan, 1]) == b"[null,1]"
    assert exact_json({"a": (math.inf, 10**20)}) == b'{"a":[null,100000000000000000000]}'


def test_what_json_cannot_hold_becomes_text() -> None:
    assert json.loads(exact_json({"path": b"x", "n": 10**20, "set": {2, 1}})) == {
        "path": "x",
        "n": 10**20,
        "set": [1, 2],
    }
    endless: list[object] = [10**20]
    endless.append(endless)
    assert b"100000000000000000000" in exact_json(endless)


@pytest.mark.parametrize(
    "key", [(1, 2), (("a",), ()), b"x", 1j, frozenset({1}), 10**30, "\ud800", None, True]
)
def test_a_key_of_any_kind_becomes_text(key: object) -> None:
    """What a model writes as a Python dict is recorded, whatever its keys are."""
    for write in (exact_json, encode_json, canonical_json):
        found = json.loads(write([{"inner": {key: [1]}}]))
        assert [*found[0]["inner"].values()] == [[1]]


def test_what_is_no_json_is_refused() -> None:
    for text in (b"", b"{", b"1234567890123456789012 x"):
        with pytest.raises(ValueError, match=r"char|column"):
            load_exact_json(text)
