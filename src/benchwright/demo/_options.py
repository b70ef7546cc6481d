"""Questions with given answers: lettered options, and yes-or-no questions, for which the demo model compares
numbers and tests their divisibility.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from benchwright.demo._arithmetic import calculate
from benchwright.demo._numbers import FIGURE, GREATER, Number, Solved, number_of

_LINE = re.compile(r"^[ \t]*(?:\(([A-Za-z])\)|([A-Z])[.):]|([a-z])\))[ \t]*(\S[^\n]*)", re.MULTILINE)
_INLINE = re.compile(
    r"(?:(?<=\s)|^)(?:\(([A-Z])\)|([A-Z])\))\s{0,9}(.*?)(?=\s{1,9}\(?[A-Z]\)|\s{0,9}\Z)", re.DOTALL
)
_WORD = re.compile(r"\w{4,}")


class Options(NamedTuple):
    """A question and its options."""

    stem: str
    """The question without the options."""
    labels: tuple[str, ...]
    """The letters, as written."""
    texts: tuple[str, ...]
    """The text of each option."""


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
    """Choose the option that matches the answer to the stem; else the one with the most similar words, or a random one."""
    solved = solve_stem(options.stem)
    at = None if solved.kind in ("guess", "essay") else _matching(options.texts, solved)
    if at is None:
        at = _closest(options, bits)
        kind = "guess"
    else:
        kind = "option"
    label, text = options.labels[at], options.texts[at]
    same = (text, f"{label}. {text}", f"({label})")
    return Solved("option" if kind == "option" else "guess", label, options.labels, solved.steps, same)


def _matching(texts: tuple[str, ...], solved: Solved) -> int | None:
    right = solved.right.strip().lower()
    lowered = [text.strip(" .").lower() for text in texts]
    for at, text in enumerate(lowered):
        if text == right or text in solved.same:
            return at
    if solved.kind == "number":
        value = number_of(right)
        for at, text in enumerate(lowered):
            figure = FIGURE.search(text)
            if (
                figure is not None
                and len(figure.group()) <= 40
                and abs(number_of(figure.group()) - value) < 1e-3
            ):
                return at
        return None
    for at, text in enumerate(lowered):
        if right in text and len(right) > 1:
            return at
    return None


def _closest(options: Options, bits: int) -> int:
    stem = {word.lower() for word in _WORD.findall(options.stem)}
    shared = [sum(word.lower() in stem for word in _WORD.findall(text)) for text in options.texts]
    best = max(shared)
    candidates = [at for at, count in enumerate(shared) if count == best]
    return candidates[bits % len(candidates)]


_WANTED = re.compile(
    r"(?i)\((?:true|yes)\s*(?:/|or)\s*(?:false|no)\)|\byes (?:or|/) ?no\b|\byes/no\b|\btrue (?:or|/) ?false\b|\btrue/false\b"
)
_AUXILIARIES = (
    "is ",
    "are ",
    "was ",
    "were ",
    "does ",
    "do ",
    "did ",
    "can ",
    "could ",
    "will ",
    "has ",
    "have ",
    "should ",
)
_OPENS = re.compile(r"[.!?:\n]\s*(?:is|are|was|were|does|do|did|can|could|will|has|have|should)\b[^?.!\n]*\?")
_TRUE = re.compile(r"(?i)\btrue\b")
_COMPARED = re.compile(
    rf"(?i)({FIGURE.pattern})[^.?!\d]*?\b(greater|larger|bigger|more|higher|less|smaller|fewer|lower|equal|same|divisible"
    rf"|multiple)\b[^.?!\d]*?({FIGURE.pattern})"
)
_PROPERTY = re.compile(rf"(?i)({FIGURE.pattern})[^.?!\d]*?\b(even|odd|prime|positive|negative)\b")
_NEGATED = re.compile(r"(?i)\bnot\b|n't\b")
_EQUATION = re.compile(r"([^=?\n]+)=\s*(-?[\d.,]*\d)")

_COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    **dict.fromkeys((*GREATER, "more"), lambda a, b: a > b),
    **dict.fromkeys(("less", "smaller", "fewer", "lower"), lambda a, b: a < b),
    **dict.fromkeys(("equal", "same"), lambda a, b: a == b),
    **dict.fromkeys(("divisible", "multiple"), lambda a, b: b != 0 and a % b == 0),
}
_YES = ("Yes", ("yes", "True", "true"))
_NO = ("No", ("no", "False", "false"))
_SAID_TRUE = ("True", ("true", "Yes", "yes"))
_SAID_FALSE = ("False", ("false", "No", "no"))


def is_yes_no(block: str, lowered: str) -> bool:
    """Whether the answer is yes or no, or true or false. `lowered` is the prompt in lower case."""
    if ("yes" in lowered or "true" in lowered) and _WANTED.search(lowered) is not None:
        return True
    if "?" not in block:
        return False
    block = block.lower()
    return block.startswith(_AUXILIARIES) or _OPENS.search(block) is not None


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
    right, same = (_SAID_TRUE if verdict else _SAID_FALSE) if says_true else (_YES if verdict else _NO)
    others = (_SAID_FALSE[0], _SAID_TRUE[0]) if says_true else (_NO[0], _YES[0])
    return Solved("yesno" if known else "guess", right, others, "", same)


def _verdict(block: str) -> bool | None:
    equation = _EQUATION.search(block)
    if equation is not None:
        worked = calculate(equation.group(1))
        if worked is not None:
            return abs(worked.value - number_of(equation.group(2))) < 1e-9
    compared = _COMPARED.search(block)
    if compared is not None and max(map(len, compared.groups())) <= 40:
        compare = _COMPARISONS[compared.group(2).lower()]
        return compare(number_of(compared.group(1)), number_of(compared.group(3)))
    tested = _PROPERTY.search(block)
    if tested is not None and len(tested.group(1)) <= 12:
        return _has_property(number_of(tested.group(1)), tested.group(2).lower())
    return None


def _has_property(value: Number, word: str) -> bool:
    if word == "even":
        return value % 2 == 0
    if word == "odd":
        return value % 2 == 1
    if word == "positive":
        return value > 0
    if word == "negative":
        return value < 0
    whole = int(value)
    if whole != value or whole < 2 or whole > 10**10:
        return False
    return all(whole % divisor for divisor in range(2, min(int(whole**0.5), 1000) + 1))
