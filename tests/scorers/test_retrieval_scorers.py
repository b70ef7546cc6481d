"""retrieval_metrics as documented, and the variant that counts an item once."""

from __future__ import annotations

from math import log2
from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchwright.core import BenchmarkError
from benchwright.scorers import ScorerInput, retrieval_metrics, retrieval_metrics_dedup

ZEROS = (0.0, 0.0, 0.0, 0.0)
ITEMS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8)


def measure(scorer: Any = retrieval_metrics, **row: Any) -> tuple[float, ...]:
    found = scorer(ScorerInput("", None, row))
    assert list(found) == ["precision_at_k", "recall_at_k", "mrr", "ndcg"]
    return tuple(found.values())


def test_k_defaults_to_all_that_was_retrieved() -> None:
    ndcg = (1 / log2(3) + 1 / log2(4)) / (1 + 1 / log2(3))
    assert measure(retrieved=["x", "a", "b"], relevant=["a", "b"]) == pytest.approx((2 / 3, 1.0, 0.5, ndcg))


def test_k_cuts_everything_but_mrr() -> None:
    assert measure(retrieved=["x", "y", "a"], relevant=["a"], k=2) == pytest.approx((0.0, 0.0, 1 / 3, 0.0))


def test_k_beyond_the_list_lowers_precision() -> None:
    assert measure(retrieved=["a"], relevant=["a"], k=4) == (0.25, 1.0, 1.0, 1.0)


def test_the_ideal_has_no_more_ranks_than_relevant_items() -> None:
    assert measure(retrieved=["a", "x", "y"], relevant=["a"])[3] == 1.0


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"retrieved": ["a"]},
        {"relevant": ["a"]},
        {"retrieved": [], "relevant": ["a"]},
        {"retrieved": ["a"], "relevant": []},
        {"retrieved": None, "relevant": ["a"]},
        {"retrieved": ["a"], "relevant": None},
    ],
)
def test_an_empty_or_missing_list_gives_zeros(row: dict[str, Any]) -> None:
    assert measure(**row) == ZEROS


def test_duplicates_count_each_time() -> None:
    precision, recall, mrr, ndcg = measure(retrieved=["x", "a", "a", "y"], relevant=["a", "a"])
    assert (precision, recall, mrr) == (0.5, 2.0, 0.5)
    assert ndcg == pytest.approx(1 / log2(3) + 1 / log2(4))


@pytest.mark.parametrize(("k", "recall"), [(0, 0.0), (-1, 0.5), (-2, 0.0), (-9, 0.0)])
def test_k_of_zero_or_less(k: int, recall: float) -> None:
    assert measure(retrieved=["x", "a", "b"], relevant=["a", "b"], k=k) == (0.0, recall, 0.5, 0.0)


@pytest.mark.parametrize("k", [None, "2", 2.0, [1]])
def test_k_of_a_wrong_type_raises(k: Any) -> None:
    with pytest.raises(TypeError):
        measure(retrieved=["a"], relevant=["a"], k=k)


def test_equal_numbers_are_one_item() -> None:
    assert measure(retrieved=[1, 2.0, True], relevant=[1.0, 2])[:2] == (1.0, 1.5)


@given(ITEMS, ITEMS, st.integers(1, 10))
def test_dedup_never_exceeds_one(retrieved: list[str], relevant: list[str], k: int) -> None:
    values = measure(retrieval_metrics_dedup, retrieved=retrieved, relevant=relevant, k=k)
    assert all(0 <= value <= 1 + 1e-12 for value in values)


@given(ITEMS.filter(lambda items: len(set(items)) == len(items)), ITEMS)
def test_dedup_agrees_where_nothing_is_double(retrieved: list[str], relevant: list[str]) -> None:
    row = {"retrieved": retrieved, "relevant": relevant}
    assert measure(retrieval_metrics_dedup, **row) == measure(**row)


def test_dedup_takes_no_k_for_a_missing_one_and_refuses_others() -> None:
    row = {"retrieved": ["a", "a", "b"], "relevant": ["b"]}
    assert measure(retrieval_metrics_dedup, **row, k=None) == pytest.approx((0.5, 1.0, 0.5, 1 / log2(3)))
    for k in (0, -1, 2.0, "2"):
        with pytest.raises(BenchmarkError, match='field "k"'):
            measure(retrieval_metrics_dedup, **row, k=k)
