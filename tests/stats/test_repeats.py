"""pass@k and its kin against values worked out by hand and by counting every draw."""

from __future__ import annotations

import doctest
from itertools import combinations, product

import pytest

from benchwright.stats import RepeatTally, _repeats, all_of_k, consensus_at_k, pass_at_k, wilson_interval


def test_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(_repeats).failed == 0


@pytest.mark.parametrize("n", range(1, 7))
def test_pass_at_k_is_the_share_of_draws_with_a_right_reply(n: int) -> None:
    for right, k in product(range(n + 1), range(1, n + 1)):
        replies = [True] * right + [False] * (n - right)
        draws = list(combinations(replies, k))
        assert pass_at_k(n, right, k) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-15)


@pytest.mark.parametrize("n", range(1, 7))
def test_consensus_at_k_is_the_share_of_draws_with_a_majority(n: int) -> None:
    for right, k in product(range(n + 1), range(1, n + 1)):
        replies = [True] * right + [False] * (n - right)
        draws = list(combinations(replies, k))
        expected = sum(1 if 2 * sum(draw) > k else 0.5 * (2 * sum(draw) == k) for draw in draws) / len(draws)
        assert consensus_at_k(n, right, k) == pytest.approx(expected, abs=1e-15)
        assert consensus_at_k(n, right, k) <= pass_at_k(n, right, k) + 1e-15


@pytest.mark.parametrize("n", range(1, 8))
def test_all_of_k_is_the_share_of_draws_without_a_wrong_reply(n: int) -> None:
    for right, k in product(range(n + 1), range(1, n + 1)):
        replies = [True] * right + [False] * (n - right)
        draws = list(combinations(replies, k))
        assert all_of_k(n, right, k) == pytest.approx(sum(map(all, draws)) / len(draws), abs=1e-15)
        assert all_of_k(n, right, k) <= consensus_at_k(n, right, k) + 1e-15
        assert all_of_k(n, right, 1) == pytest.approx(pass_at_k(n, right, 1), abs=1e-15)


def test_every_k_is_the_mean_over_all_draws_of_all_rows() -> None:
    rows: list[list[object]] = [
        [1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0],
        [1, 0, 1, 1, 1],
        [0, 1, 0, 0, 0],
    ]
    found = filled(rows).summaries("correct", [1, 3, 5], 5)
    kinds = {"pass@": any, "pass^": all, "cons@": lambda draw: 2 * sum(draw) > len(draw)}
    for (beginning, kind), k in product(kinds.items(), (1, 3, 5)):
        shares = []
        for replies in rows:
            draws = list(combinations(map(bool, replies), k))
            shares.append(sum(map(bool, map(kind, draws))) / len(draws))
        assert found[f"{beginning}{k}"].value == pytest.approx(sum(shares) / len(shares), abs=1e-12), (
            beginning,
            k,
        )
    assert list(found) == [
        "avg@5", "pass@1", "pass@3", "pass@5", "pass^1", "pass^3", "pass^5", "cons@1", "cons@3", "cons@5"
    ]  # fmt: skip


@pytest.mark.parametrize(("n", "right", "k"), [(3, 1, 0), (3, 1, 4), (3, 4, 1), (3, -1, 1)])
def test_impossible_counts_are_refused(n: int, right: int, k: int) -> None:
    with pytest.raises(ValueError, match="expected 0 < k ≤ n"):
        pass_at_k(n, right, k)
    with pytest.raises(ValueError, match="expected 0 < k ≤ n"):
        consensus_at_k(n, right, k)
    with pytest.raises(ValueError, match="expected 0 < k ≤ n"):
        all_of_k(n, right, k)


def filled(rows: list[list[object]]) -> RepeatTally:
    """Rows of replies: a value of `correct`, or None for one that failed."""
    tally = RepeatTally()
    for number, replies in enumerate(rows):
        for reply in replies:
            if reply is None:
                tally.add_failure(number)
            else:
                tally.add(number, {"correct": reply, "label": "x", "words": 2.5})
    return tally


def test_rows_are_averaged_not_replies() -> None:
    tally = filled([[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]])
    found = tally.summaries("correct", [2], 4)
    means = {name: figure.value for name, figure in found.items()}
    # By hand: pass@2 of 1 in 4 is 1 - 3/6, of 3 in 4 is 1 - 0; cons@2 of 1 in 4 is half of the 3 draws in 6 that tie.
    assert means.pop("pass^2") == pytest.approx(1 / 6)  # 3 of 4 right: 3 draws in 6
    assert means == {
        "avg@4": pytest.approx(1 / 3),
        "pass@2": pytest.approx(0.5),
        "cons@2": pytest.approx(1 / 3),
    }
    assert tally.metrics() == ["correct"]
    majority = found["cons@2"]
    assert (majority.ci_low, majority.ci_high) == pytest.approx(wilson_interval(1, 3))
    assert (majority.count, majority.interval) == (3, "clustered")


def test_failed_replies_are_left_out_or_wrong() -> None:
    found = filled([[1, None, None], [1, 1, None], [None, None, None], [0, 0, 1]]).summaries(
        "correct", [2], 3
    )
    scored = {name: (figure.value, figure.count) for name, figure in found.items()}
    # avg: 1/1, 2/2, -, 1/3; pass@2 needs two replies: -, 1, -, 1 - C(2,2)/C(3,2).
    assert scored["avg@3"] == (pytest.approx((1 + 1 + 1 / 3) / 3), 3)
    assert scored["pass@2"] == (pytest.approx((1 + 2 / 3) / 2), 2)
    wrong = found["pass@2"]
    assert (wrong.with_failures, wrong.with_failures_count) == (pytest.approx((2 / 3 + 1 + 0 + 2 / 3) / 4), 4)


def test_other_values_end_a_metric_for_good() -> None:
    tally = RepeatTally()
    tally.add(0, {"f1": 1.0, "correct": 1})
    tally.add(0, {"f1": 0.5, "correct": 0})
    tally.add(1, {"f1": 1.0, "correct": 1})
    assert tally.metrics() == ["correct"]


def test_a_metric_that_some_replies_lack_has_no_second_figure() -> None:
    tally = RepeatTally()
    tally.add(0, {"correct": 1, "hard": 1})
    tally.add(0, {"correct": 1})
    tally.add_failure(1)
    assert tally.summaries("hard", [1])["avg@1"].with_failures is None
    assert tally.summaries("correct", [1])["avg@1"].with_failures == 0.5


def test_memory_does_not_grow_with_the_rows() -> None:
    tally = RepeatTally()
    for row in range(2000):
        for repeat in range(4):
            tally.add(row, {"correct": (row + repeat) % 3 == 0})
    assert tally.metrics() == ["correct"]
    assert len(tally._rows["correct"]) <= 3


def test_nothing_scored_gives_nothing() -> None:
    tally = RepeatTally()
    tally.add_failure(0)
    assert tally.metrics() == []


def voted(rows: list[list[tuple[str | None, bool] | None]]) -> RepeatTally:
    """Rows of replies: the answer and whether it is right, or None for one that failed."""
    tally = RepeatTally()
    for number, replies in enumerate(rows):
        for reply in replies:
            if reply is None:
                tally.add_failure(number)
            else:
                tally.add(number, {"correct": reply[1], "extracted": reply[0]})
    return tally


def test_the_most_common_answer_decides_although_it_has_no_majority() -> None:
    wrong = [("B", False), ("C", False), ("D", False)]
    tally = voted(
        [
            [("A", True), ("A", True), *wrong],  # two of five, and no other answer has two
            [("A", True), ("B", False), ("B", False), (None, False), (None, False)],
            [("A", True), ("A", True), ("B", False), ("B", False), (None, False)],  # a tie
            [(None, False)] * 5,
        ]
    )
    found = tally.summaries("correct", [5])
    assert found["maj@5"].value == pytest.approx((1 + 0 + 0.5 + 0) / 4)
    assert found["cons@5"].value == 0.0
    agreement = found["agree@5"]
    assert (agreement.count, agreement.value) == (3, pytest.approx((2 / 5 + 2 / 3 + 1 / 2) / 3))


def test_failed_replies_have_no_vote_and_a_row_without_replies_is_wrong() -> None:
    found = voted([[("A", True), None], [None, None]]).summaries("correct", [2])["maj@2"]
    assert (found.value, found.with_failures) == (1.0, 0.5)


def test_scorers_without_answers_have_no_vote() -> None:
    tally = filled([[1, 0], [1, 1]])
    assert tally.summaries("correct", [2]).keys() == {"avg@2", "pass@2", "pass^2", "cons@2"}
