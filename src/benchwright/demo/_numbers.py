"""Find, read and write numbers in texts; and the demo model's solution of a question before it
decides whether to answer rightly.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

Number: TypeAlias = int | float
"""A whole result is an integer."""

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d++)(?:\.\d++)?"
"""Expression for an unsigned number: `12`, `1,234`, `2.50`."""

FIGURE = re.compile(rf"(?<![\w.])-?{NUMBER}(?![a-zA-Z_]*\d)")
"""A number in a text, but not inside a word such as `B12` or `3x4`."""

DIGIT = re.compile(r"[0-9]")
"""Any digit; a fast check whether there is anything to calculate."""

MAX_FIGURE_CHARS = 40
"""Longest number that is used in calculations."""

_WORD_VALUES = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "hundred": 100, "dozen": 12,
}  # fmt: skip
_NUMBER_WORD = re.compile(rf"(?i)\b(?:{'|'.join(_WORD_VALUES)})\b")


GREATER = ("larger", "greater", "bigger", "higher")
"""Words that compare two numbers."""


class Worked(NamedTuple):
    """A result and its calculation."""

    value: Number
    """The result."""
    steps: str
    """The calculation as a person would write it."""


def number_of(text: str) -> Number:
    """Convert a text such as `1,234` or `2.50` into a number; whole values become integers."""
    text = text.replace(",", "").replace("−", "-")
    return float(text) if "." in text else int(text)


def show_number(value: Number) -> str:
    """Write whole values without decimals, others with at most four.

    >>> show_number(3.0), show_number(2 / 3)
    ('3', '0.6667')
    """
    if isinstance(value, int):
        return str(value)
    if value == int(value):
        return str(int(value))
    return f"{value:.4f}".rstrip("0").rstrip(".")


def divide(a: Number, b: Number) -> Number:
    """Divide; the result is an integer if there is no remainder."""
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    return a / b


def figures_in(text: str) -> list[re.Match[str]]:
    """Find the numbers of a text, except those too long to calculate with."""
    return [match for match in FIGURE.finditer(text) if len(match.group()) <= MAX_FIGURE_CHARS]


def has_number_word(text: str) -> bool:
    """Whether the text contains a number in words."""
    return _NUMBER_WORD.search(text) is not None


def with_figures(text: str) -> str:
    """Replace number words by figures: "three apples" becomes "3 apples"."""
    return _NUMBER_WORD.sub(lambda m: str(_WORD_VALUES[m.group().lower()]), text)


Kind: TypeAlias = Literal["number", "option", "yesno", "text", "grade", "guess", "essay"]
"""The form of an answer. A `guess` is not knowledge, so skill does not affect it; an `essay` is free text."""


class Solved(NamedTuple):
    """The right answer to a question as far as the demo model can tell."""

    kind: Kind
    """The form of the answer."""
    right: str
    """The right answer, or the guess."""
    others: tuple[str, ...] = ()
    """Plausible wrong answers; the right one may be among them and is then skipped."""
    steps: str = ""
    """The steps of the solution."""
    same: tuple[str, ...] = ()
    """Other wordings of the right answer; their likelihood is raised too."""

    def wrong(self, bits: int) -> str:
        """Choose a plausible wrong answer by `bits`."""
        others = [other for other in self.others if other != self.right]
        if others:
            return others[bits % len(others)]
        if self.kind == "number":
            return _wrong_number(self.right, bits)
        return _garbled(self.right, bits)


_SLIPS = (1, -1, 2, -2, 10, -10, 9, -9)


def _wrong_number(right: str, bits: int) -> str:
    slip = _SLIPS[bits & 7]
    _, dot, decimals = right.partition(".")
    if not dot:
        value = int(right) + slip
        # A negative number would be an implausible count.
        return str(value) if value >= 0 or right.startswith("-") else str(int(right) + abs(slip))
    exact: Number = number_of(right)
    return show_number(round(exact + slip / 10 ** len(decimals), len(decimals)))


def _garbled(right: str, bits: int) -> str:
    """Return the text with one word or letter missing or doubled."""
    words = right.split()
    if len(words) > 1:
        at = bits % len(words)
        return " ".join(words[:at] + words[at + 1 :])
    if len(right) > 1:
        at = bits % len(right)
        changed = right[:at] + right[at + 1 :]
        return changed if changed != right else right + right[-1]
    return right + right or "?"
