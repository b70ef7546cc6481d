"""A row's options and its right one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from benchwright.core import Row
from benchwright.scorers._mcq.view import comparable

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def options_of(row: Row) -> dict[str, str]:
    """A row's own options: its fields `A`, `B`, … as text, up to the first that is missing or blank.

    >>> options_of({"question": "?", "A": 2258, "B": "2263", "C": "", "D": "x"})
    {'A': '2258', 'B': '2263'}
    """
    options = {}
    for letter in LETTERS:
        value = row.get(letter)
        if value is None:
            break
        text = value if value.__class__ is str else str(value)
        if not text or text.isspace():
            break
        options[letter] = text
    return options


def gold_letter(answer: object, options: Mapping[str, str]) -> str | None:
    """The option that `answer` means: by its letter in any case, by letter and text, or by a text that only it has.

    A letter goes before a text: with A = "B" and B = "A" the answer `B` is option B. None where it means no
    option, or several.

    >>> options = {"A": "Paris", "B": "London"}
    >>> gold_letter(" b ", options), gold_letter("B) London", options), gold_letter("london", options)
    ('B', 'B', 'B')
    >>> gold_letter("Rome", options) is None
    True
    """
    if isinstance(answer, str) and answer in options:
        return answer
    if isinstance(answer, list | tuple):  # one right option, not several
        return gold_letter(answer[0], options) if len(answer) == 1 else None
    if answer is None:
        return None
    text = str(answer).strip()
    letter = text.upper()
    if letter in options:
        return letter
    if not text:
        return None
    wanted = comparable(text)
    by_text = [name for name, option in options.items() if comparable(str(option)) == wanted]
    if by_text:
        return by_text[0] if len(by_text) == 1 else None
    lettered = _lettered().fullmatch(wanted)
    if lettered is None:
        return None
    letter = lettered["letter"].upper()
    rest = lettered["rest"]
    if letter not in options or (rest and rest != comparable(str(options[letter]))):
        return None
    return letter


@cache
def _lettered() -> re.Pattern[str]:
    """`(b)`, `b.`, `b) london`."""
    return re.compile(r"[(\[]?(?P<letter>[a-z])[)\].:]*(?:(?<=[)\].:]) *(?P<rest>.+))?", re.DOTALL)
