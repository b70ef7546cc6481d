"""exact_match, contains, f1_token, regex_match: every documented sentence, and what follows from it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchwright.scorers import ScorerInput, bleu, contains, exact_match, f1_token, regex_match, rouge
from benchwright.scorers._scorer import Scorer

VALUES = st.one_of(st.text(), st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False))


def sample(response: Any, target: Any) -> ScorerInput:
    return ScorerInput(response, target, {})


@pytest.mark.parametrize(
    ("response", "target", "correct"),
    [
        ("Paris", "paris", True),
        ("  Paris\n", "PARIS\t", True),
        ("\u2003Paris\u00a0\x85\x1c", "paris", True),  # Unicode whitespace
        ("Paris.", "Paris", False),
        ("", "", True),
        (" ", "", True),
        ("None", None, True),
        ("none ", None, True),
        ("true", True, True),
        ("1", True, False),
        ("1.0", 1.0, True),
        ("1", 1.0, False),
        ("42", 42, True),
        ("straße", "STRASSE", False),  # lower-casing, not case folding
        ("STRASSE", "strasse", True),
        ("İ", "i̇", True),  # lower-casing may change the length
        ("ΟΔΟΣ", "οδος", True),  # final sigma
        ("[1]", [1], True),
    ],
)
def test_exact_match(response: str, target: Any, correct: bool) -> None:
    assert exact_match(sample(response, target)) == {"correct": correct}


@pytest.mark.parametrize(
    ("response", "target", "correct"),
    [
        ("The capital is Paris.", "paris", True),
        ("The capital is Paris.", "  PARIS ", True),
        ("The capital is Paris.", "is  paris", False),
        ("anything", "", True),
        ("", "", True),
        ("", "x", False),
        ("anything", "  ", True),
        ("it is 42!", 42, True),
        ("none of them", None, True),
        ("straße", "STRASSE", False),
    ],
)
def test_contains(response: str, target: Any, correct: bool) -> None:
    assert contains(sample(response, target)) == {"correct": correct}


@pytest.mark.parametrize(
    ("response", "target", "f1", "precision", "recall"),
    [
        ("the cat sat", "the cat", 0.8, 2 / 3, 1.0),
        ("The CAT", "the cat", 1.0, 1.0, 1.0),
        ("a a a", "a a", 0.8, 2 / 3, 1.0),  # as a multiset
        ("a", "a a a a", 0.4, 1.0, 0.25),
        ("cat.", "cat", 0.0, 0.0, 0.0),  # punctuation stays
        ("the cat", "cat", 2 / 3, 0.5, 1.0),  # articles stay
        ("", "cat", 0.0, 0.0, 0.0),
        ("cat", "", 0.0, 0.0, 0.0),
        ("", "", 0.0, 0.0, 0.0),
        (" \n", "cat", 0.0, 0.0, 0.0),
        ("7 apples", 7, 2 / 3, 0.5, 1.0),
        ("a\u2003b", "b\u00a0a", 1.0, 1.0, 1.0),
    ],
)
def test_f1_token(response: str, target: Any, f1: float, precision: float, recall: float) -> None:
    found = f1_token(sample(response, target))
    assert found == pytest.approx({"f1": f1, "precision": precision, "recall": recall}, abs=1e-12)


@pytest.mark.parametrize(
    ("response", "pattern", "correct"),
    [
        ("about 42 apples", r"\d+", True),
        ("Hello World", "hello", True),
        ("xHELLOx", "hello", True),  # anywhere
        ("hello", "^world", False),
        ("a\nb", "^b", False),  # IGNORECASE is the only flag
        ("a\nb", "a.b", False),
        ("anything", "[", False),  # not a valid pattern
        ("anything", "(?P<x>a)(?P<x>b)", False),
        ("[", "[", False),
        ("anything", "", True),
        ("", "", True),
        ("[a", "[[a]", True),  # valid, though Python warns about it
        ("the answer is 42", 42, True),
        ("the answer is 43", 42, False),
        ("None", None, True),
    ],
)
def test_regex_match(response: str, pattern: Any, correct: bool) -> None:
    re.purge()
    assert regex_match(sample(response, pattern)) == {"correct": correct}


@pytest.mark.parametrize("scorer", [exact_match, contains, f1_token, regex_match, bleu, rouge])
def test_a_response_that_is_none_raises(scorer: Scorer) -> None:
    with pytest.raises((AttributeError, TypeError)):
        scorer(sample(None, "x"))


@given(st.text())
def test_a_text_matches_itself_in_any_padding(text: str) -> None:
    assert exact_match(sample(f"  {text}\n", text))["correct"] is True
    assert contains(sample(text, f"\t{text} "))["correct"] is True


@given(st.text(), VALUES)
def test_exact_match_implies_contains(response: str, target: Any) -> None:
    if exact_match(sample(response, target))["correct"]:
        assert contains(sample(response, target))["correct"]


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")))
def test_f1_token_agrees_with_counters(left: list[str], right: list[str]) -> None:
    found = f1_token(sample(" ".join(left), " ".join(right)))
    common = (Counter(left) & Counter(right)).total()
    if not common:
        assert set(found.values()) == {0.0}
        return
    precision, recall = common / len(left), common / len(right)
    f1 = 2 * precision * recall / (precision + recall)
    assert found == pytest.approx({"f1": f1, "precision": precision, "recall": recall}, abs=1e-12)
    mirrored = f1_token(sample(" ".join(right), " ".join(left)))
    assert (mirrored["precision"], mirrored["recall"]) == (found["recall"], found["precision"])


@given(st.text())
def test_an_escaped_text_is_found_in_itself(text: str) -> None:
    assert regex_match(sample(text, re.escape(text)))["correct"] is True
