"""Arithmetic of the demo model: the last expression of a text, and word problems, whose numbers are taken in the order of
the story, each with the operation that its clause suggests.

Nothing is evaluated as code, and powers and lengths are bounded, so that no prompt can make it compute for long.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from operator import add, mul, sub
from typing import TypeAlias

from benchwright.core import late_pattern
from benchwright.demo._numbers import NUMBER, Number, figures_in, number_of, show_number

_MAX_MAGNITUDE = 10**60
_MAX_FACTOR = 10**41
"""No product of two such numbers leaves the range of a float."""
_MAX_EXPRESSION_CHARS = 400
_MAX_FIGURES = 12


Worked: TypeAlias = tuple[Number, str]
"""A result, and its calculation as a person would write it."""


def _divide(a: Number, b: Number) -> Number:
    """Divide; the result is an integer if there is no remainder."""
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    return a / b


def _power(a: Number, b: Number) -> Number:
    if abs(b) > 64 or abs(a) > 10**9 or (a < 0 and not isinstance(b, int)):
        raise ValueError("too large a power, or no real number")
    result: Number = a**b
    return result


_SUM, _PRODUCT, _RAISED = 1, 2, 3
_OPERATORS: dict[str, tuple[int, Callable[[Number, Number], Number]]] = {
    **dict.fromkeys(("+", "plus"), (_SUM, add)),
    **dict.fromkeys(("-", "−", "minus"), (_SUM, sub)),
    **dict.fromkeys(("*", "×", "·", "x", "times", "multiplied by"), (_PRODUCT, mul)),
    **dict.fromkeys(("/", "÷", "divided by", "over"), (_PRODUCT, _divide)),
    **dict.fromkeys(("^", "**"), (_RAISED, _power)),
}
"""How tightly each operator binds, and what it does."""
_OPERATOR = r"\*\*|[-+*/×÷^−·]|x(?=[ \d(])|(?:plus|minus|times|multiplied by|divided by|over)\b"
_EXPRESSION = late_pattern(
    rf"(?<![\w.$-])(?:\( ?){{0,8}}-?{NUMBER}\){{0,8}}(?: {{0,3}}(?:{_OPERATOR}) {{0,3}}[( ]{{0,8}}[-−]?{NUMBER}\){{0,8}})+(?![\w%])"
)
_PIECE = late_pattern(rf"{NUMBER}|{_OPERATOR}|[()]")
_DENSE = late_pattern(r"[\d.,]+(?:[-/][\d.,]+)+")
"""`3-5`, `1/2`, `2024-01-15`: perhaps a range, a fraction or a date rather than a calculation."""
_ASKS = late_pattern(r"(?i)\b(?:what|calculate|compute|evaluate|solve|simplify|find|work out)\b|=")


def calculate(text: str) -> Worked | None:
    """Calculate the last expression of a text."""
    found = ""
    for match in _EXPRESSION.finditer(text):
        found = match.group().strip()
    if not found or len(found) > _MAX_EXPRESSION_CHARS:
        return None
    if _DENSE.fullmatch(found) and found != text.strip(" ?=."):
        signs = found.count("-") + found.count("/")
        if signs > 1 or _ASKS.search(text) is None:
            return None
    try:
        value = _Parser(_PIECE.findall(found)).value()
    except (ZeroDivisionError, ValueError, OverflowError, RecursionError):
        return None
    return value, f"{found} = {show_number(value)}"


class _Parser:
    """Parses the pieces of an expression by precedence climbing."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = [*reversed(pieces)]

    def value(self, least: int = _SUM) -> Number:
        """Return the value of what follows, up to an operator that binds less tightly than `least`."""
        result = self._atom()
        while self._pieces and self._pieces[-1] != ")":
            binds, compute = _OPERATORS[self._pieces[-1]]
            if binds < least:
                break
            self._pieces.pop()
            result = compute(result, self.value(binds if binds == _RAISED else binds + 1))
            if not abs(result) < _MAX_MAGNITUDE:
                raise ValueError("too large")
        return result

    def _atom(self) -> Number:
        if not self._pieces:
            raise ValueError("the expression ends too early")
        piece = self._pieces.pop()
        if piece in ("-", "−"):
            return -self.value(_RAISED)
        if piece != "(":
            return number_of(piece)
        inner = self.value()
        if self._pieces:  # a closing bracket may have been cut off with the sentence
            self._pieces.pop()
        return inner


_ASKED = late_pattern(
    r"(?i)\bhow (?:many|much|old|far|long|tall)\b|\bwhat (?:is|was|are) the (?:total|cost|price)\b"
)
_CLAUSE_END = late_pattern(r"[.;?!](?:\s|$)|,\s|\bthen\b|\bbut\b|\band (?=(?:he|she|they|it|\w+s|\w+ed)\b)")
_SIGNS = {
    "/": re.compile(r"(?i)\b(?:share[sd]?|split|divide[sd]?|equally|evenly|among)\b"),
    "*": re.compile(
        r"(?i)\b(?:each|per|every|apiece|times|rows? of|packs? of|boxes of|bags of|groups of"
        r"|how much (?:do|does|would|will))\b"
    ),
    "-": re.compile(
        r"(?i)\b(?:gives?|gave|eats?|ate|los[et]s?|lost|sells?|sold|spen[dt]s?|spent|uses?|used|fewer|less|removes?d?"
        r"|takes?|took|away|breaks?|broke|drops?|dropped|donate[sd]?|fly|flew|leave|left|pays?|paid|younger)\b"
    ),
}
"""Words that suggest an operation; without any of them, numbers are added."""
_LEFT = late_pattern(r"(?i)\b(?:left|remain|remaining|difference|how many more|how much more|change)\b")


def solve_word_problem(text: str) -> Worked | None:
    """Solve a word problem with two to twelve numbers; None if it cannot be solved.

    >>> solve_word_problem("Ann has 3 boxes with 4 pens each. She loses 2. How many pens are left?")
    (10, '3 * 4 - 2 = 10')
    """
    asked = _ASKED.search(text)
    found = figures_in(text) if asked is not None else []
    if asked is None or not 2 <= len(found) <= _MAX_FIGURES:
        return None
    ends = [0, *(match.end() for match in _CLAUSE_END.finditer(text)), len(text)]
    value = number_of(found[0].group())
    steps = found[0].group()
    first_clause = _clause(text, ends, found[0].start())
    for match in found[1:]:
        clause = _clause(text, ends, match.start())
        sign = next((sign for sign, words in _SIGNS.items() if words.search(clause)), "+")
        if sign == "+" and clause == first_clause and len(found) == 2 and _LEFT.search(text, asked.start()):
            sign = "-"  # "has 9 red and 4 blue pens; how many more red ones": only the question tells
        number = number_of(match.group())
        if (sign == "/" and number == 0) or abs(value) + abs(number) > _MAX_FACTOR:
            return None
        value = _OPERATORS[sign][1](value, number)
        steps += f" {sign} {match.group()}"
    return value, f"{steps} = {show_number(value)}"


def _clause(text: str, ends: list[int], at: int) -> str:
    for start, end in pairwise(ends):
        if start <= at < end:
            return text[start:end]
    return text
