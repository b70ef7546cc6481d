"""multiple_choice_acc as documented, and the variant that reads a candidate's text first."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchwright.core import BenchmarkError
from benchwright.scorers import ScorerInput, mcq_ranked, multiple_choice_acc, multiple_choice_acc_verbatim

ZEROS = (0.0, 0.0, 0.0)


def rank(
    target: Any,
    choices: Any = (" A", " B", " C"),
    logprobs: Any = (-3.0, -1.0, -2.0),
    greedy: Any = (False, True, False),
    scorer: Any = multiple_choice_acc,
) -> tuple[float, ...]:
    row = {"_choices": choices, "_choices_logprobs": logprobs, "_choices_is_greedy": greedy}
    found = scorer(ScorerInput("", target, row))
    assert list(found) == ["acc", "acc_norm", "acc_greedy"]
    assert all(type(value) is float for value in found.values())
    return tuple(found.values())


def picked(target: Any, choices: list[str], scorer: Any = multiple_choice_acc) -> int | None:
    """Which candidate the target means, found out by making each the most likely in turn."""
    for index in range(len(choices)):
        logprobs = [-1.0 if index == other else -2.0 for other in range(len(choices))]
        if rank(target, choices, logprobs, scorer=scorer)[0] == 1.0:
            return index
    return None


@pytest.mark.parametrize("target", ["B", "b", " b ", 1, "1", " 1", True])
def test_the_right_candidate_is_most_likely(target: Any) -> None:
    assert rank(target) == (1.0, 1.0, 1.0)


def test_norm_divides_by_utf8_bytes_with_the_space() -> None:
    choices, logprobs = [" ab", " abcdef", "é"], [-3.0, -6.0, -2.1]
    assert rank(0, choices, logprobs)[1] == 0.0
    assert rank(1, choices, logprobs)[1] == 1.0  # -6/7 beats -3/3 and -2.1/2
    assert rank(0, ["", "a"], [-1.0, -1.5])[1] == 1.0  # an empty candidate counts as one byte


@pytest.mark.parametrize("right", ["A", "B", "C"])
def test_norm_of_the_variants_divides_by_what_the_user_wrote(right: str) -> None:
    """The space that separates a candidate from the prompt does not count, whoever wrote it."""
    options = {"A": "ab", "B": "abcdef", "C": "éé"}
    choices = [f" {option}" for option in options.values()]
    # Per byte with the space -1.0, -0.99, -0.96; without it -1.5, -1.155, -1.2.
    logprobs = [-3.0, -6.93, -4.8]
    row = {**options, "_choices": choices, "_choices_logprobs": logprobs}
    verbatim = multiple_choice_acc_verbatim(ScorerInput("", options[right], row))
    assert verbatim["acc_norm"] == mcq_ranked(ScorerInput("", right, row))["acc_norm"] == float(right == "B")
    assert multiple_choice_acc(ScorerInput("", options[right], row))["acc_norm"] == float(right == "C")


def test_the_first_wins_on_ties() -> None:
    assert rank(0, logprobs=[-1.0, -1.0, -1.0], greedy=[False, True, True]) == (1.0, 1.0, 0.0)
    assert rank(1, logprobs=[-1.0, -1.0, -1.0], greedy=[False, True, True]) == (0.0, 0.0, 1.0)
    assert rank(0, logprobs=[-math.inf] * 3)[0] == 1.0


def test_greedy_looks_among_flagged_candidates_only() -> None:
    assert rank(2, greedy=[True, False, True])[2] == 1.0
    assert rank(1, greedy=[False, False, False])[2] == 0.0
    assert rank(1, greedy=None)[2] == 0.0
    assert rank(1, greedy=[False, True])[2] == 1.0


@pytest.mark.parametrize(
    ("choices", "logprobs"),
    [([], []), (None, None), (["a"], []), (["a"], [-1.0, -2.0]), ([], [-1.0]), (None, [-1.0]), (["a"], None)],
)
def test_lists_that_do_not_fit_give_zeros(choices: Any, logprobs: Any) -> None:
    assert rank("A", choices, logprobs) == ZEROS


def test_metadata_that_is_none_counts_as_empty() -> None:
    row: Any = None
    assert set(multiple_choice_acc(ScorerInput("", "A", row)).values()) == {0.0}


@pytest.mark.parametrize("target", [None, 1.0, "D", "7", 3, -1, "-1", "", " ", "nothing", [1], ["B"], {}])
def test_an_unknown_target_gives_zeros(target: Any) -> None:
    assert rank(target) == ZEROS


@pytest.mark.parametrize(
    ("target", "choices", "index"),
    [
        ("Paris", ["Rome", " Paris", "Oslo"], 1),
        ("paris", ["Rome", " Paris "], 1),
        ("paris", ["PARIS", "paris"], 1),  # as it stands before ignoring case
        ("2", ["1", "2", "3"], 2),  # an index, not the text
        ("3", ["1", "2", "3"], 2),  # no such index: the text
        ("A", ["B", "A"], 0),  # a letter, not the text
        ("x", ["x", "y"], 0),  # no such letter: the text
        ("z", ["Z", "y"], 0),
        ("²", ["1", "²"], 1),  # a digit but no integer
        ("--1", ["a", "--1"], 1),
        ("-1", ["a", "-1"], 1),
        ("٢", ["a", "b", "c"], 2),  # digits of any script
        (True, ["a", "b"], 1),
        (False, ["a", "b"], 0),
        (True, ["a"], None),
        ("", ["", "b"], None),
        ("ǰ", ["x", "ǰ"], 1),
    ],
)
def test_how_the_target_is_read(target: Any, choices: list[str], index: int | None) -> None:
    assert picked(target, choices) == index


def test_a_letter_without_a_single_capital_raises() -> None:
    with pytest.raises(TypeError):
        picked("ß", ["ß", "x"])


@pytest.mark.parametrize(
    ("target", "choices", "index"),
    [
        ("2", ["1", "2", "3"], 1),
        ("A", ["B", "A"], 1),
        ("a", ["B", "A"], 1),
        ("ß", ["x", "ß"], 1),
        ("B", ["x", "y"], 1),
        ("1", ["x", "y"], 1),
        (0, ["x", "y"], 0),
    ],
)
def test_verbatim_reads_the_text_first(target: Any, choices: list[str], index: int) -> None:
    assert picked(target, choices, multiple_choice_acc_verbatim) == index


def test_verbatim_does_not_score_what_it_cannot_know() -> None:
    with pytest.raises(BenchmarkError, match="names none of the 3 candidates"):
        rank("Z", scorer=multiple_choice_acc_verbatim)
    with pytest.raises(BenchmarkError, match="completions_logprob"):
        rank("A", [], [], scorer=multiple_choice_acc_verbatim)


@given(st.lists(st.floats(-50, 0), min_size=1, max_size=10), st.data())
def test_exactly_one_index_is_right(logprobs: list[float], data: st.DataObject) -> None:
    choices = data.draw(st.lists(st.text(min_size=1), min_size=len(logprobs), max_size=len(logprobs)))
    results = [rank(index, choices, logprobs, [True] * len(choices)) for index in range(len(choices))]
    for metric in range(3):
        assert sum(result[metric] for result in results) == 1.0
