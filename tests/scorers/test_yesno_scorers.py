"""boolean_yesno as documented, and the reading that understands "not"."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchwright.scorers import ScorerInput, boolean_yesno, boolean_yesno_strict
from benchwright.scorers._verdict_idioms import NO_IDIOMS, YES_IDIOMS, idioms
from benchwright.scorers._verdict_words import SAYS_SO


def verdict(response: str | None, scorer: Any = boolean_yesno) -> bool | None:
    """What a response is read as, found out by trying both targets."""
    yes, no = (scorer(ScorerInput(response, target, {})) for target in (True, False))  # type: ignore[arg-type]
    assert yes["parsed"] == no["parsed"] == (yes["correct"] or no["correct"])
    assert not (yes["correct"] and no["correct"])
    return True if yes["correct"] else False if no["correct"] else None


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        *((word, True) for word in ("yes", "True", "CORRECT", "right", "yeah", "yep")),
        *((word, False) for word in ("no", "False", "INCORRECT", "wrong", "nope", "nah")),
        ("Well, yes and no", True),  # the first decides
        ("Yes!", True),
        ("1. No", False),
        ("yesterday", None),
        ("know", None),
        ("yes1", True),  # digits end a run of letters
        ("oui", None),
        ("éyes", True),  # only ASCII letters make a word
        ("not correct", True),  # negation is not understood: documented
        ("word " * 19 + "no", False),
        ("word " * 20 + "no", None),  # only 20 words are read
        ("", None),
        (None, None),
    ],
)
def test_response_rules(response: str | None, expected: bool | None) -> None:
    assert verdict(response) is expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (True, True),
        (False, False),
        (1, True),
        (0, False),
        (1.9, True),
        (-0.5, False),
        (2, None),
        (" YES ", True),
        ("1", True),
        ("Nope", False),
        ("0", False),
        ("1.0", None),
        ("maybe", None),
        ("", None),
        (None, None),
        ([True], None),
    ],
)
@pytest.mark.parametrize("scorer", [boolean_yesno, boolean_yesno_strict])
def test_target_rules(scorer: Any, target: Any, expected: bool | None) -> None:
    for response, meaning in (("yes", True), ("no", False)):
        found = scorer(ScorerInput(response, target, {}))
        assert found == {"correct": meaning is expected, "parsed": True}


@pytest.mark.parametrize("target", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("scorer", [boolean_yesno, boolean_yesno_strict])
def test_a_target_that_is_no_finite_number_makes_no_answer_correct(scorer: Any, target: float) -> None:
    assert scorer(ScorerInput("yes", target, {})) == {"correct": False, "parsed": True}
    assert scorer(ScorerInput("no", target, {})) == {"correct": False, "parsed": True}
    assert scorer(ScorerInput("unclear", target, {})) == {"correct": False, "parsed": False}


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("Yes.", True),
        ("No, it is not.", False),
        ("That is not correct.", False),
        ("That isn't true", False),
        ("It isn’t right.", False),
        ("It is not entirely wrong", True),
        ("Yes, it is not wrong.", True),
        ("I don't think that is true.", False),
        ("It is true.", True),
        ("The statement is false.", False),
        ("Some say no. The answer is: **Yes**", True),
        ("The answer is no. Or rather: the answer is yes.", True),
        ("The answer is not correct", False),
        ("There is no doubt: it is true", True),
        ("No one knows", None),
        ("Right now I cannot tell", None),
        ("It is true in part and false in part", None),
        ("long " * 40 + "so it is false", False),
        ("oui", True),
        ("Yes and no.", None),
        ("not yes", None),
        ("There is no evidence that this is true.", None),
        ("", None),
        (None, None),
    ],
)
def test_strict_reading(response: str | None, expected: bool | None) -> None:
    assert verdict(response, boolean_yesno_strict) is expected


@given(st.text())
def test_every_text_gets_a_verdict_or_none(response: str) -> None:
    verdict(response)
    verdict(response, boolean_yesno_strict)


@pytest.mark.parametrize(("table", "verdict"), [(YES_IDIOMS, "yes"), (NO_IDIOMS, "no")])
def test_each_idiom_reads_its_example(table: str, verdict: str) -> None:
    for example, pattern in idioms(table):
        said = re.match(SAYS_SO, example)
        assert re.match(pattern, example), (example, pattern)
        assert said, example
        assert said[verdict], example
