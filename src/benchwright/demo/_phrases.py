"""Arithmetic said in words: "the sum of 3 and 4", "20% of 50", "the largest of 3, 9 and 4"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from benchwright.demo._numbers import (
    MAX_FIGURE_CHARS,
    NUMBER,
    Number,
    Worked,
    divide,
    figures_in,
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


_LARGEST = frozenset(
    ("largest", "larger", "greatest", "greater", "biggest", "bigger", "highest", "higher", "maximum", "max")
)


@cache
def _phrases() -> list[tuple[re.Pattern[str], str, Callable[..., Number]]]:
    """Each phrase, how its steps are written, and what it comes to. Compiled for the first text with a hint."""
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
    """The first arithmetic phrase of a text, worked out."""
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
    """Questions over a list of numbers: total, mean, largest, smallest, product, median."""
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
