"""Questions with given answers: lettered options, and yes-or-no questions, for which the demo model compares
numbers and tests their divisibility.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from benchwright.core import late_pattern
from benchwright.demo._arithmetic import calculate
from benchwright.demo._numbers import FIGURE, Kind, Number, Solved, figures_in, number_of

_LINE = late_pattern(r"^[ \t]*(?:\(([A-Za-z])\)|([A-Z])[.):]|([a-z])\))[ \t]*(\S[^\n]*)", re.MULTILINE)
_INLINE = late_pattern(
    r"(?:(?<=\s)|^)(?:\(([A-Z])\)|([A-Z])\))\s{0,9}(.*?)(?=\s{1,9}\(?[A-Z]\)|\s{0,9}\Z)", re.DOTALL
)
_MAX_CHARS = 40
"""Longest number that is compared."""


class Options(NamedTuple):
    """A question and its options."""

    stem: str
    """The question without the options."""
    labels: tuple[str, ...]
    """The letters, as written."""
    texts: tuple[str, ...]


def find_options(block: str) -> Options | None:
    """Find the last complete sequence of options A, B, … in a question, or None.

    >>> find_options("Which?\\nA) x\\nB) y").labels
    ('A', 'B')
    """
    found: list[tuple[str, str, int]] = []
    for match in _LINE.finditer(block):
        round_, upper, lower, text = match.groups()
        found.append((round_ or upper or lower, text.strip(), match.start()))
    options = _last_run(block, found)
    if options is not None or ")" not in block:
        return options
    found = [
        (m.group(1) or m.group(2), m.group(3).strip(" ,;\n"), m.start()) for m in _INLINE.finditer(block)
    ]
    return _last_run(block, found)


def _last_run(block: str, found: list[tuple[str, str, int]]) -> Options | None:
    for first in range(len(found) - 2, -1, -1):
        letter = found[first][0]
        if letter not in "Aa":
            continue
        length = 1
        while first + length < len(found) and ord(found[first + length][0]) == ord(letter) + length:
            length += 1
        if length < 2:
            continue
        run = found[first : first + length]
        stem = block[: run[0][2]].strip()
        return Options(stem, tuple(label for label, _, _ in run), tuple(text for _, text, _ in run))
    return None


def choose(options: Options, solve_stem: Callable[[str], Solved], bits: int) -> Solved:
    """Choose the option that matches the answer to the stem, else any."""
    solved = solve_stem(options.stem)
    at = _matching(options.texts, solved)
    kind: Kind = "guess" if at is None else "option"
    label, *same = wordings(options, bits % len(options.labels) if at is None else at)
    return Solved(kind, label, options.labels, solved.steps, tuple(same))


def wordings(options: Options, at: int) -> tuple[str, ...]:
    """Return the label of an option, and the other ways to name it."""
    label, text = options.labels[at], options.texts[at]
    return (label, text, f"{label}. {text}", f"({label})")


def _matching(texts: tuple[str, ...], solved: Solved) -> int | None:
    answers = {solved.right.lower(), *solved.same} if solved.kind not in ("guess", "essay") else set()
    for at, text in enumerate(texts):
        if text.strip(" .").lower() in answers:
            return at
        figures = figures_in(text) if solved.kind == "number" else []
        if figures and abs(number_of(figures[0].group()) - number_of(solved.right)) < 1e-3:
            return at
    return None


_WANTED = late_pattern(
    r"(?i)\((?:true|yes)\s*(?:/|or)\s*(?:false|no)\)|\byes (?:or|/) ?no\b|\byes/no\b|\btrue (?:or|/) ?false\b|\btrue/false\b"
)
_VERB = r"(?:is|are|was|were|does|do|did|can|could|will|has|have|should)\b"
_OPENS = late_pattern(rf"{_VERB}|.*?[.!?:\n]\s*{_VERB}[^?.!\n]*\?", re.DOTALL)
_TRUE = late_pattern(r"(?i)\btrue\b")
_COMPARED = late_pattern(
    rf"(?i)({FIGURE.pattern})[^.?!\d]*?\b(greater|larger|bigger|more|higher|less|smaller|fewer|lower|equal|same|divisible"
    rf"|multiple)\b[^.?!\d]*?({FIGURE.pattern})"
)
_PROPERTY = late_pattern(rf"(?i)({FIGURE.pattern})[^.?!\d]*?\b(even|odd|positive|negative)\b")
_NEGATED = late_pattern(r"(?i)\bnot\b|n't\b")
_EQUATION = late_pattern(r"([^=?\n]+)=\s*(-?[\d.,]*\d)")

_COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    **dict.fromkeys(("larger", "greater", "bigger", "higher", "more"), lambda a, b: a > b),
    **dict.fromkeys(("less", "smaller", "fewer", "lower"), lambda a, b: a < b),
    **dict.fromkeys(("equal", "same"), lambda a, b: a == b),
    **dict.fromkeys(("divisible", "multiple"), lambda a, b: b != 0 and a % b == 0),
}
_PROPERTIES: dict[str, Callable[[Number], bool]] = {
    "even": lambda a: a % 2 == 0,
    "odd": lambda a: a % 2 == 1,
    "positive": lambda a: a > 0,
    "negative": lambda a: a < 0,
}
_SAID = {True: ("True", "False"), False: ("Yes", "No")}
"""What it says if it holds, and if not; where the prompt asks for true or false, and elsewhere."""


def is_yes_no(block: str, lowered: str) -> bool:
    """Whether the answer is yes or no, or true or false. `lowered` is the prompt in lower case."""
    if ("yes" in lowered or "true" in lowered) and _WANTED.search(lowered) is not None:
        return True
    return "?" in block and _OPENS.match(block.lower()) is not None


def decide(block: str, full: str, bits: int) -> Solved:
    """Answer yes or no; guess if the answer cannot be worked out."""
    verdict = _verdict(block)
    known = verdict is not None
    if verdict is None:
        verdict = bool(bits & 1)
    elif _NEGATED.search(block):
        verdict = not verdict
    wanted = _WANTED.search(full)
    says_true = wanted is not None and _TRUE.search(wanted.group()) is not None
    right, also = (_SAID[form][0 if verdict else 1] for form in (says_true, not says_true))
    same = (right.lower(), also, also.lower())
    return Solved("yesno" if known else "guess", right, _SAID[says_true], "", same)


def _verdict(block: str) -> bool | None:
    equation = _EQUATION.search(block)
    worked = calculate(equation.group(1)) if equation is not None else None
    if equation is not None and worked is not None:
        return abs(worked[0] - number_of(equation.group(2))) < 1e-9
    compared = _COMPARED.search(block)
    if compared is not None and max(map(len, compared.groups())) <= _MAX_CHARS:
        compare = _COMPARISONS[compared.group(2).lower()]
        return compare(number_of(compared.group(1)), number_of(compared.group(3)))
    tested = _PROPERTY.search(block)
    if tested is not None and len(tested.group(1)) <= _MAX_CHARS:
        return _PROPERTIES[tested.group(2).lower()](number_of(tested.group(1)))
    return None
