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
    expected = comparable(text)
    by_text = [name for name, option in options.items() if comparable(str(option)) == expected]
    if by_text:
        return by_text[0] if len(by_text) == 1 else None
    lettered = _lettered().fullmatch(expected)
    if lettered is None:
        return None
    letter = lettered["letter"].upper()
    rest = lettered["rest"]
    if letter not in options or (rest and rest != comparable(str(options[letter]))):
        return None
    return letter


def gold_letters(answer: object, options: Mapping[str, str]) -> list[str] | None:
    """The options that `answer` means, in order, where several may be right; None where it means none.

    Read are a list of letters or texts, letters between commas, blanks or other signs, and capitals in a row that
    follow one another in the alphabet.

    >>> options = {"A": "2", "B": "3", "C": "4", "D": "5"}
    >>> gold_letters("C, a", options), gold_letters(["3", "D"], options), gold_letters("ABD", options)
    (['A', 'C'], ['B', 'D'], ['A', 'B', 'D'])
    >>> gold_letters("b", options), gold_letters("A, E", options), gold_letters("DAB", options)
    (['B'], None, None)
    """
    one = gold_letter(answer, options)
    if one is not None:
        return [one]
    if isinstance(answer, str):
        bare = answer.strip()
        parts = [part for part in _joints().split(bare) if part]
        if len(parts) == 1 and bare.isupper() and list(bare) == sorted(set(bare)):
            parts = list(bare)
        if any(part.upper() not in options for part in parts):
            return None
        found: list[str | None] = [part.upper() for part in parts]
    elif isinstance(answer, list | tuple):
        found = [gold_letter(part, options) for part in answer]
    else:
        return None
    letters = {letter for letter in found if letter is not None}
    return sorted(letters) if letters and None not in found else None


@cache
def _joints() -> re.Pattern[str]:
    return re.compile(r"(?:[\s,;/|+&()\[\]\"'.、，；和与]|\band\b|\bund\b|\bet\b|\by\b)+", re.IGNORECASE)


@cache
def _lettered() -> re.Pattern[str]:
    """`(b)`, `b.`, `b) london`."""
    return re.compile(r"[(\[]?(?P<letter>[a-z])[)\].:]*(?:(?<=[)\].:]) *(?P<rest>.+))?", re.DOTALL)
