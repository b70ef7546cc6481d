"""The record of a sample survives its stored form, pickling, and texts that JSON cannot hold."""

from __future__ import annotations

import math
import pickle
from typing import Any

import orjson
import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import fields, replace

from benchwright.core import BenchwrightError, CallRecord, Outcome, SampleRecord, step_key
from benchwright.core._sample_record import _KEYS, decode_sample

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["\0", "a\0b", "😀", "𝄞 \u202e", '"\\', "\x1b[2J", "[redacted]"]
)
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
TIMES = st.floats(0, 2e9)
BYTES = st.binary(max_size=16)


def records(values: st.SearchStrategy[Any], texts: st.SearchStrategy[str]) -> st.SearchStrategy[SampleRecord]:
    """Any record. The sample's own call, which shares the row of the score, has the times of the sample."""
    rows = values.map(lambda value: orjson.dumps(str(value).encode("utf-8", "replace").decode()))

    @st.composite
    def build(draw: st.DrawFn) -> SampleRecord:
        number, repeat = draw(st.integers(0, 10**9 - 1)), draw(st.integers(0, 9999))
        started, finished = draw(TIMES), draw(TIMES)
        own = st.builds(
            CallRecord, st.just(""), BYTES, st.none() | BYTES, BYTES, st.booleans(), st.just(started), st.just(finished)
        )  # fmt: skip
        keys = st.sampled_from(
            [step_key("call", number, repeat, "c001"), step_key("judge", number, repeat, "001")]
        )
        others = st.builds(CallRecord, keys, BYTES, st.none() | BYTES, BYTES, st.booleans(), TIMES, TIMES)
        return SampleRecord(
            number,
            repeat,
            draw(st.none() | rows),
            draw(st.sampled_from(Outcome)),
            draw(values),
            draw(st.none() | st.dictionaries(texts, values, max_size=3)),
            draw(st.none() | texts),
            draw(st.none() | texts),
            draw(st.none() | texts),
            draw(st.booleans()),
            draw(st.none() | texts),
            draw(st.none() | st.lists(st.none() | st.integers(0, 10**6), min_size=2, max_size=2)),
            draw(st.none() | st.lists(texts, max_size=3)),
            draw(st.none() | st.lists(values, max_size=3)),
            draw(st.none() | st.lists(st.booleans(), max_size=3)),
            draw(st.none() | st.lists(st.dictionaries(texts, values, max_size=2), max_size=3)),
            draw(st.booleans()),
            started,
            finished,
            (*draw(st.lists(own, max_size=1)), *draw(st.lists(others, max_size=2))),
            draw(st.none() | st.lists(st.dictionaries(texts, values, max_size=2), max_size=3)),
        )

    return build()


@given(records(JSON, TEXTS))
def test_a_record_survives_its_stored_form_and_the_way_to_another_process(record: SampleRecord) -> None:
    assert decode_sample(record.to_steps()) == record
    assert pickle.loads(pickle.dumps(record)) == record


AWKWARD_TEXTS = TEXTS | st.sampled_from(["\ud800", "a\udfff", "\udc80\ud83d"])
AWKWARD = st.recursive(
    SCALARS
    | AWKWARD_TEXTS
    | st.sampled_from([math.nan, math.inf, -math.inf, 10**40, -(2**64), b"\xff", {1, 2}]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(AWKWARD_TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)


@given(records(AWKWARD, AWKWARD_TEXTS))
@settings(max_examples=150)
def test_what_json_cannot_hold_becomes_the_nearest_that_it_can(record: SampleRecord) -> None:
    """Storing never fails; every field keeps its shape; what was stored once is stored the same ever after."""
    rows = record.to_steps()
    for row in rows:
        row[3].decode() if row[0].startswith("score/") else None  # valid UTF-8
    stored = decode_sample(rows)
    assert stored == replace(
        record,
        **{
            name: nearest(getattr(record, name))
            for name in _KEYS
            if name not in ("outcome", "redacted", "cut")
        },
    )
    assert stored.to_steps() == rows
    assert decode_sample(stored.to_steps()) == stored


def nearest(value: Any) -> Any:
    """The rule in plain words."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [nearest(item) for item in value]
    if isinstance(value, dict):
        return {nearest(key): nearest(item) for key, item in value.items()}
    return value


@given(st.lists(records(JSON, TEXTS), min_size=1, max_size=4))
@settings(max_examples=50)
def test_many_texts_give_the_fields_of_each(many: list[SampleRecord]) -> None:
    columns = SampleRecord.columns([record.score_text() for record in many])
    defaults = {field.name: None if field.required else field.default for field in fields(SampleRecord)}
    assert len(columns) == len(many)
    for name in _KEYS:
        default = defaults[name]
        values = [getattr(record, name) for record in many]
        assert columns.column(name, default) == values
        assert columns.holds(name) or not any(values)
        assert columns.or_else(name, values) == values


def test_a_plain_sample_stays_small() -> None:
    record = SampleRecord(12, 0, b"{}", Outcome.SCORED, "42", {"correct": True})
    ((key, *_, text, _, _, _, _, _, _),) = record.to_steps()
    assert (key, text) == ("score/000000012/0000", b'{"o":"scored","t":"42","s":{"correct":true}}')


def test_every_field_of_the_text_is_a_field_of_the_record() -> None:
    assert set(_KEYS) < set(SampleRecord.__struct_fields__)
    assert len(set(_KEYS.values())) == len(_KEYS)


def test_the_outcome_of_a_newer_version_is_named() -> None:
    with pytest.raises(BenchwrightError, match=r"outcome 'postponed'.*newer benchwright.*upgrade"):
        SampleRecord.from_score(b'{"o":"postponed","t":null}')
