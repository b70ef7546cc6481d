"""Find, read and write numbers in texts; and the demo model's solution of a question before it
decides whether to answer rightly.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from benchwright.core import late_pattern

Number: TypeAlias = int | float
"""A whole result is an integer."""

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d++)(?:\.\d++)?"
"""Expression for an unsigned number: `12`, `1,234`, `2.50`."""

FIGURE = late_pattern(rf"(?<![\w.])-?{NUMBER}(?![a-zA-Z_]*\d)")
"""A number in a text, but not inside a word such as `B12` or `3x4`."""

_MAX_FIGURE_CHARS = 40
"""Longest number that is used in calculations."""


def number_of(text: str) -> Number:
    """Convert a text such as `1,234` or `2.50` into a number; whole values become integers."""
    text = text.replace(",", "").replace("−", "-")
    return float(text) if "." in text else int(text)


def show_number(value: Number) -> str:
    """Write whole values without decimals, others with at most four.

    >>> show_number(3.0), show_number(2 / 3)
    ('3', '0.6667')
    """
    if value == int(value):
        return str(int(value))
    return f"{value:.4f}".rstrip("0").rstrip(".")


def figures_in(text: str) -> list[re.Match[str]]:
    """Find the numbers of a text, except those too long to calculate with."""
    return [match for match in FIGURE.finditer(text) if len(match.group()) <= _MAX_FIGURE_CHARS]


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
        return _wrong_number(self.right, bits) if self.kind == "number" else self.right[:-1] or "?"


_SLIPS = (1, -1, 2, -2, 10, -10, 9, -9)


def _wrong_number(right: str, bits: int) -> str:
    slip = _SLIPS[bits & 7]
    _, dot, decimals = right.partition(".")
    if not dot:
        value = int(right) + slip
        # A negative number would be an implausible count.
        return str(value) if value >= 0 or right.startswith("-") else str(int(right) + abs(slip))
    return show_number(round(number_of(right) + slip / 10 ** len(decimals), len(decimals)))
