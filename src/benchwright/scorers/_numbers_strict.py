"""Which number an answer ends in: read with care, compared as a value."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache

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
    found = _read(sample.response or "")
    wanted = _from_target(sample.target)
    return {"correct": found is not None and found == wanted, "parsed": found is not None}


def _from_target(target: object) -> Decimal | None:
    if isinstance(target, bool) or target is None:
        return None
    if isinstance(target, int | float):
        value = Decimal(str(target))
        return value if value.is_finite() else None
    return _read(str(target))


def _read(text: str) -> Decimal | None:
    for raw, plain in _DECORATION:
        text = text.replace(raw, plain)
    any_number, *marked = _compiled()
    found = _last(marked[0], text)
    if found is None:
        for box in re.finditer(_BOXED, text):
            inner = any_number.search(box[1].rpartition("=")[2])  # of "x = 5" the right-hand side
            found = inner[0] if inner else found
    if found is None:
        found = _last(marked[1], text)
    if found is None:
        found = _last(any_number, text)
    return Decimal(found.translate(_TO_DECIMAL)) if found else None


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
