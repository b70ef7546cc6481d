"""mcq_letter_extract as documented, traps included, and the strict reading without them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchwright.scorers import ScorerInput, mcq_letter_extract, mcq_letter_strict

LETTERS = "ABCDEFGHIJ"


def letter_of(response: str | None, scorer: Any = mcq_letter_extract) -> str | None:
    """The letter a response is read as, found out by trying every target."""
    results = {target: scorer(ScorerInput(response, target, {})) for target in LETTERS}  # type: ignore[arg-type]
    parsed = {result["parsed"] for result in results.values()}
    right = [target for target, result in results.items() if result["correct"]]
    assert len(parsed) == 1
    assert len(right) <= 1
    return right[0] if right else ("?" if parsed == {True} else None)


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        # 1: boxed
        (r"\boxed{E}", "E"),
        (r"The answer is A, so \boxed{ b }", "B"),
        (r"\boxed{K} or B", "B"),
        # 2: answer is
        ("The answer is B", "B"),
        ("ANSWER IS: (c)", "C"),
        ("answer  is - D.", "D"),
        ("A or so. The answer is\n( E", "E"),
        ("C. the answer is Bob", "C"),  # no word boundary after the letter
        ("My answer: B", "B"),  # only by the last rule
        # 3: option
        ("Option D)", "D"),
        ("option(b)", "B"),
        ("I like option (C) best", "C"),
        ("option C is A", "C"),  # without ")" only the last rule is left, and it takes the first
        ("adoption (A) x C", "A"),
        # 4: at the very start
        ("B) Paris, not A", "B"),
        ("(b. x", "B"),
        ("c: x", "C"),
        # 5: standing alone
        ("B", "B"),
        ("It must be C or D", "C"),
        ("j", "J"),
        ("I think it is B", "I"),  # the pronoun is taken: documented
        ("The answer is a tie", "A"),  # and the article
        ("The answer is **B**", "B"),
        ("_B_ C", "C"),  # the underscore is a word character
        ("éB C", "C"),  # and so is every letter
        ("日B C", "C"),
        ("1A C", "C"),
        # nothing
        ("K", None),
        ("no letter here", None),
        ("", None),
        ("   ", None),
        (None, None),
    ],
)
def test_extraction_rules(response: str | None, letter: str | None) -> None:
    assert letter_of(response) == letter


def test_only_the_first_200_characters_are_read() -> None:
    assert letter_of("x" * 198 + " B") == "B"
    assert letter_of("x" * 199 + " B") is None
    assert letter_of("  " + "x" * 198 + " B") == "B", "counted after stripping"


@pytest.mark.parametrize(
    ("target", "row", "letter"),
    [
        ("B", {}, "B"),
        ("b", {}, "B"),
        (" B ", {}, "B"),
        ("B)", {}, "B"),
        ("b.", {}, "B"),
        ("BC", {}, "B"),
        ("BCD", {}, None),
        ("(B)", {}, None),
        ("K", {}, None),
        (0, {}, "A"),
        (9, {}, "J"),
        (10, {}, None),
        (-1, {}, None),
        ("0", {}, "A"),
        ("9", {}, "J"),
        ("10", {"a": "10"}, None),
        ("٣", {}, "D"),
        (True, {}, "B"),
        (False, {}, "A"),
        (1.0, {}, None),
        (None, {}, None),
        ("", {}, None),
        ("Paris", {"a": "Rome", "b": " paris "}, "B"),
        (" PARIS", {"d": "paris"}, "D"),
        ("Paris", {"e": "Paris"}, None),  # only a to d are known
        ("42.5", {"c": "42.5"}, "C"),
        ("5 x", {"c": 5}, None),  # only texts are compared
        ("ﬀ", {}, None),
        ("ı", {}, "I"),
    ],
)
def test_how_the_target_is_read(target: Any, row: dict[str, Any], letter: str | None) -> None:
    right = [found for found in LETTERS if mcq_letter_extract(ScorerInput(found, target, row))["correct"]]
    assert right == ([letter] if letter else [])


@pytest.mark.parametrize("response", ["B", "", "nothing"])
def test_a_digit_that_is_no_integer_raises(response: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        mcq_letter_extract(ScorerInput(response, "²", {}))


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(B)", "B"),
        ("**B**", "B"),
        ("B.", "B"),
        ("B) Paris", "B"),
        ("The answer is B", "B"),
        ("The answer is **B**.", "B"),
        ("**Answer:** C", "C"),
        ("Final answer: (d)", "D"),
        ("The correct option is: E.", "E"),
        ("Answer:\nB", "B"),
        (r"So $\boxed{C}$", "C"),
        (r"\boxed{\text{D}}", "D"),
        ("I choose option B", "B"),
        ("I'd go with (C)", "C"),
        ("Option B is correct", "B"),
        ("I think it is B", "B"),
        ("The answer is A because of this", "A"),
        # the last statement wins
        ("The answer is A. Wait, no: the answer is B.", "B"),
        (r"First \boxed{A}; after checking, the answer is D", "D"),
        # the whole text is read
        ("Let me think. " * 50 + "\nThe answer is J.", "J"),
        ("Let me think. " * 50 + "\n**C**", "C"),
        # pronouns, articles and mentions are no statements
        ("I am not sure", None),
        ("The answer is a tie", None),
        ("it is a dog", None),
        ("The answer is I think hard to tell", None),
        ("A cat is here", None),
        ("Option A is wrong", None),
        ("The answer is not B", None),
        ("You should not choose B", None),
        ("Don't pick C", None),
        ("A) one\nB) two\nC) three", None),
        ("A is not correct", None),
        ("I'm B-rated", None),
        ("", None),
        (None, None),
    ],
)
def test_strict_reading(response: str | None, letter: str | None) -> None:
    assert letter_of(response, mcq_letter_strict) == letter


@pytest.mark.parametrize(
    ("target", "row", "letter"),
    [
        ("B", {}, "B"),
        ("(b)", {}, "B"),
        (3, {}, "D"),
        ("3", {}, "D"),
        ("²", {}, None),
        (2.0, {}, None),
        ("Paris", {"e": "Paris"}, "E"),
        ("paris", {"choices": ["Rome", "Paris"]}, "B"),
        ("2", {"choices": ["1", "2", "3"]}, "B"),  # text before index
        ("BC", {}, None),
        (None, {}, None),
    ],
)
def test_how_strict_reads_the_target(target: Any, row: dict[str, Any], letter: str | None) -> None:
    right = [found for found in LETTERS if mcq_letter_strict(ScorerInput(found, target, row))["correct"]]
    assert right == ([letter] if letter else [])


@given(st.text(), st.sampled_from(LETTERS))
def test_a_closing_statement_is_always_read_strictly(reasoning: str, letter: str) -> None:
    response = f"{reasoning}\n\nThe answer is {letter}"
    assert mcq_letter_strict(ScorerInput(response, letter, {})) == {"correct": True, "parsed": True}


@given(st.text(), st.one_of(st.text(st.characters(exclude_categories=["No"])), st.integers(), st.none()))
def test_correct_implies_parsed(response: str, target: Any) -> None:
    for scorer in (mcq_letter_extract, mcq_letter_strict):
        found = scorer(ScorerInput(response, target, {}))
        assert found["parsed"] or not found["correct"]
