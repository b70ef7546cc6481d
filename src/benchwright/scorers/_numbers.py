"""Finds the number that an answer gives, by the documented rules and by strict ones that compare values."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from benchwright.scorers._scorer import AnswerScores, ScorerInput, Scores, answer_scores, by_name

_NUMBER = r"(-?\d[\d,]*(?:\.\d+)?)"
_ANY = re.compile(_NUMBER)
_MARKED = re.compile(r"####\s*" + _NUMBER)
_BOXED = re.compile(r"\\boxed\{\s*" + _NUMBER + r"\s*\}")


@by_name
def gsm8k_answer(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the number the response gives, compared as text with the target's.

    The first `#### <number>` counts, else the first `\\boxed{<number>}`, else the last number anywhere.
    Commas are dropped wherever they are and zeros at the end of a fraction go; nothing else is
    normalised: `007` is not `7`. `gsm8k_answer_strict` compares values and reads more carefully.

    >>> gsm8k_answer(ScorerInput("So 3 * 400 = 1,200.00 in all", "#### 1200", {}))
    {'correct': True, 'parsed': True}
    """
    found = _from_response(sample.response or "")
    expected = _from_target(sample.target)
    return answer_scores(found, expected)


def _from_response(text: str) -> str | None:
    match = _MARKED.search(text) or _BOXED.search(text)
    return _normalise(match[1]) if match else _last(text)


def _from_target(target: object) -> str | None:
    if isinstance(target, int | float):
        text = str(target)
        return _normalise(text) if _ANY.fullmatch(text) else None
    text = str(target) if target else ""
    match = _MARKED.search(text)
    return _normalise(match[1]) if match else _last(text)


def _last(text: str) -> str | None:
    numbers = _ANY.findall(text)
    return _normalise(numbers[-1]) if numbers else None


def _normalise(number: str) -> str:
    number = number.replace(",", "")
    return number.rstrip("0").rstrip(".") if "." in number else number


# Commas only between groups of three digits, so that 1,2,3 is three numbers; a sign only without a digit, word or bracket
# before it, so that 10-5 is 10 and 5; no digits that belong to a name such as CO2.
_DIGITS = r"(?:(?<!\d,)\d{1,3}(?:,\d{3})+(?!\d|,\d)|\d+)(?:\.\d+)?|(?<!\d)\.\d+"
_VALUE = rf"(?:(?<![\w)\]}}])[-−])?\$?(?<!\w)(?<!\d\.)(?:{_DIGITS})(?:[eE][+-]?\d{{1,3}}(?!\w))?"
_MARK = r"####\s*"
_STATEMENT = r"(?i:\banswer)\s*(?:(?i:is|would\s+be)\b|:|=)\s*:?\s*"
_BOX = r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
# LaTeX thousands separators and money signs, and bold.
_DECORATION = (("{,}", ","), ("\\,", ""), ("\\$", "$"), ("\\!", ""), ("**", ""))


@by_name
def gsm8k_answer_strict(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the number the response gives, equal in value to the target's.

    The last `#### <number>` counts, else the last `\\boxed{…}` with a number, else the last "answer is
    <number>", else the last number anywhere. `1,200` is 1200 but `1,2,3` is three numbers; `10-5` is 10 and
    5, not −5; `007`, `7` and `7.0` are equal. The target, if it is text, is read in the same way.

    >>> gsm8k_answer_strict(ScorerInput("#### 12. No: #### 1,200", 1200.0, {}))
    {'correct': True, 'parsed': True}
    """
    found = read_number(sample.response or "")
    right = found is not None and found.value == target_number(sample.target)
    return AnswerScores(
        {"correct": right, "parsed": found is not None}, None if found is None else plain_number(found.value)
    )


def plain_number(value: Decimal) -> str:
    """A number as text, the same for equal numbers: 7 for 7.0 and 007.

    >>> plain_number(Decimal("7.00")), plain_number(Decimal("1200")), plain_number(Decimal("-0.50"))
    ('7', '1200', '-0.5')
    """
    if not value:
        return "0"
    shortest = value.normalize()
    return f"{shortest:f}" if -20 < shortest.adjusted() < 20 else str(shortest)


class ReadNumber(NamedTuple):
    """The number a text gives."""

    value: Decimal
    """Its value."""
    rule: str
    """How it was found: `marked` (####), `boxed`, `stated` ("answer is") or `last_number`."""


def target_number(target: object) -> Decimal | None:
    """The number in an expected answer, if there is one."""
    if isinstance(target, bool) or target is None:
        return None
    if isinstance(target, int | float):
        value = Decimal(str(target))
        return value if value.is_finite() else None
    found = read_number(str(target))
    return found.value if found else None


def read_number(text: str) -> ReadNumber | None:
    """The number a text gives, by the order of `gsm8k_answer_strict`."""
    for raw, plain in _DECORATION:
        text = text.replace(raw, plain)
    any_number, *marked = _compiled()
    rule, found = "marked", _last_match(marked[0], text)
    if found is None:
        rule = "boxed"
        for box in re.finditer(_BOX, text):
            inner = any_number.search(box[1].rpartition("=")[2])  # of "x = 5" the right-hand side
            found = inner[0] if inner else found
    if found is None:
        rule, found = "stated", _last_match(marked[1], text)
    if found is None:
        rule, found = "last_number", _last_match(any_number, text)
    return ReadNumber(Decimal(found.translate(_TO_DECIMAL)), rule) if found else None


_TO_DECIMAL = str.maketrans({"−": "-", "$": None, ",": None})


def _last_match(pattern: re.Pattern[str], text: str) -> str | None:
    last = None
    for match in pattern.finditer(text):
        last = match
    return last[pattern.groups] if last else None


@cache
def _compiled() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Any number; one after a marker; one after "answer is"."""
    return re.compile(_VALUE), re.compile(f"{_MARK}({_VALUE})"), re.compile(f"{_STATEMENT}({_VALUE})")
