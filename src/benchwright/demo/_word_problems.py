"""Simple word problems: numbers in the order of the story, each with the operation its clause suggests."""

from __future__ import annotations

import re
from itertools import pairwise

from benchwright.demo._numbers import FIGURE, Number, Worked, number_of, show_number, with_figures

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
    """Works out a story with two to twelve numbers, or gives up.

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
