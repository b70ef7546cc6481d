"""All metrics of a run: which keys are averaged, and what failures do to them."""

from __future__ import annotations

import math
from enum import IntEnum

import pytest
from hypothesis import given, strategies as st

from benchwright.stats import Aggregator, wilson_interval
from benchwright.stats._accumulator import ScoreAccumulator


def test_bools_and_numbers_are_averaged_texts_and_none_are_not() -> None:
    scores = Aggregator()
    scores.add(0, {"correct": True, "f1": 0.5, "n": 3, "grade": "C", "extra": None, "list": [1]})
    scores.add(1, {"correct": False, "f1": 1.0, "n": 4, "grade": "I", "extra": 0.25})
    found = scores.summaries()
    assert list(found) == ["correct", "extra", "f1", "n"], "sorted by name"
    assert (found["correct"].value, found["f1"].value, found["n"].value) == (0.5, 0.75, 3.5)
    assert found["extra"].count == 1


def test_dynamic_keys_are_averaged_over_the_rows_that_emit_them() -> None:
    scores = Aggregator()
    for index, category in enumerate(["bio", "law", "bio", "bio"]):
        scores.add(index, {"correct": index > 0, f"correct_{category}": index > 0})
    found = scores.summaries()
    assert found["correct_bio"].count == 3
    assert found["correct_bio"].value == 2 / 3
    assert found["correct_law"].value == 1.0


@pytest.mark.parametrize("at_once", [False, True])
def test_a_sample_that_emits_nothing_is_neither_scored_nor_failed(at_once: bool) -> None:
    scores, given = Aggregator(), [{"correct": 1}, {}, None, {"correct": 1}]
    if at_once:
        scores.add_all(range(4), given)
        scores.add_all([4, 5], [{}, {}])
    else:
        for index, one in enumerate([*given, {}, {}]):
            scores.add_failure(index) if one is None else scores.add(index, one)
    assert (scores.scored, scores.failed) == (2, 1)
    assert scores.summaries_with_failures_as_wrong()["correct"].value == pytest.approx(2 / 3)


def test_no_scores_give_no_metrics() -> None:
    scores = Aggregator()
    assert scores.summaries() == {}
    scores.add_failure(0)
    scores.add(1, {})
    assert scores.summaries() == scores.summaries_with_failures_as_wrong() == {}
    assert (scores.scored, scores.failed) == (0, 1)


def test_failures_as_wrong_count_as_zero() -> None:
    scores = Aggregator()
    scores.add_failure(0)
    scores.add(1, {"correct": True})
    scores.add_failure(2)
    scores.add(3, {"correct": True})
    without, with_failures = scores.summaries(), scores.summaries_with_failures_as_wrong()
    assert (without["correct"].value, without["correct"].count) == (1.0, 2)
    assert (with_failures["correct"].value, with_failures["correct"].count) == (0.5, 4)
    assert (with_failures["correct"].ci_low, with_failures["correct"].ci_high) == wilson_interval(2, 4)


def test_without_failures_both_tables_agree() -> None:
    scores = Aggregator()
    scores.add(0, {"correct": True, "f1": 0.3})
    scores.add(1, {"correct": False, "f1": 0.4})
    assert scores.summaries_with_failures_as_wrong() == scores.summaries()


def test_failures_are_not_added_to_metrics_that_only_some_samples_emit() -> None:
    scores = Aggregator()
    scores.add(0, {"correct": True, "correct_bio": True})
    scores.add_failure(1)
    scores.add(2, {"correct": True, "correct_law": False})
    assert list(scores.summaries()) == ["correct", "correct_bio", "correct_law"]
    assert list(scores.summaries_with_failures_as_wrong()) == ["correct"]


def test_a_value_that_is_missing_once_makes_the_metric_partial() -> None:
    scores = Aggregator()
    scores.add_failure(0)
    scores.add(1, {"correct": True, "f1": 0.5})
    scores.add(2, {"correct": True, "f1": None})
    assert list(scores.summaries_with_failures_as_wrong()) == ["correct"]


def test_a_failed_repeat_belongs_to_its_sample() -> None:
    scores = Aggregator()
    for index in range(3):
        scores.add(index, {"correct": True})
        if index == 1:
            scores.add_failure(index)
        else:
            scores.add(index, {"correct": index == 0})
    expected = ScoreAccumulator()
    for value, cluster in [(1, 0), (1, 0), (1, 1), (0, 1), (1, 2), (0, 2)]:
        expected.add(value, cluster)
    found = scores.summaries_with_failures_as_wrong()["correct"]
    assert found == expected.summary()


def test_numbers_of_other_types_count_as_numbers() -> None:
    class Level(IntEnum):
        LOW = 1
        HIGH = 3

    class Celsius(float):
        pass

    scores = Aggregator()
    scores.add(0, {"level": Level.HIGH, "warmth": Celsius(0.5), "name": "x"})
    assert {key: metric.value for key, metric in scores.summaries().items()} == {"level": 3.0, "warmth": 0.5}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400])
def test_a_sample_with_an_impossible_score_is_refused_whole(value: float) -> None:
    scores = Aggregator()
    scores.add(0, {"correct": True, "ppl": 2.0})
    scores.add_failure(1)
    with pytest.raises(ValueError, match=r"'ppl' is .*cannot be averaged"):
        scores.add(2, {"correct": True, "ppl": value})
    assert scores.scored == 1
    assert {key: metric.count for key, metric in scores.summaries().items()} == {"correct": 1, "ppl": 1}
    assert scores.summaries_with_failures_as_wrong()["correct"].count == 2


SCORES = st.one_of(
    st.none(),  # failed
    st.just({"correct": True, "note": "ok"}),
    st.fixed_dictionaries({"correct": st.booleans(), "f1": st.floats(0, 1), "note": st.text(max_size=3)}),
    st.dictionaries(
        st.sampled_from(["correct", "f1", "bio", "law"]), st.sampled_from([0, 1, 0.3, None, "x", [1]])
    ),
)


@given(st.lists(st.lists(st.tuples(SCORES, st.integers(1, 3)), max_size=8), max_size=8))
def test_many_at_once_give_the_bits_of_one_by_one(
    blocks: list[list[tuple[dict[str, object] | None, int]]],
) -> None:
    one_by_one, at_once = Aggregator(), Aggregator()
    index = 0
    for block in blocks:
        samples: list[int] = []
        blocked: list[dict[str, object] | None] = []
        for scores, repeats in block:
            samples += [index] * repeats
            blocked += [scores] * repeats
            index += 1
        at_once.add_all(samples, blocked)
        for sample, scores in zip(samples, blocked, strict=True):
            if scores is None:
                one_by_one.add_failure(sample)
            else:
                one_by_one.add(sample, scores)
    assert (at_once.scored, at_once.failed) == (one_by_one.scored, one_by_one.failed)
    assert at_once.summaries() == one_by_one.summaries()
    assert at_once.summaries_with_failures_as_wrong() == one_by_one.summaries_with_failures_as_wrong()


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e150])
def test_an_impossible_score_among_many_is_refused_with_those_behind_it(value: float) -> None:
    scores = Aggregator()
    with pytest.raises(ValueError, match=r"'ppl' is .*cannot be averaged"):
        scores.add_all(
            [0, 1, 2], [{"correct": 1, "ppl": 2.0}, {"correct": 1, "ppl": value}, {"correct": 1, "ppl": 3.0}]
        )
    assert scores.scored == 1
    assert {key: metric.count for key, metric in scores.summaries().items()} == {"correct": 1, "ppl": 1}


def test_numbers_of_other_types_count_among_many_too() -> None:
    class Celsius(float):
        pass

    scores = Aggregator()
    scores.add_all([0, 1], [{"warmth": Celsius(0.5)}, {"warmth": 1.5}])
    assert scores.summaries()["warmth"].value == 1.0


@given(st.lists(st.one_of(st.none(), st.booleans()), max_size=60))
def test_means_follow_from_counting(outcomes: list[bool | None]) -> None:
    scores = Aggregator()
    for index, outcome in enumerate(outcomes):
        if outcome is None:
            scores.add_failure(index)
        else:
            scores.add(index, {"correct": outcome})
    scored = [outcome for outcome in outcomes if outcome is not None]
    assert (scores.scored, scores.failed) == (len(scored), len(outcomes) - len(scored))
    if scored:
        assert scores.summaries()["correct"].value == sum(scored) / len(scored)
        assert scores.summaries_with_failures_as_wrong()["correct"].value == sum(scored) / len(outcomes)
    else:
        assert scores.summaries() == {}
