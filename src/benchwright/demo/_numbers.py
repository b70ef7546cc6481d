"""Numbers in texts: finding, reading and writing them."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

Number: TypeAlias = int | float
"""Whole results stay whole."""

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d++)(?:\.\d++)?"
"""Expression for an unsigned number: `12`, `1,234`, `2.50`."""

FIGURE = re.compile(rf"(?<![\w.])-?{NUMBER}(?![a-zA-Z_]*\d)")
"""A number standing in a text, not inside a word such as `B12` or `3x4`."""

DIGIT = re.compile(r"[0-9]")
"""Any digit; the quick way to see that there is nothing to calculate."""

MAX_FIGURE_CHARS = 40
"""Longer numbers are not calculated with."""

_WORD_VALUES = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "hundred": 100, "dozen": 12,
}  # fmt: skip
_NUMBER_WORD = re.compile(rf"(?i)\b(?:{'|'.join(_WORD_VALUES)})\b")


class Worked(NamedTuple):
    """A result and how it came about."""

    value: Number
    """The result."""
    steps: str
    """The calculation as one would write it."""


def number_of(text: str) -> Number:
    """`1,234` and `2.50` as numbers; whole values are integers."""
    text = text.replace(",", "").replace("−", "-")
    return float(text) if "." in text else int(text)


def show_number(value: Number) -> str:
    """Whole values without decimals, others with at most four.

    >>> show_number(3.0), show_number(2 / 3)
    ('3', '0.6667')
    """
    if isinstance(value, int):
        return str(value)
    if value == int(value):
        return str(int(value))
    return f"{value:.4f}".rstrip("0").rstrip(".")


def divide(a: Number, b: Number) -> Number:
    """A whole number where the division goes even."""
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    return a / b


def figures_in(text: str) -> list[re.Match[str]]:
    """The numbers of a text, those too long to calculate with left out."""
    return [match for match in FIGURE.finditer(text) if len(match.group()) <= MAX_FIGURE_CHARS]


def has_number_word(text: str) -> bool:
    """Whether a number is spelled out."""
    return _NUMBER_WORD.search(text) is not None


def with_figures(text: str) -> str:
    """Number words replaced by figures: "three apples" becomes "3 apples"."""
    return _NUMBER_WORD.sub(lambda m: str(_WORD_VALUES[m.group().lower()]), text)
