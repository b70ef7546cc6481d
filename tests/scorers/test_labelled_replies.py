"""Replies with the answer that a careful reader finds in them: letters and yes or no."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.scorers.growth import assert_linear

from benchwright.scorers import (
    ScorerInput,
    boolean_yesno_strict,
    extract_choice,
    mcq_letter_strict,
)

REPLIES = Path(__file__).parent / "replies"
OPTIONS = {"A": "Paris", "B": "London", "C": "Rome", "D": "Berlin"}


def replies(name: str) -> list[tuple[str, str | None]]:
    lines = (REPLIES / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [(reply, answer) for reply, answer in map(json.loads, lines)]


def chosen(reply: str) -> str | None:
    return extract_choice(reply, OPTIONS).letter


def lettered(reply: str) -> str | None:
    scores = mcq_letter_strict(ScorerInput(reply, "A", {"choices": list(OPTIONS.values())}))
    return getattr(scores, "extracted", None)


def verdict(reply: str) -> str | None:
    return getattr(boolean_yesno_strict(ScorerInput(reply, True, {})), "extracted", None)


@pytest.mark.parametrize("read", [chosen, lettered])
@pytest.mark.parametrize(
    "name", ["letters_a", "letters_b", "letters_c", "letters_d", "letters_e", "letters_f", "letters_g"]
)
def test_letters_are_read_as_a_careful_reader_reads_them(
    name: str, read: Callable[[str], str | None]
) -> None:
    check(name, read)


@pytest.mark.parametrize(
    "name", ["yesno_a", "yesno_b", "yesno_c", "yesno_d", "yesno_e", "yesno_f", "yesno_g"]
)
def test_yes_and_no_are_read_as_a_careful_reader_reads_them(name: str) -> None:
    check(name, verdict)


def check(name: str, read: Callable[[str], str | None]) -> None:
    """At least 95 % alike, and never another answer."""
    alike = 0
    for reply, answer in replies(name):
        found = read(reply)
        assert found in (answer, None), (reply, answer, found)
        alike += found == answer
    assert alike / len(replies(name)) >= 0.95


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("A) Paris is the capital of France, so", "unfinished"),
        ('{"A": 0.1, "B": 0.7}', "ambiguous"),
        ('{"A": true, "B": true}', "ambiguous"),
        ("A lot of people think it's Paris, but that's wrong.", "not_found"),
    ],
)
def test_replies_that_name_no_option_say_why(reply: str, reason: str) -> None:
    assert extract_choice(reply, OPTIONS).rule == reason


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Let's see. A: no. B: no. C: yes. D: no.", "C"),
        ("A? No. B? Yes. C? No. D? No.", "B"),
        ("A ✗ B ✗ C ✗ D ✓", "D"),
        ("Checking each: (A) false; (B) true; (C) false; (D) false.", "B"),
        ("A: yes. B: yes. C: no. D: no.", None),
        ("I first thought A, but on reflection B.", "B"),
        ("My gut says A. On second thought, C.", "C"),
    ],
)
def test_letters_that_are_judged_one_by_one_or_corrected(reply: str, letter: str | None) -> None:
    assert chosen(reply) == letter


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("It would be wrong to answer no.", None),
        ("It would be a mistake to say yes.", None),
        ("I would never answer yes.", None),
        ("Some would say yes, but the evidence says no.", "no"),
        ("I'm inclined to say yes.", "yes"),
        ("It is safe to say no.", "no"),
    ],
)
def test_what_it_would_be_wrong_to_say_is_no_verdict(reply: str, read: str | None) -> None:
    assert verdict(reply) == read


def test_strict_letters_without_options_are_a_to_j() -> None:
    assert lettered("The answer is J") is None
    assert getattr(mcq_letter_strict(ScorerInput("The answer is J", "J", {})), "extracted", None) == "J"
    row = {"a": "Paris", "b": "London"}
    assert mcq_letter_strict(ScorerInput("London", "B", row)) == {"correct": True, "parsed": True}


@pytest.mark.parametrize(
    ("target", "right"), [("ja", "Ja."), ("Nein", "No."), ("oui", "Yes"), ("нет", "Нет")]
)
def test_targets_in_other_languages(target: str, right: str) -> None:
    assert boolean_yesno_strict(ScorerInput(right, target, {})) == {"correct": True, "parsed": True}


@pytest.mark.parametrize(
    "unit",
    ["yes ", "no, ", "it is true ", "answer is ", "wait ", "if ", "A: 1, ", "{A: 1,", "A is ", "Paris is ", "A: B\n", "answer (",
     "yes or no ", "some people say ", "是", "not a ", "true ", "so no "],
)  # fmt: skip
def test_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    for read in (verdict, chosen, lettered):
        assert_linear(read, unit)
