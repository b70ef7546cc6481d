"""Which option letter a free-form answer names: the documented rules."""

from __future__ import annotations

import re
from string import ascii_uppercase

from benchwright.scorers._input import ScorerInput, Scores

LETTERS = ascii_uppercase[:10]
"""Options that can be named: A to J."""

_WINDOW_CHARS = 200
_RULES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\\boxed\{\s*([A-Ja-j])\s*\}",
        r"(?i)answer\s+is\s*[:\-]?\s*\(?\s*([A-J])\b",
        r"(?i)\boption\s*\(?([A-J])\)",
        r"(?i)\A\(?([A-J])[).:]",
        r"\b([A-Ja-j])\b",
    )
)


def mcq_letter_extract(sample: ScorerInput) -> Scores:
    """`correct`, `parsed`: the letter A to J that the start of the response names, against the target.

    Only the first 200 characters are read. Tried in order, leftmost match each: `\\boxed{B}`,
    `answer is B`, `option (B)`, `B)` at the very start, and last any letter standing alone, so that
    "I think it is B" gives I. `mcq_letter_strict` does not fall for that.

    The target may be a letter, an index from 0, or the text of the row's field `a`, `b`, `c` or `d`.
    An empty response, or `None`, is unparsed.

    >>> mcq_letter_extract(ScorerInput("The answer is (C).", 2, {}))
    {'correct': True, 'parsed': True}
    """
    found = _extract(sample.response)
    wanted = _target_letter(sample)  # also for an unparsed response: a bad target is always reported
    return {"correct": found is not None and found == wanted, "parsed": found is not None}


def _extract(response: str | None) -> str | None:
    window = response.strip()[:_WINDOW_CHARS] if response else ""
    for rule in _RULES:
        match = rule.search(window)
        if match:
            return match[1].upper()
    return None


def _target_letter(sample: ScorerInput) -> str | None:
    target = sample.target
    if isinstance(target, int):
        return letter_at(int(target))
    if not isinstance(target, str):
        return None
    text = target.strip()
    if text.isdigit():
        return letter_at(int(text))  # "²" is a digit but no integer: the ValueError makes the sample fail
    letter = text[:1].upper()
    if letter and letter in LETTERS and len(text) <= 2:  # "B", "b", "B)"
        return letter
    lowered = text.lower()
    for key in "abcd":
        choice = sample.metadata.get(key)
        if isinstance(choice, str) and choice.strip().lower() == lowered:
            return key.upper()
    return None


def letter_at(index: int) -> str | None:
    """The letter of a 0-based index, if there is one."""
    return LETTERS[index] if 0 <= index < len(LETTERS) else None
