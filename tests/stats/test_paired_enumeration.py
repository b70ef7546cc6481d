"""Paired tests against an enumeration of all sign patterns in exact fractions: ties, float noise, scales, directions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from benchwright.stats import LimitTest, PairedResult
from benchwright.stats._paired import mcnemar_exact, wilcoxon_signed_rank


def enumerated(differences: list[Fraction]) -> float:
    """p of the signed-rank test by its definition: mid-ranks of the sizes, zeros left out, every pattern of signs."""
    kept = [d for d in differences if d]
    sizes = sorted(map(abs, kept))
    ranks = [
        Fraction(sum(2 * (i + 1) for i, size in enumerate(sizes) if size == abs(d)), 2 * sizes.count(abs(d)))
        for d in kept
    ]
    plus = sum(rank for d, rank in zip(kept, ranks, strict=True) if d > 0)
    smaller = min(plus, sum(ranks) - plus)
    patterns = [
        sum(rank for sign, rank in zip(signs, ranks, strict=True) if sign)
        for signs in product((0, 1), repeat=len(kept))
    ]
    return float(min(Fraction(1), Fraction(2 * sum(each <= smaller for each in patterns), len(patterns))))


def as_floats(values: list[Fraction], dice: Random, scale: float) -> float:
    """The mean of repeats as floats give it, summed in some order."""
    dice.shuffle(values)
    return sum(float(value) * scale for value in values) / len(values)


GRADES = [Fraction(k, of) for of in (1, 2, 3, 5, 7, 10) for k in range(of + 1)]


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(
        st.tuples(*[st.lists(st.sampled_from(GRADES), min_size=1, max_size=3)] * 2), min_size=1, max_size=9
    ),
    seed=st.integers(0, 99),
    scale=st.sampled_from([1.0, 100.0, 1e-7, 1e6]),
)
def test_every_figure_of_a_comparison_is_that_of_exact_fractions(
    rows: list[tuple[list[Fraction], list[Fraction]]], seed: int, scale: float
) -> None:
    dice = Random(seed)
    exact = [sum(b, Fraction()) / len(b) - sum(a, Fraction()) / len(a) for a, b in rows]
    a, b = ([as_floats(list(row[side]), dice, scale) for row in rows] for side in (0, 1))
    found = PairedResult.of(a, b, share=False)
    wins, losses = sum(d > 0 for d in exact), sum(d < 0 for d in exact)
    assert (found.wins, found.losses, found.ties) == (wins, losses, len(rows) - wins - losses)
    assert found.p_value == pytest.approx(enumerated(exact), rel=1e-12)
    if found.test == "mcnemar":
        assert found.p_value == mcnemar_exact(wins, losses)
    assert found.difference == pytest.approx(float(sum(exact)) * scale / len(rows), abs=1e-12 * scale)
    back = PairedResult.of(b, a, share=False)
    assert (back.p_value, back.wins, back.losses) == (found.p_value, losses, wins)
    assert back.leaning == -found.leaning
    assert (found.turned().wins, found.turned().losses) == (losses, wins)


def test_equal_means_of_repeats_in_another_order_are_ties() -> None:
    a, b = (0.2 + 0.4 + 0.6) / 3, (0.6 + 0.4 + 0.2) / 3  # `sum` hides it from Python 3.12 on
    assert a != b, "else nothing is tested here"
    found = PairedResult.of([a] * 24, [b] * 24)
    assert (found.wins, found.losses, found.ties, found.p_value, found.difference) == (0, 0, 24, 1.0, 0.0)
    gained = LimitTest.of_gain([a] * 24, [b] * 24, 0.0, level=0.95, lower_is_better=False, share=True)
    assert (gained.value, gained.p_missed) == (0.0, 0.5)


def test_grades_that_differ_by_one_step_have_one_rank() -> None:
    grades = [k / 10 for k in range(10)]
    steps = [1] * 12 + [-1] * 7 + [0] * 11
    a = [grades[1 + at % 8] for at in range(30)]
    b = [value + step * 0.1 for value, step in zip(a, steps, strict=True)]
    assert (
        PairedResult.of(a, b).p_value == pytest.approx(mcnemar_exact(12, 7)) == pytest.approx(0.359, abs=5e-4)
    )


def test_a_difference_next_to_nothing_counts_where_scores_are_that_small() -> None:
    assert PairedResult.of([1e-12] * 6, [2e-12] * 6, share=False).wins == 6
    assert PairedResult.of([0.0] * 6, [0.1 + 0.2 - 0.3] * 5 + [1.0], share=False).wins == 1
    assert PairedResult.of([1.0] * 6, [1.0 + 1e-8] * 6, share=False).wins == 6
    assert PairedResult.of([1e9, 1.0], [1e9, 1.001], share=False).wins == 1


@pytest.mark.parametrize("sizes", [range(1, 161), [k // 4 for k in range(4, 164)], [1] * 160])
def test_many_differences_agree_with_the_normal_approximation(sizes: list[int]) -> None:
    dice = Random(4)
    values = [size * dice.choice((-1, 1, 1)) for size in sizes]
    exact = wilcoxon_signed_rank(values)
    more = wilcoxon_signed_rank(values * 9)  # beyond what is counted
    assert 0 < more < exact < 0.05


def test_a_tolerance_makes_ties_of_small_differences() -> None:
    a, b = [0.5] * 12, [0.55] * 9 + [0.4] * 3
    found = PairedResult.of(a, b, tolerance=0.05)
    assert (found.wins, found.losses, found.ties) == (0, 3, 9)
    assert found.p_value == 0.25
    assert PairedResult.of([0, 1, 1], [1, 1, 0], tolerance=1).ties == 3


def test_the_mean_and_most_ranks_may_lean_apart() -> None:
    found = PairedResult.of([0.5] * 21, [0.51] * 20 + [0.0])
    assert found.difference < 0 < found.leaning
