"""extract_choice on any text whatsoever: it never raises, never invents, and never takes long."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from benchwright.scorers import (
    ScorerInput,
    aisbench_choice,
    extract_choice,
    gold_letter,
    mcq_answers,
    nearest_choice,
    options_of,
)
from benchwright.scorers._mcq.extraction import Extraction
from benchwright.scorers._mcq.view import _GAP, _MARK

PIECES = st.sampled_from(
    [
        "A",
        "B",
        "C",
        "a",
        "b",
        "c",
        "i",
        "I",
        "D",
        "Z",
        "2263",
        "2258",
        "answer",
        "Answer:",
        "is",
        "the",
        "not",
        "wrong",
        "right",
        "correct",
        "or",
        "and",
        ",",
        ".",
        ";",
        ":",
        "?",
        "!",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "**",
        "_",
        "`",
        "'",
        '"',
        "$",
        "\\boxed{",
        "\\text{",
        "</think>",
        "<think>",
        "<b>",
        "<answer>",
        "答案",
        "是",
        "选",
        "不",
        "正确",
        "Ａ",
        "Ｂ",
        "。",
        "option",
        "choice",
        "think",
        "I'd",
        "it's",
        "so",
        "therefore",
        "\n",
        "\n\n",
        "Question:",
        "New",
        "York",
        "York",
        "\u200b",
        "\ufeff",
        "İ",
        "ß",
        "ς",
        "\r\n",
        "#",
        ">",
        "-",
        "–",
        "+",
        "",
        "/",
        "&",
        "1.",
        "12,",
        ".5",
        "rather",
        "than",
    ]
)
REPLIES = st.one_of(
    st.text(max_size=60),
    st.lists(PIECES, max_size=25).map(" ".join),
    st.lists(PIECES, max_size=25).map("".join),
)
VALUES = st.one_of(
    st.text(max_size=12),
    PIECES,
    st.integers(),
    st.booleans(),
    st.none(),
    st.floats(),
    st.lists(st.integers()),
)
ROWS = st.lists(VALUES, max_size=27).map(lambda values: {chr(65 + at): v for at, v in enumerate(values)})


def check_span(found: Extraction, reply: str) -> None:
    if found.start is None or found.end is None:
        assert found.start is None
        assert found.end is None
        return
    assert 0 <= found.start < found.end <= len(reply)


@settings(max_examples=400)
@given(reply=REPLIES, row=ROWS)
def test_any_text_is_read_without_error_and_only_options_are_found(reply: str, row: dict[str, Any]) -> None:
    options = options_of(row)
    for read in (extract_choice, nearest_choice, aisbench_choice):
        found = read(reply, options)
        assert found.letter is None or found.letter in options
        assert (found.letter is None) == (found.method == "none")
        check_span(found, reply)
    assert (aisbench_choice(reply, options).letter is None) == (not options)


@settings(max_examples=300)
@given(reply=REPLIES, row=ROWS)
def test_span_shows_the_letter_or_the_text(reply: str, row: dict[str, Any]) -> None:
    options = options_of(row)
    found = extract_choice(reply, options)
    if found.letter is None:
        return
    shown = reply[found.start : found.end]
    if found.method in ("exact", "pattern"):
        import unicodedata

        assert unicodedata.normalize("NFKC", shown).upper() == found.letter
    else:
        assert shown.strip()


@settings(max_examples=200)
@given(reply=REPLIES, row=st.dictionaries(st.text(max_size=3), VALUES, max_size=5))
def test_odd_option_values_do_no_harm(reply: str, row: dict[str, Any]) -> None:
    found = extract_choice(reply, row)
    assert found.letter is None or found.letter in row
    gold_letter(reply, row)


@settings(max_examples=200)
@given(reply=REPLIES, row=ROWS, target=VALUES, fallback=st.sampled_from(["none", "levenshtein", "aisbench"]))
def test_scorer_takes_any_row(reply: str, row: dict[str, Any], target: object, fallback: Any) -> None:
    scores = mcq_answers(fallback)(ScorerInput(reply, target, row))
    if "accuracy" in scores:
        assert scores["accuracy_strict"] <= scores["accuracy_with_fallback"] or fallback == "aisbench"  # type: ignore[operator]
        assert ("accuracy_parsed" in scores) == scores["parsed"]
    else:
        assert set(scores) == {"extracted", "method", "rule", "span"}


@settings(max_examples=100)
@given(letter=st.sampled_from("ABCD"), before=st.sampled_from(["", "**", "(", "\n", "Answer: ", "答案是"]))
def test_a_gold_letter_in_usual_dress_is_read_as_itself(letter: str, before: str) -> None:
    options = {"A": "one", "B": "two", "C": "three", "D": "four"}
    assert extract_choice(before + letter, options).letter == letter


@pytest.mark.parametrize(
    "unit",
    [
        "a ", "A A ", "answer ", "answer to ", "the answer is ", "not A but ", "(", "\\boxed{", "<think>", "<b ", "答案", "选",
        "是", "A, ", "A or ", "B is ", "I think ", "so, ", "**", "_", "'", "\\", " ", "\n", "\nA", "\nA) 2258", "2258 or ",
        "not 2258 or ", "1,", "22", "A is the the ", "\u200b", "if the ", "answer is most likely ", "x", "É", "İ",
    ],
)  # fmt: skip
def test_adversarial_megabytes_are_read_in_no_time(unit: str) -> None:
    options = {"A": "2258", "B": "2263", "C": "a a a a"}
    reply = (unit * (300_000 // len(unit) + 1))[:300_000] + "B"
    for read in (extract_choice, nearest_choice, aisbench_choice):
        started = time.process_time()
        check_span(read(reply, options), reply)
        assert time.process_time() - started < 10, f"{read.__name__} is quadratic"


def test_ten_megabytes_in_reply_and_option_are_no_harm() -> None:
    huge = "word " * 2_000_000
    options = {"A": huge, "B": "2263", "C": huge + "x"}
    started = time.process_time()
    assert extract_choice(huge, options).letter == "A"
    assert extract_choice(f"{huge} Answer: B", options).letter == "B"
    assert nearest_choice(huge + "y", options).letter is None
    assert aisbench_choice(huge + "y", options).letter in options
    assert time.process_time() - started < 100, "quadratic"


@given(
    st.lists(
        PIECES
        | st.sampled_from(
            [*"*`$\"“”‘’'~_#>\\< \n\t\r", "\u00a0", "\u200b", "\n# ", "\n> ", "~~", "\\(", "</s>", "\u2028"]
        ),
        max_size=25,
    ).map("".join)
)
def test_the_quick_look_at_where_a_gap_begins_misses_none(text: str) -> None:
    plain = rf"(?:{_MARK}|\s(?=\s|{_MARK})|[^\S \n])(?:\s|{_MARK})*+"
    assert [gap.span() for gap in re.finditer(_GAP, text)] == [gap.span() for gap in re.finditer(plain, text)]
