"""Yes/no and true/false questions of the demo model: it can compare numbers and test their divisibility."""

from __future__ import annotations

import re
from collections.abc import Callable

from benchwright.demo._arithmetic import calculate
from benchwright.demo._numbers import FIGURE, Number, number_of
from benchwright.demo._solved import Solved

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
    **dict.fromkeys(("greater", "larger", "bigger", "more", "higher"), lambda a, b: a > b),
    **dict.fromkeys(("less", "smaller", "fewer", "lower"), lambda a, b: a < b),
    **dict.fromkeys(("equal", "same"), lambda a, b: a == b),
    **dict.fromkeys(("divisible", "multiple"), lambda a, b: b != 0 and a % b == 0),
}
_YES = ("Yes", ("yes", "True", "true"))
_NO = ("No", ("no", "False", "false"))
_SAID_TRUE = ("True", ("true", "Yes", "yes"))
_SAID_FALSE = ("False", ("false", "No", "no"))


def is_yes_no(block: str, lowered: str) -> bool:
    """Whether an answer of yes or no, true or false, is wanted. `lowered` is the prompt in lower case."""
    if ("yes" in lowered or "true" in lowered) and _WANTED.search(lowered) is not None:
        return True
    if "?" not in block:
        return False
    block = block.lower()
    return block.startswith(_AUXILIARIES) or _OPENS.search(block) is not None


def decide(block: str, full: str, bits: int) -> Solved:
    """Yes or no. What cannot be worked out is guessed."""
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
