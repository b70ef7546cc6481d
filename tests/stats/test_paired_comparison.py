"""Paired tests and intervals, against published values and their own definitions."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from benchwright.stats import PairedResult
from benchwright.stats._paired import mcnemar_exact, wilcoxon_signed_rank


def test_mcnemar_counts_only_the_pairs_that_differ() -> None:
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(5, 5) == 1.0
    assert mcnemar_exact(0, 5) == pytest.approx(0.0625)
    # Agresti's example of approval ratings: 150 against 86 changed their minds.
    assert mcnemar_exact(150, 86) == pytest.approx(3.7e-5, rel=0.05)


def test_mcnemar_large_counts_agree_with_the_exact_sum() -> None:
    exact = mcnemar_exact(1_040, 959)
    approximate = mcnemar_exact(1_041, 960)  # one pair more: beyond the limit
    assert approximate == pytest.approx(exact, rel=0.05)


def test_wilcoxon_published_example() -> None:
    # Darwin's plant heights in eighths of an inch, fifteen pairs; p = 0.0413 with ties, by the normal approximation.
    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert wilcoxon_signed_rank(darwin) == pytest.approx(0.04126, abs=1e-4)


@pytest.mark.parametrize("n", [1, 3, 6, 9])
def test_wilcoxon_exact_counts_every_sign_pattern(n: int) -> None:
    values = [float(k) for k in range(1, n + 1)]
    observed = [v if k % 3 else -v for k, v in enumerate(values)]

    def smaller(signs: tuple[int, ...]) -> float:
        plus = sum(v for v, s in zip(values, signs, strict=True) if s)
        return min(plus, sum(values) - plus)

    seen = smaller(tuple(int(v > 0) for v in observed))
    patterns = list(product((0, 1), repeat=n))
    plus_tail = sum(1 for p in patterns if sum(v for v, s in zip(values, p, strict=True) if s) <= seen)
    assert wilcoxon_signed_rank(observed) == pytest.approx(min(1.0, 2 * plus_tail / len(patterns)))


def test_equal_sides_have_no_difference_and_are_not_certain() -> None:
    result = PairedResult.of([0.5, 0.25, 1.0], [0.5, 0.25, 1.0])
    assert (result.difference, result.p_value, result.ties) == (0.0, 1.0, 3)
    assert result.interval == "score"
    assert result.ci_high == -result.ci_low > 0.5  # type: ignore[operator]


def test_tangos_interval_matches_his_example() -> None:
    # Tango, Statistics in Medicine 17 (1998): 12 and 2 discordant pairs of 50.
    a, b = [0] * 12 + [1] * 2 + [1] * 36, [1] * 12 + [0] * 2 + [1] * 36
    result = PairedResult.of(a, b)
    assert (result.ci_low, result.ci_high) == (
        pytest.approx(0.0611, abs=1e-4),
        pytest.approx(0.3447, abs=1e-4),
    )
    assert result.interval == "score"


def test_six_losses_in_six_pairs_are_not_certain() -> None:
    result = PairedResult.of([1] * 6, [0] * 6)
    assert result.ci_low == -1.0
    assert -0.5 < result.ci_high < 0  # type: ignore[operator]


def test_graded_differences_repeat_and_cover_the_difference() -> None:
    a = [((k * 37) % 101) / 100 for k in range(200)]
    b = [min(1.0, v + ((k * 17) % 13) / 100) for k, v in enumerate(a)]
    first, again = PairedResult.of(a, b), PairedResult.of(a, b)
    assert first == again
    assert first.ci_low < first.difference < first.ci_high  # type: ignore[operator]
    assert (first.test, first.interval) == ("wilcoxon", "normal")
    assert first.significant


def test_pairs_beyond_0_to_1_need_twenty_rows_and_fifteen_that_differ() -> None:
    assert PairedResult.of([1.0, 5.0] * 9, [2.0, 7.0] * 9).interval == "none"
    assert PairedResult.of([5.0] * 100, [5.0] * 95 + [9.0] * 5).interval == "none"
    assert PairedResult.of([5.0] * 30, [7.0] * 30).ci_low is not None


def test_many_pairs_are_quick_and_narrow() -> None:
    a = [k % 2 for k in range(20_000)]
    b = [1 if k % 2 or k % 40 == 0 else 0 for k in range(20_000)]
    result = PairedResult.of(a, b)
    assert result.difference == pytest.approx(0.025)
    assert result.ci_low == pytest.approx(0.025 - 1.96 * (0.025 * 0.975 / 19_999) ** 0.5, rel=1e-2)


def test_sides_must_pair() -> None:
    with pytest.raises(ValueError, match="different length"):
        PairedResult.of([1], [1, 2])
    with pytest.raises(ValueError, match="no pairs"):
        PairedResult.of([], [])


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1])), min_size=1, max_size=40))
def test_swapping_the_sides_mirrors_the_result(pairs: list[tuple[int, int]]) -> None:
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    there, back = PairedResult.of(a, b), PairedResult.of(b, a)
    assert there.difference == pytest.approx(-back.difference)
    assert there.p_value == back.p_value
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert 0 <= there.p_value <= 1
