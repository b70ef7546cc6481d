"""Arithmetic of the demo model: finds the last expression of a text and works it out.

Nothing is evaluated as code; powers and lengths are bounded, so no prompt can make it compute for long.
"""

from __future__ import annotations

import re

from benchwright.demo._numbers import (
    DIGIT,
    NUMBER,
    Number,
    Worked,
    divide,
    has_number_word,
    number_of,
    show_number,
    with_figures,
)
from benchwright.demo._word_problems import calculate_phrase

_OPERATOR = r"\*\*|[-+*/×÷^%−·]|x(?=[ \d(])|plus\b|minus\b|times\b|multiplied by\b|divided by\b|over\b"
_EXPRESSION = re.compile(
    rf"(?<![\w.$-])[( ]{{0,8}}-?{NUMBER}\){{0,8}}(?: {{0,3}}(?:{_OPERATOR}) {{0,3}}[( ]{{0,8}}[-−]?{NUMBER}\){{0,8}})+(?![\w%])",
    re.IGNORECASE,
)
_PAIR = re.compile(rf" *(-?{NUMBER}) *([-+*×/÷−]) *(-?{NUMBER})")
# The plain case, "12 + 7", written so that the search can skip to a digit at once.
_PLAIN = re.compile(r"([0-9][0-9]{0,40}+) ?([-+*×/÷]) ?([0-9]+)")
_NOT_BEFORE_PLAIN = frozenset("0123456789.,+-*/×÷^%(−·$")
_PIECE = re.compile(rf"{NUMBER}|{_OPERATOR}|[()]", re.IGNORECASE)
_DENSE = re.compile(r"[\d.,]+(?:[-/][\d.,]+)+")
"""`3-5`, `1/2`, `2024-01-15`: perhaps a range, a fraction or a date rather than a sum."""
_WORD_OPERATOR = re.compile(r"(?i)\b(?:plus|minus|times|multiplied by|divided by)\b")
_ASKS = re.compile(r"(?i)\b(?:what|calculate|compute|evaluate|solve|simplify|find|work out)\b|=")
_MAX_EXPRESSION_CHARS = 400
_MAX_MAGNITUDE = 10**60


def calculate(text: str) -> Worked | None:
    """The last expression or arithmetic phrase of a text, worked out."""
    plain = _PLAIN.search(text)
    if plain is not None:
        worked = _plain(plain, text)
        if worked is not None:
            return worked
    if DIGIT.search(text) is None and not has_number_word(text):
        return None
    found = None
    for match in _EXPRESSION.finditer(text):
        found = match.group()
    if found is not None and not (_DENSE.fullmatch(found.strip()) and not _is_asked(found, text)):
        return _expression(found.strip())
    phrase = calculate_phrase(text)
    if phrase is not None:
        return phrase
    if _WORD_OPERATOR.search(text) is not None and has_number_word(text):
        spelled = _EXPRESSION.search(with_figures(text))
        return None if spelled is None else _expression(spelled.group().strip())
    return None


def _plain(match: re.Match[str], text: str) -> Worked | None:
    """Two whole numbers and nothing else to calculate; None sends the text down the general way."""
    start, end = match.span()
    if start:
        before = text[:start]
        bare = before.rstrip()
        if len(bare) == start or (bare and bare[-1] in _NOT_BEFORE_PLAIN):
            return None
    if DIGIT.search(text, end) is not None or text[end : end + 1].isalpha() or end - start > 60:
        return None
    found = match.group()
    first, operator, second = match.groups()
    if operator in "/÷" and not second.strip("0"):
        return None
    if operator in "-/" and " " not in found and not _is_asked(found, text):
        return None
    value = _apply(operator, int(first), int(second))
    return Worked(value, f"{found} = {show_number(value)}")


def _is_asked(expression: str, text: str) -> bool:
    dates = expression.count("-") + expression.count("/")
    return expression.strip() == text.strip(" ?=.") or (dates == 1 and _ASKS.search(text) is not None)


def _expression(text: str) -> Worked | None:
    if len(text) > _MAX_EXPRESSION_CHARS:
        return None
    pair = _PAIR.fullmatch(text)
    try:
        if pair is not None:
            value = _apply(pair.group(2), number_of(pair.group(1)), number_of(pair.group(3)))
        else:
            value = _Parser(_PIECE.findall(text)).value()
    except (ZeroDivisionError, ValueError, OverflowError, RecursionError):
        return None
    if not abs(value) < _MAX_MAGNITUDE:
        return None
    return Worked(value, f"{text} = {show_number(value)}")


def _apply(operator: str, a: Number, b: Number) -> Number:
    if operator in ("+", "plus"):
        return a + b
    if operator in ("-", "−", "minus"):
        return a - b
    if operator in ("*", "×", "·", "x", "times", "multiplied by"):
        return a * b
    if operator in ("/", "÷", "divided by", "over"):
        return divide(a, b)
    if operator == "%":
        return a % b
    if abs(b) > 64 or abs(a) > 10**9 or (a < 0 and not isinstance(b, int)):
        raise ValueError("too large a power, or no real number")
    result: Number = a**b
    return result


class _Parser:
    """Precedence climbing over the pieces of an expression: power, then product, then sum."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = [piece.lower() for piece in pieces]
        self._at = 0

    def value(self) -> Number:
        result = self._sum()
        if self._at < len(self._pieces) and self._pieces[self._at] != ")":
            raise ValueError("unread pieces")
        return result

    def _peek(self) -> str:
        return self._pieces[self._at] if self._at < len(self._pieces) else ""

    def _sum(self) -> Number:
        result = self._product()
        while self._peek() in ("+", "-", "−", "plus", "minus"):
            result = _apply(self._take(), result, self._product())
        return result

    def _product(self) -> Number:
        result = self._power()
        while self._peek() not in ("", "+", "-", "−", "plus", "minus", "(", ")", "^", "**"):
            result = _apply(self._take(), result, self._power())
            if abs(result) > _MAX_MAGNITUDE:
                raise ValueError("too large")
        return result

    def _power(self) -> Number:
        base = self._atom()
        if self._peek() in ("^", "**"):
            self._take()
            return _apply("^", base, self._power())
        return base

    def _atom(self) -> Number:
        piece = self._take()
        if piece in ("-", "−"):
            return -self._power()
        if piece == "(":
            inner = self._sum()
            if self._peek() == ")":  # a closing bracket may have been cut off with the sentence
                self._take()
            return inner
        return number_of(piece)

    def _take(self) -> str:
        if self._at >= len(self._pieces):
            raise ValueError("the expression ends too early")
        piece = self._pieces[self._at]
        self._at += 1
        return piece
