"""Comparing a response with one accepted answer."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import cache

from benchwright.core import encode_json
from benchwright.scorers._numbers import ReadNumber, read_number
from benchwright.scorers._text import is_whole

_READ_CHARS = 100_000
"""A number is looked for at the end of a longer response only."""


def accepted_answers(answer: object) -> list[str]:
    """The texts that are right: the answer, or each item of a list; blank ones and None are none.

    >>> accepted_answers([877, " ", "eight hundred"]), accepted_answers(None), accepted_answers(0)
    (['877', 'eight hundred'], [], ['0'])
    """
    items = answer if isinstance(answer, list | tuple | set) else [answer]
    texts: list[str] = []
    for item in items:
        if item is None:
            continue
        if isinstance(item, bool):
            texts += ["true", "True"] if item else ["false", "False"]
        elif isinstance(item, list | dict):
            texts.append(encode_json(item).decode())
        else:
            texts.append(str(item))
    return [text for text in texts if text and not text.isspace()]


def normalised(text: str) -> str:
    """NFKC, outer blanks gone and inner ones collapsed; case stays."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.split())


def holds(response: str, expected: str) -> bool:
    """Whether `expected` stands in `response` by itself: as whole words, and a number as a whole number.

    >>> holds("It is 15, or 5 %", "5"), holds("It is 15", "5"), holds("首都是北京。", "北京")
    (True, False, True)
    """
    at = response.find(expected) if expected else -1
    while at >= 0:
        if is_whole(response, at, at + len(expected)):
            return True
        at = response.find(expected, at + 1)
    return False


def holds_answer(response: str, answer: object) -> bool | None:
    """Whether an accepted answer stands in the response as whole words or a whole number; case counts.

    None where there is no answer.

    >>> holds_answer("It is Paris.", ["Lyon", "Paris"]), holds_answer("It is 15.", 5), holds_answer("x", None)
    (True, False, None)
    """
    answers = accepted_answers(answer)
    return any(holds(normalised(response), normalised(one)) for one in answers) if answers else None


def number_in(text: str) -> ReadNumber | None:
    """The number that a text states, or its last one. Numbers between Chinese characters count as well.

    >>> number_in("答案是42个"), number_in("none")
    (ReadNumber(value=Decimal('42'), rule='stated'), None)
    """
    text = text[-_READ_CHARS:]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = _zh_answer().sub(" answer: ", text)
        text = _beside_digit().sub(" ", text)
    return read_number(text)


def is_near(found: Decimal, expected: Decimal, tolerance: Decimal) -> bool:
    """Whether two numbers are equal, up to a share of the expected one."""
    if found == expected:
        return True
    return tolerance > 0 and abs(found - expected) <= tolerance * abs(expected)


@cache
def _zh_answer() -> re.Pattern[str]:
    return re.compile(r"答案(?:应该|应)?(?:是|为|為|:)(?:\s?:)?")


@cache
def _beside_digit() -> re.Pattern[str]:
    """Between a character of a script without blanks and a number, on either side."""
    script = "[\u2e80-\u9fff\uac00-\ud7af]"
    return re.compile(rf"(?<={script})(?=[-−$.]?\d)|(?<=\d)(?={script})")
