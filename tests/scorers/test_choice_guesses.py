"""Guesses: the nearest option within a limit, and AISBench's order of attempts for score parity."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.scorers import aisbench_choice, nearest_choice

SUMS = {"A": "2258", "B": "2263", "C": "2281"}
CITIES = {"A": "Paris", "B": "London", "C": "Rome"}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        *(
            (reply, "B")
            for reply in ("B", "(B)", "B.", "**B**", r"\boxed{B}", "I think B is right", "It is 2263.")
        ),
        ("b", "A"),
        ("answer: b", "A"),
        ("", "A"),
        ("zzz", "A"),
        ("The correct answer is **B**", "A"),
        ("A simple sum gives 2263", "A"),
        ("2263 not 2258", "A"),
        ("C or B", "B"),
    ],
)
def test_aisbench_reads_sums_as_observed(reply: str, expected: str) -> None:
    assert aisbench_choice(reply, SUMS).letter == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [("I do not know", "B"), ("Berlin", "A"), ("A capital of Italy: Rome", "A"), ("parsi", "A")],
)
def test_aisbench_reads_cities_as_observed(reply: str, expected: str) -> None:
    assert aisbench_choice(reply, CITIES).letter == expected


@pytest.mark.parametrize(
    ("reply", "method", "rule", "shown"),
    [
        (" B\n", "exact", "aisbench_exact", "B"),
        ("I say: the answer is C.", "pattern", "aisbench_ends", "C"),
        ("I say: the answer is C, yes", "pattern", "aisbench_answer_is", "C"),
        ("The correct answer is option C!", "pattern", "aisbench_correct_answer_is_option", "C"),
        ("ANSWER: C!", "pattern", "aisbench_answer_colon", "C"),
        (r"The correct option is \boxed{C}", "pattern", "aisbench_correct_option_boxed", "C"),
        ("答案是C", "pattern", "aisbench_zh_answer", "C"),
        ("C: the sum", "pattern", "aisbench_begins", "C"),
        ("it may be 2281 then", "option_text", "aisbench_option_text", "2281"),
        ("  228 1 ", "levenshtein", "aisbench_nearest", "228 1"),
    ],
)
def test_aisbench_tells_how_it_came_to_its_choice(reply: str, method: str, rule: str, shown: str) -> None:
    found = aisbench_choice(reply, SUMS)
    assert (found.method, found.rule) == (method, rule)
    assert reply[found.start : found.end] == shown


def test_aisbench_takes_numbers_and_empty_option_lists() -> None:
    assert aisbench_choice("it is 7", {"A": 5, "B": 7}).letter == "B"  # type: ignore[dict-item]
    assert aisbench_choice("", {}).letter is None
    assert aisbench_choice("", SUMS).start is None


@pytest.mark.parametrize(
    ("reply", "options", "expected"),
    [
        ("Londn", CITIES, "B"),
        ("B. Londn", CITIES, "B"),
        ("**londen!**", CITIES, "B"),
        ("parsi", CITIES, None),  # 2 of 5 characters
        ("Berlin", CITIES, None),
        ("", CITIES, None),
        ("I do not know", CITIES, None),
        ("Rotterdan", {"A": "Rotterdam", "B": "Amsterdam"}, "A"),
        ("Bern", {"A": "Berna", "B": "Berno"}, None),  # two are equally near
        ("Pari", {"A": "Paris", "B": "Paria"}, None),
        ("22634", {"A": "22635", "B": "99999"}, None),  # a number is right or not
        ("1.5", {"A": "-1.5"}, None),
        ("Rom", CITIES, None),  # 1 of 4 is more than a fifth
        ("London", {}, None),
    ],
)
def test_nearest_choice_keeps_within_its_limit(
    reply: str, options: dict[str, str], expected: str | None
) -> None:
    found = nearest_choice(reply, options)
    assert found.letter == expected
    assert found.method == ("levenshtein" if expected else "none")


def test_the_limit_can_be_set() -> None:
    assert nearest_choice("Rom", CITIES, limit=0.25).letter == "C"
    assert nearest_choice("Londn", CITIES, limit=0.0).letter is None
    assert nearest_choice("london", CITIES, limit=0.0).letter == "B"


def test_replies_are_read_as_the_released_package_reads_them() -> None:
    """Replies of our own; the letters are what ais_bench_benchmark made of them."""
    lines = (Path(__file__).parent / "golden_aisbench.jsonl").read_text(encoding="utf-8").splitlines()
    options = json.loads(lines[0])["options"]
    golden = [json.loads(line) for line in lines[1:]]
    differing = [
        (reply, letter)
        for row, reply, letter in golden
        if aisbench_choice(reply, options[row]).letter != letter
    ]
    assert len(golden) > 1500
    assert len(differing) <= len(golden) // 100, differing[:20]


@pytest.mark.parametrize("piece", ["the correct option is ", "答案是", "The answer is ", "1", "选择 ", " B,"])
def test_long_replies_are_read_in_time_that_grows_with_their_length(piece: str) -> None:
    options = {"A": "ash", "B": "birch"}
    assert aisbench_choice(piece * (60_000 // len(piece)) + " x", options).letter in options
