"""Which rows a plan asks, how often and in which order, and the lengths it gives them."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from random import Random
from statistics import fmean, median, stdev
from typing import Any

import pytest

from benchwright.datasets import Sampling
from benchwright.datasets._lengths import (
    LENGTH_METHODS,
    ColumnLengths,
    FixedLength,
    LengthShares,
    LogNormalLengths,
    NormalLengths,
    UniformLengths,
    ZipfLengths,
)
from benchwright.datasets._sampling import output_lengths, sample_indexes

HALF_THIRD_FIFTH = LengthShares(((100, Fraction("0.5")), (200, Fraction("0.3")), (400, Fraction("0.2"))))
MOSTLY_LONG = LengthShares(((10, Fraction("0.29")), (20, Fraction("0.71"))))


def blocked(lengths: LengthShares) -> LengthShares:
    return LengthShares(lengths.shares, "blocked")


def test_default_repeats_the_rows_in_their_order() -> None:
    assert list(sample_indexes(Sampling(request_count=7), 3)) == [0, 1, 2, 0, 1, 2, 0]


def test_default_with_fewer_requests_than_rows_takes_the_first() -> None:
    assert list(sample_indexes(Sampling(request_count=2), 3)) == [0, 1]


def test_without_a_count_there_are_as_many_requests_as_rows() -> None:
    assert list(sample_indexes(Sampling(), 3)) == [0, 1, 2]


def test_compatible_shuffle_never_reaches_rows_beyond_the_count() -> None:
    for seed in range(30):
        plan = sample_indexes(Sampling(request_count=2, sampling_mode="shuffle", compat=True, seed=seed), 3)
        assert sorted(plan) == [0, 1]


def test_shuffle_reaches_every_row_before_it_is_cut() -> None:
    seen = {
        place
        for seed in range(30)
        for place in sample_indexes(Sampling(request_count=2, sampling_mode="shuffle", seed=seed), 3)
    }
    assert seen == {0, 1, 2}


@pytest.mark.parametrize("mode", ["shuffle", "random"])
@pytest.mark.parametrize("compat", [False, True])
def test_more_requests_than_rows_give_the_surplus_to_the_first_rows(mode: str, compat: bool) -> None:
    plan = sample_indexes(Sampling(request_count=7, sampling_mode=mode, compat=compat), 3)  # type: ignore[arg-type]
    assert Counter(plan) == {0: 3, 1: 2, 2: 2}
    assert list(plan) != [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("mode", ["shuffle", "random"])
def test_fewer_requests_than_rows_take_no_row_twice(mode: str) -> None:
    plan = sample_indexes(Sampling(request_count=40, sampling_mode=mode), 100)  # type: ignore[arg-type]
    assert len(set(plan)) == 40
    assert max(plan) > 50


def test_with_replacement_rows_come_by_chance() -> None:
    plan = sample_indexes(Sampling(request_count=3000, sampling_mode="random_with_replacement"), 3)
    counts = Counter(plan)
    assert all(900 < counts[row] < 1100 for row in range(3))
    assert len(set(counts.values())) > 1  # a permutation would have 1000 of each


@pytest.mark.parametrize("mode", ["default", "shuffle", "random", "random_with_replacement"])
def test_no_rows_give_no_requests(mode: str) -> None:
    assert list(sample_indexes(Sampling(request_count=5, sampling_mode=mode), 0)) == []  # type: ignore[arg-type]


def test_the_seed_decides_and_has_a_default() -> None:
    def plan(seed: int = 42) -> list[int]:
        return list(sample_indexes(Sampling(request_count=20, sampling_mode="random", seed=seed), 100))

    without_one = sample_indexes(Sampling(request_count=20, sampling_mode="random"), 100)
    assert list(without_one) == plan() == plan()
    assert plan() != plan(seed=43)


@pytest.mark.parametrize(
    ("count", "compat", "planned"),
    [(10, False, (5, 3, 2)), (10, True, (5, 3, 2)), (7, True, (3, 2, 2)), (7, False, (4, 2, 1))],
)
def test_shares_of_requests(count: int, compat: bool, planned: tuple[int, int, int]) -> None:
    lengths = output_lengths(Sampling(lengths=HALF_THIRD_FIFTH, compat=compat), count)
    assert lengths is not None
    counts = Counter(lengths)
    assert (counts[100], counts[200], counts[400]) == planned


@pytest.mark.parametrize(("compat", "planned"), [(False, 29), (True, 28)])
def test_shares_are_exact_unless_binary_fractions_are_asked_for(compat: bool, planned: int) -> None:
    lengths = output_lengths(Sampling(lengths=MOSTLY_LONG, compat=compat), 100)
    assert lengths is not None
    assert lengths.count(10) == planned
    assert len(lengths) == 100


def test_blocked_lengths_come_as_they_are_written() -> None:
    lengths = output_lengths(Sampling(lengths=blocked(HALF_THIRD_FIFTH)), 10)
    assert lengths == [100] * 5 + [200] * 3 + [400] * 2


def test_shuffled_lengths_are_the_same_ones_mixed() -> None:
    mixed = output_lengths(Sampling(lengths=HALF_THIRD_FIFTH), 1000)
    in_blocks = output_lengths(Sampling(lengths=blocked(HALF_THIRD_FIFTH)), 1000)
    assert mixed is not None
    assert in_blocks is not None
    assert mixed != in_blocks
    assert sorted(mixed) == in_blocks
    assert 0.4 < mixed[:500].count(100) / 500 < 0.6


def test_one_request_goes_to_the_largest_share() -> None:
    assert output_lengths(Sampling(lengths=MOSTLY_LONG), 1) == [20]


def test_uniform_lengths_include_both_ends() -> None:
    lengths = output_lengths(Sampling(lengths=UniformLengths(3, 5)), 600)
    assert lengths is not None
    assert set(lengths) == {3, 4, 5}
    assert all(150 < count < 250 for count in Counter(lengths).values())


def test_fixed_lengths_are_all_the_same() -> None:
    assert output_lengths(Sampling(lengths=FixedLength(9)), 3) == [9, 9, 9]


def test_normal_lengths_have_their_mean_and_deviation() -> None:
    lengths = output_lengths(Sampling(lengths=NormalLengths(500, 50)), 4000)
    assert lengths is not None
    assert abs(fmean(lengths) - 500) < 4
    assert abs(stdev(lengths) - 50) < 3


def test_lognormal_lengths_have_their_mean_and_lean_to_the_short_side() -> None:
    lengths = output_lengths(Sampling(lengths=LogNormalLengths(300, 200)), 8000)
    assert lengths is not None
    assert abs(fmean(lengths) - 300) < 12
    assert median(lengths) < 270
    assert min(lengths) >= 1


def test_lengths_keep_to_their_ends_without_piling_up_there() -> None:
    lengths = output_lengths(Sampling(lengths=NormalLengths(100, 1000, 90, 110)), 2100)
    assert lengths is not None
    assert set(lengths) == set(range(90, 111))
    assert all(60 < count < 145 for count in Counter(lengths).values())


def test_zipf_lengths_fall_by_rank() -> None:
    lengths = output_lengths(Sampling(lengths=ZipfLengths(1.0, 16, 18)), 11_000)
    assert lengths is not None
    counts = Counter(lengths)
    # Weights 1, 1/2 and 1/3 of 11/6 together.
    assert counts[16] == pytest.approx(6000, rel=0.05)
    assert counts[17] == pytest.approx(3000, rel=0.07)
    assert counts[18] == pytest.approx(2000, rel=0.1)


def test_no_lengths_are_drawn_where_the_rows_have_them() -> None:
    assert output_lengths(Sampling(lengths=ColumnLengths("length")), 5) is None
    assert output_lengths(Sampling(), 5) is None


def test_lengths_do_not_depend_on_how_rows_are_chosen() -> None:
    one = output_lengths(Sampling(lengths=UniformLengths(1, 99)), 50)
    other = output_lengths(Sampling(lengths=UniformLengths(1, 99), sampling_mode="random"), 50)
    assert one == other


@pytest.mark.parametrize("method", LENGTH_METHODS)
def test_a_record_names_the_law_of_its_lengths(method: str) -> None:
    given: dict[str, Any] = {
        "value": 5, "min_value": 2, "max_value": 9, "mean": 5.0, "stddev": 2.0, "alpha": 1.5, "column": "n",
        "shares": ((5, Fraction(1)),), "order": "blocked",
    }  # fmt: skip
    law = LENGTH_METHODS[method]
    lengths = law(**{name: given[name] for name in law.__struct_fields__})
    recorded = Sampling(lengths=lengths).to_json()
    assert json.dumps(recorded).count(f'"method": "{method}"') == 1
    drawn = lengths.draw(20, Random(1), compat=False)
    assert (drawn is None) == (lengths.shortest is None) == (method == "column")
    assert drawn is None or min(drawn) >= (lengths.shortest or 0)
