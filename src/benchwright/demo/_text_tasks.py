"""Instructions about a piece of text: copy, reverse, change case, count, spell, translate word by word."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from benchwright.demo._facts import DICTIONARY, LANGUAGES


class Rewritten(NamedTuple):
    """What an instruction makes of its text."""

    text: str
    """The result."""
    is_number: bool = False
    """Whether the result is a count."""


_QUOTED = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'(?!\w)|“([^”\n]+)”|`([^`\n]+)`")
_AFTER_COLON = re.compile(r":[ \t]{0,20}\n?(.+)", re.DOTALL)
_TRANSLATE = re.compile(rf"(?i)\btranslat\w+\b.*?\b(?:in)?to ({'|'.join(LANGUAGES)}|[A-Z]\w+)\b", re.DOTALL)
_WORD = re.compile(r"\w+")


def _translate(text: str, language: str) -> str:
    column = LANGUAGES.index(language) if language in LANGUAGES else None

    def one(match: re.Match[str]) -> str:
        word = match.group()
        known = DICTIONARY.get(word.lower())
        # An unknown language or word stays as it is: a weak translation, and visibly one.
        return word if known is None or column is None else known[column]

    return _WORD.sub(one, text)


_HINT = re.compile(
    r"(?i)\b(?:reverse|backward|upper-? ?case|lower-? ?case|all caps|capital letters|how many (?:letters|characters"
    r"|words)|first letter|last letter|spell|translat)|^\W*(?:please )?(?:repeat|copy|echo|say|print|output|write)\b"
)


@cache
def _tasks() -> list[tuple[re.Pattern[str], Callable[[str], Rewritten]]]:
    """Each instruction and what it does. Compiled for the first text with a hint."""
    return [
        (re.compile(r"(?i)\breverse[ds]?\b|\bbackwards?\b"), lambda text: Rewritten(text[::-1])),
        (
            re.compile(r"(?i)\bupper-?\s?case\b|\ball caps\b|\bcapital letters\b"),
            lambda text: Rewritten(text.upper()),
        ),
        (re.compile(r"(?i)\blower-?\s?case\b"), lambda text: Rewritten(text.lower())),
        (
            re.compile(r"(?i)\bhow many (?:letters|characters)\b"),
            lambda text: Rewritten(str(len(text)), True),
        ),
        (re.compile(r"(?i)\bhow many words\b"), lambda text: Rewritten(str(len(text.split())), True)),
        (re.compile(r"(?i)\bfirst letter\b"), lambda text: Rewritten(text[:1])),
        (re.compile(r"(?i)\blast letter\b"), lambda text: Rewritten(text[-1:])),
        (re.compile(r"(?i)\bspell\b"), lambda text: Rewritten("-".join(text))),
        (
            re.compile(
                r"(?i)^\W*(?:please )?(?:repeat|copy|echo|say|print|output|write)\b(?!.{0,20}\b(?:story|poem|essay))"
            ),
            lambda text: Rewritten(text),
        ),
    ]


def rewrite(block: str, preface: str) -> Rewritten | None:
    """Does what an instruction says. The instruction stands in `block` itself, or in `preface` above it."""
    if _HINT.search(block) is not None:
        instruction, text = block, _object_of(block)
    elif preface and _HINT.search(preface) is not None:
        instruction, text = preface, block
    else:
        return None
    translation = _TRANSLATE.search(instruction)
    if translation is not None:
        return Rewritten(_translate(text, translation.group(1).lower()))
    for pattern, task in _tasks():
        if pattern.search(instruction) is not None:
            return task(text)
    return None


def _object_of(block: str) -> str:
    """The text an instruction is about: what is quoted, what follows the colon, or its last word."""
    quoted = _QUOTED.search(block)
    if quoted is not None:
        return next(group for group in quoted.groups() if group)
    after = _AFTER_COLON.search(block)
    if after is not None:
        return after.group(1).strip()
    words = block.rsplit(None, 1)
    return words[-1].rstrip("?.!") if words else block
