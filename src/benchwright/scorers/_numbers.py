"""Which number an answer ends in: the documented rules."""

from __future__ import annotations

import re

from benchwright.scorers._input import ScorerInput, Scores

_NUMBER = r"(-?\d[\d,]*(?:\.\d+)?)"
_ANY = re.compile(_NUMBER)
_MARKED = re.compile(r"####\s*" + _NUMBER)
_BOXED = re.compile(r"\\boxed\{\s*" + _NUMBER + r"\s*\}")


def gsm8k_answer(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the number the response gives, compared as text with the target's.

    The first `#### <number>` counts, else the first `\\boxed{<number>}`, else the last number anywhere.
    Commas are dropped wherever they stand and zeros at the end of a fraction go; nothing else is
    normalised: `007` is not `7`. `gsm8k_answer_strict` compares values and reads more carefully.

    >>> gsm8k_answer(ScorerInput("So 3 * 400 = 1,200.00 in all", "#### 1200", {}))
    {'correct': True, 'parsed': True}
    """
    found = _from_response(sample.response or "")
    wanted = _from_target(sample.target)
    return {"correct": found is not None and found == wanted, "parsed": found is not None}


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
