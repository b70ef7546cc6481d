"""gsm8k_answer as documented, traps included, and the strict reading without them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchwright.scorers import ScorerInput, gsm8k_answer, gsm8k_answer_strict

RIGHT, WRONG, UNPARSED = (True, True), (False, True), (False, False)


def score(response: str | None, target: Any, scorer: Any = gsm8k_answer) -> tuple[bool, bool]:
    found = scorer(ScorerInput(response, target, {}))  # type: ignore[arg-type]
    assert list(found) == ["correct", "parsed"]
    return found["correct"], found["parsed"]


@pytest.mark.parametrize(
    ("response", "target", "verdict"),
    [
        ("#### 42", "42", RIGHT),
        ("####42", 42, RIGHT),
        ("#### \n 42", 42, RIGHT),
        ("#### 1 and then #### 42", 42, WRONG),  # the first marker counts
        ("#### 1 and then #### 42", 1, RIGHT),
        ("#### none, so 42", 42, RIGHT),  # a marker without a number is no marker
        (r"#### 1 \boxed{2} 3", 1, RIGHT),
        (r"x \boxed{ 2 } 3", 2, RIGHT),
        (r"\boxed{2} \boxed{3}", 2, RIGHT),
        (r"\boxed{x=2} 3", 3, RIGHT),
        ("first 1, then 2, finally 3", 3, RIGHT),
        ("It costs $1,200.", 1200, RIGHT),
        ("1,200.50", "1200.5", RIGHT),
        ("1200.00", 1200, RIGHT),
        ("100", "100.0", RIGHT),  # zeros go only behind a dot
        ("1,2,3", 123, RIGHT),  # commas are dropped wherever they stand
        ("007", 7, WRONG),  # compared as text
        ("-0", 0, WRONG),
        ("10-5", -5, RIGHT),
        ("-5", -5, RIGHT),
        ("5.", 5, RIGHT),
        (".5", 5, RIGHT),  # a number starts with a digit
        ("1e5", 5, RIGHT),
        ("١٢", "١٢", RIGHT),  # digits of any script
        ("١٢", 12, WRONG),
        ("½ ²", 1, UNPARSED),
        ("no number", 5, UNPARSED),
        ("", 5, UNPARSED),
        (None, 5, UNPARSED),
    ],
)
def test_response_rules(response: str | None, target: Any, verdict: tuple[bool, bool]) -> None:
    assert score(response, target) == verdict


@pytest.mark.parametrize(
    ("target", "number"),
    [
        (42, "42"),
        (42.0, "42"),
        (42.5, "42.5"),
        (-3, "-3"),
        ("42", "42"),
        ("6 * 7 = 42\n#### 42", "42"),
        ("#### 42 but 43", "42"),
        ("some 41 and 42", "42"),
        (r"\boxed{42} of 50", "50"),  # no boxed rule for targets
        ("1,000", "1000"),
        ("0042", "0042"),
        ([41, 42], "42"),
    ],
)
def test_target_rules(target: Any, number: str) -> None:
    assert score(number, target) == RIGHT
    assert score(number + "7", target) == WRONG


@pytest.mark.parametrize(
    "target", [True, False, None, "", "none", float("nan"), float("inf"), 1e20, 1e-7, [], {}]
)
def test_targets_without_a_number_match_nothing(target: Any) -> None:
    for response in ("1", "0", "20", "7", "1e+20"):
        assert score(response, target) == WRONG


@pytest.mark.parametrize(
    ("response", "target", "verdict"),
    [
        ("#### 1, no: #### 42", 42, RIGHT),  # the last marker counts
        (r"\boxed{1}, no: \boxed{42}, I am 99 % sure", 42, RIGHT),
        (r"\boxed{1{,}200}", 1200, RIGHT),
        (r"\boxed{x = \$5}", 5, RIGHT),
        (r"\boxed{5\text{ m}^2}", 5, RIGHT),
        ("The answer is 42. I checked it 3 times.", 42, RIGHT),
        ("**Answer:** $7", 7, RIGHT),
        ("007", 7, RIGHT),
        ("7.50", "7.5", RIGHT),
        ("-0", 0, RIGHT),
        ("1,234,567.5", 1234567.5, RIGHT),
        ("1,2,3", 3, UNPARSED),  # several numbers, ranges and differences are not one number
        ("1,2,34", 34, UNPARSED),
        ("10-5", 5, UNPARSED),
        ("between 5-10", 10, UNPARSED),
        ("5–10", 10, UNPARSED),
        ("1,23,456", 123456, RIGHT),
        ("x = -5", -5, RIGHT),
        ("−5", -5, RIGHT),
        ("-$5", -5, RIGHT),
        ("20%", 20, RIGHT),
        ("1e3", 1000, RIGHT),
        (".5", 0.5, RIGHT),
        ("42", r"so \boxed{42}", RIGHT),
        ("42", "#### 42", RIGHT),
        ("1e+20", 1e20, RIGHT),
        ("2 tons of CO2", 2, RIGHT),
        ("1", True, WRONG),
        ("1", float("nan"), WRONG),
        ("1", None, WRONG),
        ("none", 5, UNPARSED),
        (None, 5, UNPARSED),
    ],
)
def test_strict_reading(response: str | None, target: Any, verdict: tuple[bool, bool]) -> None:
    assert score(response, target, gsm8k_answer_strict) == verdict


@given(
    st.integers(), st.sampled_from(["{:d}", "{:,d}", "{:d}.0", "#### {:,d}", r"\boxed{{{:d}}}", "= {:d}."])
)
def test_integers_are_read_back(value: int, form: str) -> None:
    text = form.format(value)
    assert score(text, value, gsm8k_answer_strict) == RIGHT
    assert score(text, value) == RIGHT


@given(st.text(), st.one_of(st.text(), st.integers(), st.floats(), st.none()))
def test_correct_implies_parsed(response: str, target: Any) -> None:
    for scorer in (gsm8k_answer, gsm8k_answer_strict):
        correct, parsed = score(response, target, scorer)
        assert parsed or not correct
