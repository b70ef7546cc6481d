"""mcq_answers and mcq_remarks: a strict headline, guesses beside it, and a sentence about both."""

from __future__ import annotations

import time
from typing import Any

import pytest

from benchwright.core import MetricSummary, UsageError
from benchwright.scorers import (
    ScorerInput,
    Scores,
    exact_match,
    extract_choices,
    mcq_answers,
    mcq_remarks,
)
from benchwright.stats import Aggregator

SUMS = {"question": "165+833+650+615=", "A": "2258", "B": "2263", "C": "2281", "answer": "B"}
TOWNS = {"question": "Capital?", "A": "Amsterdam", "B": "Rotterdam"}


def score(reply: str, row: dict[str, Any] = SUMS, target: object = "B", fallback: Any = "none") -> Scores:
    return mcq_answers(fallback)(ScorerInput(reply, target, row))


def test_all_that_is_said_about_a_right_reply() -> None:
    assert score("It is **B**.") == {
        "accuracy": True,
        "accuracy_strict": True,
        "accuracy_with_fallback": True,
        "accuracy_parsed": True,
        "extraction_rate": True,
        "fallback_rate": False,
        "chance": pytest.approx(1 / 3),
        "parsed": True,
        "extracted": "B",
        "method": "pattern",
        "rule": "it_is",
        "span": "8:9",
    }


def test_a_plain_letter_gives_the_same_keys_as_any_other_reply() -> None:
    assert list(score("B")) == list(score("It is B."))
    assert score("B") | {"rule": "letter", "span": "0:1", "method": "exact"} == score("B")
    assert score("A")["accuracy"] is False


def test_a_wrong_reply_is_read_and_wrong() -> None:
    scores = score("The answer is C")
    assert [scores[key] for key in ("accuracy", "accuracy_parsed", "parsed")] == [False, False, True]


@pytest.mark.parametrize("reply", ["", "  ", "zzz", "C or B"])
def test_what_cannot_be_read_is_zero_and_unparsed(reply: str) -> None:
    scores = score(reply)
    assert not any(
        scores[key] for key in ("accuracy", "accuracy_strict", "accuracy_with_fallback", "extraction_rate")
    )
    assert scores["parsed"] is False
    assert "accuracy_parsed" not in scores
    assert scores["extracted"] is None
    assert scores["method"] == "none"
    assert scores["chance"] == pytest.approx(1 / 3)


def test_the_guess_stands_beside_the_strict_headline() -> None:
    scores = score("Amsterdm", TOWNS, "A")
    assert (scores["accuracy"], scores["accuracy_strict"], scores["accuracy_with_fallback"]) == (
        False,
        False,
        True,
    )
    assert (scores["fallback_rate"], scores["parsed"], scores["extracted"]) == (True, False, None)


def test_the_guess_decides_where_it_was_asked_for_and_says_so() -> None:
    scores = score("Amsterdm", TOWNS, "A", "levenshtein")
    assert (scores["accuracy"], scores["accuracy_strict"], scores["accuracy_with_fallback"]) == (
        True,
        False,
        True,
    )
    assert (scores["extracted"], scores["method"], scores["rule"]) == ("A", "levenshtein", "nearest_text")
    assert scores["parsed"] is False


def test_a_letter_that_was_read_is_never_guessed_over() -> None:
    scores = score("B) Amsterdm", TOWNS, "B", "levenshtein")
    assert (scores["accuracy"], scores["fallback_rate"]) == (True, False)


@pytest.mark.parametrize("reply", ["B) Amsterdam", "The answer is B) Amsterdam.", "Answer: B. Amsterdam"])
def test_a_letter_with_the_text_of_another_option_names_neither(reply: str) -> None:
    assert score(reply, TOWNS, "B")["rule"] == "ambiguous"


@pytest.mark.parametrize("reply", ["", "zzz", "b", "The correct answer is **B**"])
def test_aisbench_counts_as_aisbench_does_but_strict_does_not(reply: str) -> None:
    scores = score(reply, target="A", fallback="aisbench")
    assert (scores["accuracy"], scores["accuracy_with_fallback"], scores["extracted"]) == (True, True, "A")
    assert scores["accuracy_strict"] is False
    assert scores["rule"] == "aisbench_nearest"


def test_aisbench_on_an_empty_reply_is_not_read() -> None:
    scores = score("", target="A", fallback="aisbench")
    assert (scores["parsed"], scores["extraction_rate"], scores["fallback_rate"], scores["span"]) == (
        False,
        False,
        True,
        None,
    )


def test_rows_without_a_usable_answer_keep_what_was_read() -> None:
    for target in (None, "", "E"):
        assert score("The answer is B", target=target) == {
            "extracted": "B",
            "method": "pattern",
            "rule": "answer",
            "span": "14:15",
        }
    assert score("B", target=None)["extracted"] == "B"
    assert score("B", {"question": "no options"})["rule"] == "no_options"


def test_the_target_may_be_the_text_of_an_option() -> None:
    assert score("B", target="2263")["accuracy"] is True
    assert score("B", target=2263)["accuracy"] is True


def test_unknown_fallbacks_are_refused_with_the_near_name() -> None:
    with pytest.raises(UsageError, match=r"Did you mean 'levenshtein'\?"):
        mcq_answers("levenstein")  # type: ignore[arg-type]


def test_plain_replies_cost_next_to_nothing() -> None:
    scorer = mcq_answers()
    samples = [ScorerInput(reply, "B", SUMS) for reply in ("B", "b", "B) 2263", "2263")] * 2000
    started = time.process_time()
    for sample in samples:
        scorer(sample)
    took = time.process_time() - started
    assert took / len(samples) < 100e-6  # about 3 µs on a quiet machine
    assert exact_match(samples[0])


def metrics_of(rows: list[Scores]) -> dict[str, MetricSummary]:
    aggregator = Aggregator()
    for index, scores in enumerate(rows):
        aggregator.add(index, scores)
    return aggregator.summaries()


def test_the_effect_of_guessing_is_printed_beside_the_strict_figure() -> None:
    right, wrong, guessed = score("A", TOWNS, "A"), score("B", TOWNS, "A"), score("Amsterdm", TOWNS, "A")
    remarks = mcq_remarks(metrics_of([right] * 712 + [wrong] * 260 + [guessed] * 28))
    assert remarks == [
        "Strict accuracy: 71.2 %. With the nearest-option fallback: 74.0 %, 2.8 points gained by guessing.",
        "2.8 % of the replies have no readable answer: counted as wrong, accuracy among readable ones 73.3 %",
        "Chance level: 50.0 %.",
    ]


def test_where_nothing_was_guessed_that_is_said_shortly() -> None:
    rows = [score("B")] * 3 + [score("A")]
    assert mcq_remarks(metrics_of(rows)) == [
        "Strict accuracy: 75.0 %. No answers were guessed.",
        "Chance level: 33.3 %.",
    ]


def test_guesses_that_were_all_wrong_are_not_hidden() -> None:
    rows = [score("B", TOWNS, "B")] * 3 + [score("Amsterdm", TOWNS, "B")]
    assert mcq_remarks(metrics_of(rows))[0] == (
        "Strict accuracy: 75.0 %. With the nearest-option fallback: 75.0 %, 0.0 points gained by guessing."
    )


def test_replies_of_which_none_could_be_read_have_no_accuracy_among_readable_ones() -> None:
    assert mcq_remarks(metrics_of([score("")] * 4))[1] == (
        "100.0 % of the replies have no readable answer: counted as wrong"
    )


def test_points_can_be_lost_to_aisbench() -> None:
    rows = [score("b", fallback="aisbench"), score("B", fallback="aisbench")]
    remarks = mcq_remarks(metrics_of(rows), fallback="aisbench")
    assert (
        remarks[0]
        == "Strict accuracy: 100.0 %. With AISBench's reading: 50.0 %, 50.0 points lost by that reading."
    )


@pytest.mark.parametrize("fallback", ["aisbench", "levenshtein"])
def test_the_remarks_do_not_contradict_an_accuracy_that_counts_guesses(fallback: Any) -> None:
    """Four of five replies cannot be read, and the guesses are right: accuracy is 1, and nothing says otherwise."""
    rows = [score("B", fallback=fallback), *[score("zz 2263 or 2281? Londn", fallback=fallback)] * 4]
    remarks = " ".join(mcq_remarks(metrics_of(rows), fallback=fallback))
    assert "80.0 % of the replies have no readable answer" in remarks
    assert "counted as wrong" not in remarks


def test_metrics_of_something_else_give_no_remarks() -> None:
    assert mcq_remarks({}) == []


SETS = {"A": "steam", "B": "ice", "C": "rain", "D": "dust"}


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ("A|C", "AC"),
        ("Answer: A | C", "AC"),
        ("Both A and C", "AC"),
        ("A: steam, C: rain", "AC"),
        ("A) steam and C) rain", "AC"),
        ("- A) steam\n- C) rain.", "AC"),
        ("A) steam; B) ice; C) rain; D) dust", None),
        ("A: steam is wrong, C: rain is right", "C"),
        ("A) steam (certain)\nC) rain - likely", "AC"),
    ],
)
def test_several_options_are_read_however_they_are_joined(reply: str, named: str | None) -> None:
    found, _ = extract_choices(reply, SETS)
    assert (None if found is None else "".join(sorted(found))) == named
