"""Which number an answer ends in: read with care, compared as a value."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from benchwright.scorers._input import ScorerInput, Scores

# Commas only between groups of three digits, so that 1,2,3 is three numbers; a sign only where no digit, word
# or bracket stands before it, so that 10-5 is 10 and 5; no digits that belong to a name such as CO2.
_DIGITS = r"(?:(?<!\d,)\d{1,3}(?:,\d{3})+(?!\d|,\d)|\d+)(?:\.\d+)?|(?<!\d)\.\d+"
_NUMBER = rf"(?:(?<![\w)\]}}])[-−])?\$?(?<!\w)(?<!\d\.)(?:{_DIGITS})(?:[eE][+-]?\d{{1,3}}(?!\w))?"
_MARKER = r"####\s*"
_STATEMENT = r"(?i:\banswer)\s*(?:(?i:is|would\s+be)\b|:|=)\s*:?\s*"
_BOXED = r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
# LaTeX thousands separators and money signs, and bold.
_DECORATION = (("{,}", ","), ("\\,", ""), ("\\$", "$"), ("\\!", ""), ("**", ""))


def gsm8k_answer_strict(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the number the response gives, equal in value to the target's.

    The last `#### <number>` counts, else the last `\\boxed{…}` with a number, else the last "answer is
    <number>", else the last number anywhere. `1,200` is 1200 but `1,2,3` is three numbers; `10-5` is 10 and
    5, not −5; `007`, `7` and `7.0` are equal. The target, if it is text, is read in the same way.

    >>> gsm8k_answer_strict(ScorerInput("#### 12. No: #### 1,200", 1200.0, {}))
    {'correct': True, 'parsed': True}
    """
    found = read_number(sample.response or "")
    wanted = target_number(sample.target)
    return {"correct": found is not None and found.value == wanted, "parsed": found is not None}


class ReadNumber(NamedTuple):
    """The number a text gives."""

    value: Decimal
    """What it is worth."""
    rule: str
    """What told it from others: `marked` (####), `boxed`, `stated` ("answer is") or `last_number`."""


def target_number(target: object) -> Decimal | None:
    """The number of an expected answer, if it holds one."""
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
    rule, found = "marked", _last(marked[0], text)
    if found is None:
        rule = "boxed"
        for box in re.finditer(_BOXED, text):
            inner = any_number.search(box[1].rpartition("=")[2])  # of "x = 5" the right-hand side
            found = inner[0] if inner else found
    if found is None:
        rule, found = "stated", _last(marked[1], text)
    if found is None:
        rule, found = "last_number", _last(any_number, text)
    return ReadNumber(Decimal(found.translate(_TO_DECIMAL)), rule) if found else None


_TO_DECIMAL = str.maketrans({"−": "-", "$": None, ",": None})


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    last = None
    for match in pattern.finditer(text):
        last = match
    return last[pattern.groups] if last else None


@cache
def _compiled() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Any number; one after a marker; one after "answer is"."""
    return re.compile(_NUMBER), re.compile(f"{_MARKER}({_NUMBER})"), re.compile(f"{_STATEMENT}({_NUMBER})")
