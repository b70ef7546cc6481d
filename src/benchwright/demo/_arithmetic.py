"""Arithmetic of the demo model. In figures: the last expression of a text. In words: phrases ("the sum of 3 and 4", "20% of
50", "the largest of 3, 9 and 4"), and word problems, whose numbers are taken in the order of the story, each with the
operation that its clause suggests.

Nothing is evaluated as code, and powers and lengths are bounded, so that no prompt can make it compute for long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

from benchwright.demo._numbers import (
    DIGIT,
    FIGURE,
    GREATER,
    MAX_FIGURE_CHARS,
    NUMBER,
    Number,
    Worked,
    divide,
    figures_in,
    has_number_word,
    number_of,
    show_number,
    with_figures,
)

_MAX_MAGNITUDE = 10**60
_N = rf"(-?{NUMBER})"
_AND = r"(?: and | by | to | from |, ?)"


def _phrase(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _add(a: Number, b: Number) -> Number:
    return a + b


def _root(value: Number) -> Number:
    root = abs(value) ** 0.5
    return int(root) if root == int(root) else root


_PHRASE_HINT = re.compile(
    r"(?i)\b(?:sum|add|subtract|difference|product|multiply|quotient|divide|remainder|root|squared?|cubed?|half"
    r"|double|twice|percent|more than|less than|greater than|larger than)\b|% of"
)
_LIST = re.compile(rf"[0-9][0-9,.]{{0,40}}(?:(?: ?,? and |,? or |, ?){_N})+")
_LIST_HINT = re.compile(
    r"(?i)\b(sum|total|add|average|mean|largest|larger|greatest|greater|biggest|bigger|highest|higher|maximum|max"
    r"|smallest|smaller|lowest|lower|least|less|minimum|min|product|median|count)\b"
)


_LARGEST = frozenset((*GREATER, "largest", "greatest", "biggest", "highest", "maximum", "max"))


@cache
def _phrases() -> list[tuple[re.Pattern[str], str, Callable[..., Number]]]:
    """Return each phrase with the template of its steps and its function. Compiled for the first text with a hint."""
    return [
        (_phrase(rf"{_N} ?(?:%|percent) of {_N}"), "{0}% of {1}", lambda a, b: divide(a * b, 100)),
        (_phrase(rf"\bsubtract {_N} from {_N}"), "{1} - {0}", lambda a, b: b - a),
        (_phrase(rf"\b(?:sum of|add) {_N}{_AND}{_N}(?!\d|, *\d| and)"), "{0} + {1}", _add),
        (_phrase(rf"\b(?:difference (?:between|of)) {_N}{_AND}{_N}"), "{0} - {1}", lambda a, b: abs(a - b)),
        (_phrase(rf"\b(?:product of|multiply) {_N}{_AND}{_N}"), "{0} * {1}", lambda a, b: a * b),
        (_phrase(rf"\b(?:quotient of|divide) {_N}{_AND}{_N}"), "{0} / {1}", divide),
        (
            _phrase(rf"\bremainder (?:when|of|if) {_N} (?:is )?divided by {_N}"),
            "{0} mod {1}",
            lambda a, b: a % b,
        ),
        (_phrase(rf"\bsquare root of {_N}"), "sqrt({0})", lambda a: _root(a)),
        (_phrase(rf"\b(?:square of {_N}|{_N} squared)"), "{0} * {0}", lambda a: a * a),
        (_phrase(rf"\b(?:cube of {_N}|{_N} cubed)"), "{0} * {0} * {0}", lambda a: a * a * a),
        (_phrase(rf"\bhalf of {_N}"), "{0} / 2", lambda a: divide(a, 2)),
        (_phrase(rf"\b(?:double|twice) (?:of )?{_N}"), "2 * {0}", lambda a: 2 * a),
        (_phrase(rf"{_N} (?:more|greater|larger) than {_N}"), "{1} + {0}", _add),
        (_phrase(rf"{_N} less than {_N}"), "{1} - {0}", lambda a, b: b - a),
    ]


def calculate_phrase(text: str) -> Worked | None:
    """Calculate the first arithmetic phrase of a text."""
    if _PHRASE_HINT.search(text) is None:
        return None
    for candidate in (text, with_figures(text)):
        for pattern, steps, compute in _phrases():
            match = pattern.search(candidate)
            if match is None:
                continue
            groups = [group for group in match.groups() if group]
            if any(len(group) > MAX_FIGURE_CHARS for group in groups):
                return None
            try:
                value = compute(*(number_of(group) for group in groups))
            except (ZeroDivisionError, OverflowError):
                return None
            return Worked(value, f"{steps.format(*groups)} = {show_number(value)}")
    return None


def combine(text: str) -> Worked | None:
    """Answer questions about a list of numbers: total, mean, largest, smallest, product, median."""
    numbers = _LIST.search(text)
    hint = None if numbers is None else _LIST_HINT.search(text)
    if hint is None or numbers is None:
        return None
    values = [number_of(match.group()) for match in figures_in(numbers.group())]
    if len(values) < 2:
        return None
    value = _over_list(hint.group(1).lower(), values)
    return None if value is None else Worked(value, f"{hint.group(1).lower()} of {numbers.group()}")


def _over_list(word: str, values: Sequence[Number]) -> Number | None:
    if word in ("sum", "total", "add"):
        return sum(values)
    if word in ("average", "mean"):
        return divide(sum(values), len(values))
    if word in _LARGEST:
        return max(values)
    if word == "median":
        ordered = sorted(values)
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else divide(ordered[middle - 1] + ordered[middle], 2)
    if word == "count":
        return len(values)
    if word == "product":
        product: Number = 1
        for value in values:
            product *= value
            if abs(product) > _MAX_MAGNITUDE:
                return None
        return product
    return min(values)


_ASKED = re.compile(
    r"(?i)\bhow (?:many|much|old|far|long|tall)\b|\bwhat (?:is|was|are) the (?:total|cost|price)\b"
)
_CLAUSE_END = re.compile(r"[.;?!](?:\s|$)|,\s|\bthen\b|\bbut\b|\band (?=(?:he|she|they|it|\w+s|\w+ed)\b)")
_TIMES = re.compile(
    r"(?i)\b(?:each|per|every|apiece|times|rows? of|packs? of|boxes of|bags of|groups of"
    r"|how much (?:do|does|would|will))\b"
)
_SHARE = re.compile(r"(?i)\b(?:share[sd]?|split|divide[sd]?|equally|evenly|among)\b")
_MINUS = re.compile(
    r"(?i)\b(?:gives?|gave|eats?|ate|los[et]s?|lost|sells?|sold|spen[dt]s?|spent|uses?|used|fewer|less|removes?d?"
    r"|takes?|took|away|breaks?|broke|drops?|dropped|donate[sd]?|fly|flew|leave|left|pays?|paid|younger)\b"
)
_LEFT = re.compile(r"(?i)\b(?:left|remain|remaining|difference|how many more|how much more|change)\b")
_MAX_FIGURES = 12


def solve_word_problem(text: str) -> Worked | None:
    """Solve a word problem with two to twelve numbers; None if it cannot be solved.

    >>> solve_word_problem("Ann has 3 boxes with 4 pens each. She loses 2. How many pens are left?")
    Worked(value=10, steps='3 * 4 - 2 = 10')
    """
    asked = _ASKED.search(text)
    if asked is None:
        return None
    text = with_figures(text)
    found = [match for match in FIGURE.finditer(text) if len(match.group()) <= 40]
    if not 2 <= len(found) <= _MAX_FIGURES:
        return None
    ends = [0, *(match.end() for match in _CLAUSE_END.finditer(text)), len(text)]
    value: Number = number_of(found[0].group())
    steps = found[0].group()
    first_clause = _clause(text, ends, found[0].start())
    for match in found[1:]:
        clause = _clause(text, ends, match.start())
        operator = _operator(clause)
        if (
            operator == "+"
            and clause == first_clause
            and len(found) == 2
            and _LEFT.search(text, asked.start())
        ):
            operator = "-"  # "has 9 red and 4 blue pens; how many more red ones": only the question tells
        number = number_of(match.group())
        if operator == "/" and number == 0:
            return None
        value = _step(value, operator, number)
        steps += f" {operator} {match.group()}"
    return Worked(value, f"{steps} = {show_number(value)}")


def _clause(text: str, ends: list[int], at: int) -> str:
    for start, end in pairwise(ends):
        if start <= at < end:
            return text[start:end]
    return text


def _operator(clause: str) -> str:
    if _SHARE.search(clause):
        return "/"
    if _TIMES.search(clause):
        return "*"
    return "-" if _MINUS.search(clause) else "+"


def _step(value: Number, operator: str, number: Number) -> Number:
    if operator == "+":
        return value + number
    if operator == "-":
        return value - number
    if operator == "*":
        return value * number
    if isinstance(value, int) and isinstance(number, int) and value % number == 0:
        return value // number
    return value / number


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
"""`3-5`, `1/2`, `2024-01-15`: perhaps a range, a fraction or a date rather than a calculation."""
_WORD_OPERATOR = re.compile(r"(?i)\b(?:plus|minus|times|multiplied by|divided by)\b")
_ASKS = re.compile(r"(?i)\b(?:what|calculate|compute|evaluate|solve|simplify|find|work out)\b|=")
_MAX_EXPRESSION_CHARS = 400


def calculate(text: str) -> Worked | None:
    """Calculate the last expression or arithmetic phrase of a text."""
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
    """Calculate two whole numbers if there is nothing else to calculate; None leaves the text to the general rules."""
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
    """Parses the pieces of an expression by precedence climbing: power, then product, then sum."""

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
