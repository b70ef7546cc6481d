"""What indexes say of samples is the same whether records are decoded together or one by one."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st

from benchwright.store import SampleOrder
from benchwright.store._index_entries import index_entries
from benchwright.store._sample_filters import facet_and_values, reply_values

NUMBERS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-1, 1) | st.just("text") | st.just([1])
SCORES = st.none() | st.dictionaries(
    st.sampled_from(["correct", "acc", "f1", "exact", "a.b", "größe", ""]), NUMBERS
)
DAMAGED = [b"", b"{", b"1,2", b"[]", b"null", b'{"o":"scored","t":"\xff","s":{"correct":true}}', b'{"t":"\\ud800","o":"x"}',
           b'{"o":1}', b'{"o":"scored","s":{"correct":1e400}}', b"[" * 3000 + b"]" * 3000]  # fmt: skip
RECORDS = st.sampled_from(DAMAGED) | st.fixed_dictionaries(
    {"o": st.sampled_from(["scored", "unparsed"])},
    optional={
        "s": SCORES,
        "e": st.none() | st.just("why"),
        "t": st.just("ä"),
        "u": st.none() | st.lists(st.none() | st.integers(0, 9), max_size=3),
    },
).map(orjson.dumps)
REPLIES = (
    st.none()
    | st.sampled_from(DAMAGED)
    | st.fixed_dictionaries(
        {}, optional={"l": NUMBERS, "u": st.none() | st.lists(NUMBERS, max_size=3), "t": st.just("ü")}
    ).map(orjson.dumps)
)


@given(st.lists(RECORDS, max_size=8), st.sampled_from(["f1", "correct", "a.b", "größe", "", "x y"]))
def test_facets_and_metrics_together_are_those_one_by_one(records: list[bytes], name: str) -> None:
    one_by_one = [(facet, values.get(name)) for facet, values in map(facet_and_values, records)]
    assert list(index_entries(records, name)) == one_by_one
    assert [facet for facet, _ in index_entries(records, None)] == [facet for facet, _ in one_by_one]


@pytest.mark.parametrize("figure", SampleOrder.figures)
@given(samples=st.lists(st.tuples(RECORDS, REPLIES), max_size=8))
def test_figures_of_replies_together_are_those_one_by_one(
    figure: str, samples: list[tuple[Any, Any]]
) -> None:
    name = SampleOrder(figure).indexed_as or ""
    records, replies = [one for one, _ in samples], [other for _, other in samples]
    found = [value for _, value in index_entries(records, name, replies)]
    assert found == [reply_values(record, reply).get(name) for record, reply in samples]
