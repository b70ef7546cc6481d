"""The values that one written number can have: `1,234` is 1234, or 1.234 where the comma marks decimals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from typing import Literal, NamedTuple, TypeAlias

Mark: TypeAlias = Literal[".", ","]
"""The character that marks decimals."""

_LONGEST = 400
"""Characters of a number; a longer one is not read."""
_LARGEST_POWER = 5_000

_WRITTEN = (
    r"[0-9][0-9]*+(?:[.,'_][0-9]++|(?<![0-9]{4})[ ][0-9]{3}(?![0-9]))*+(?:[eE][+-]?[0-9]{1,4}(?![\w]))?"
)


def written(text: str) -> Iterator[tuple[int, int]]:
    """The places of all written numbers, with separators and exponents.

    >>> [text[start:end] for text in ["1,200 of .5"] for start, end in written(text)]
    ['1,200', '.5']
    """
    for found in _written().finditer(text):
        start, end = found.span()
        if text[start - 1 : start] == "." and (
            start == 1 or not (text[start - 2].isalnum() or text[start - 2] in "._")
        ):
            start -= 1  # .5
        yield start, end


class Numeral(NamedTuple):
    """What one written number can mean."""

    point: Fraction | None
    """Its value if a point marks decimals."""
    comma: Fraction | None
    """Its value if a comma marks decimals."""

    @property
    def shows(self) -> Mark | None:
        """The decimal mark that its notation reveals, if only one is possible."""
        if self.point is None and self.comma is not None:
            return ","
        return "." if self.comma is None and self.point is not None else None


def numeral(text: str) -> Numeral | None:
    """The values of a written number; None if it is not one number, such as `1.2.3` or `1,2,3`.

    >>> numeral("1,234"), numeral("7,5")
    (Numeral(point=Fraction(1234, 1), comma=Fraction(617, 500)), Numeral(point=None, comma=Fraction(15, 2)))
    >>> numeral("12.05.2024") is None
    True
    """
    return None if len(text) > _LONGEST else _numeral(text)


@lru_cache(maxsize=1_024)  # the numbers of a reply recur in it, and small ones in all replies
def _numeral(text: str) -> Numeral | None:
    if text.isdecimal():
        whole = Fraction(int(text))
        return Numeral(whole, whole)
    digits, _, exponent = text.lower().partition("e")
    scale = Fraction(10) ** int(exponent) if exponent else Fraction(1)
    shape = _shape().fullmatch(digits)
    if shape is None:
        return None
    if shape["plain"]:
        value = int(shape["plain"]) * scale
        return Numeral(value, value)
    if shape["point_or_groups"]:
        decimal = _value(digits, ".") * scale
        grouped = _value(digits.replace(".", ""), ".") * scale
        return Numeral(decimal, grouped)
    if shape["comma_or_groups"]:
        return Numeral(_value(digits.replace(",", ""), ".") * scale, _value(digits, ",") * scale)
    mark: Mark = "," if shape["decimal_comma"] or shape["point_groups"] else "."
    value = _value(digits, mark) * scale
    if shape["neutral"] and not any(sign in digits for sign in ".,"):
        return Numeral(value, value)
    return Numeral(value, None) if mark == "." else Numeral(None, value)


def _value(digits: str, mark: Mark) -> Fraction:
    for sign in " '_" + ("," if mark == "." else "."):
        digits = digits.replace(sign, "")
    return Fraction(digits.replace(",", ".").removesuffix("."))


def power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """A power with a whole exponent, if it is not too large to write down."""
    if exponent.denominator != 1 or abs(exponent) > _LARGEST_POWER or (base == 0 and exponent < 0):
        return None
    if base.denominator.bit_length() + abs(base.numerator).bit_length() > 64:
        return None
    return Fraction(base ** int(exponent))


@cache
def _written() -> re.Pattern[str]:
    return re.compile(_WRITTEN)


@cache
def _shape() -> re.Pattern[str]:
    """All shapes of one number. Each begins alike, so that the order decides: digits only; one separator that can be either;
    groups of three, or of two as in India; decimals."""
    return re.compile(
        r"(?P<plain>\d+)"
        r"|(?P<point_or_groups>[1-9]\d{0,2}\.\d{3})"
        r"|(?P<comma_or_groups>[1-9]\d{0,2},\d{3})"
        r"|(?P<point_groups>\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:\.\d{3})+,\d+)"
        r"|(?P<comma_groups>\d{1,3}(?:,\d{3}){2,}|\d{1,3}(?:,\d{3})+\.\d+|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?)"
        r"|(?P<neutral>\d{1,3}(?:(?: \d{3})+|(?:'\d{3})+|(?:_\d{3})+)(?:\.\d+)?)"
        r"|(?P<decimal_comma>\d+,\d+|\d{1,3}(?:(?: \d{3})+|(?:'\d{3})+),\d+)"
        r"|(?P<decimal_point>\d*\.\d+)"
    )
