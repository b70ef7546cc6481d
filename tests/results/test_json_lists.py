"""Many JSON values in one call: the same as one by one, or None where that cannot be told."""

from __future__ import annotations

from itertools import product
from typing import Any

import orjson
from hypothesis import example, given, strategies as st

from benchwright.core import load_each
from benchwright.results._sample_columns import dump_each, load_strings

TEXTS = st.one_of(st.text(max_size=8), st.text('\0",\\u[]{}: \n', max_size=8))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-99, 99), st.floats(0, 1), TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@given(st.lists(st.one_of(st.none(), OBJECTS), max_size=8))
@example([{"a": ["x", "\0", "y"]}, None, {"\0": "\0"}, {}])
def test_objects_are_written_and_read_as_one_by_one(objects: list[dict[str, Any] | None]) -> None:
    texts = dump_each(objects)
    assert texts == [None if one is None else orjson.dumps(one) for one in objects]
    written = [text for text in texts if text is not None]
    assert load_each(written) == [orjson.loads(text) for text in written]


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_strings_as_we_write_them_are_read(texts: list[str]) -> None:
    assert load_strings([orjson.dumps(text) for text in texts]) == texts


ODD = [
    '"a","b"',
    '"a',
    'b"',
    '"',
    '""',
    '"\\"',
    '\\"',
    "",
    " ",
    "1",
    "null",
    "[",
    "]",
    '["a"]',
    '"a"]',
    '"a" ',
    ' "a"',
]
ODD += [
    '"\\/"',
    '"\\u00e9"',
    '"\\u0041"',
    '"a","\\u0000","b"',
    ',"\\u0000",',
    '"x,',
    ',"',
    '"\\u0000',
    '\\u0000"',
    ",",
]


@given(
    st.lists(st.one_of(st.sampled_from(ODD), TEXTS.map(lambda text: orjson.dumps(text).decode())), min_size=1)
)
def test_no_mixture_of_anything_else_passes_for_strings(encoded: list[str]) -> None:
    def string_in(text: str) -> str | None:
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return None
        return value if isinstance(value, str) and orjson.dumps(value).decode() == text else None

    one_by_one = [string_in(text) for text in encoded]
    expected = None if None in one_by_one else one_by_one
    assert load_strings([text.encode() for text in encoded]) == expected


def test_no_two_wrongs_make_a_right() -> None:
    for first, second in product(ODD, ODD):
        assert (load_strings([first.encode(), second.encode()]) is not None) == ({first, second} == {'""'})
