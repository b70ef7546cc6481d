"""Letters that stand by themselves: a reply that opens with one, or names only one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from benchwright.scorers._mcq.extraction import ChoiceRule
from benchwright.scorers._mcq.letters import NOT_INSIDE, NOT_PART, is_word, joined_to
from benchwright.scorers._mcq.rules import RULES
from benchwright.scorers._mcq.statements import Stated, asserted
from benchwright.scorers._mcq.texts import OptionTexts
from benchwright.scorers._mcq.view import View

_ONLY = (
    rf"(?:\s?\d{{1,3}}[.):]\s?)?[^\w+#&/]{{0,6}}(?P<letter>[A-Za-z]){NOT_PART}\s?(?:选项|项)?[^\w+#&/]{{0,6}}"
)
_OPENING = rf"\s?[(\[{{]?(?P<letter>[A-Za-z]){NOT_PART}"
_OPENED = r"\s?[)\]}.:;]|,\s|\s?[–—-]\s|\s?\n|\s(?:because|since|as|due|given|seems|fits)\b"
_NO = r"[)\]}.:,;\s–—-]{1,3}(?:wrong|incorrect|false|not|no)\b"
_ASKED = r"\s?[)\]]?\s?\?"
_LINE = r"(?m:^)[ (\[]{0,2}(?P<letter>[A-Za-z])[)\].:][)\].:]?(?=\s|$)"
_NEXT_ITEM = r"(?<=[.;,!\n])\s?[(\[]?(?P<letter>[A-Z])[)\].:]{1,2}\s"
_ANYWHERE = rf"{NOT_INSIDE}[(\[]?(?P<letter>[A-Za-z]){NOT_PART}[)\].:]{{0,2}}\s?[(\[–—-]?\s?"


class Lone(NamedTuple):
    """A letter that decides by standing alone."""

    at: int
    """Its place."""
    letter: str | None
    """The option; None where several are named at once."""
    rule: ChoiceRule
    """What recognised it."""


def letter_only(view: View, options: Mapping[str, str]) -> int | None:
    """The place of the letter, if the whole reply is nothing else."""
    if len(view.text) > 16:
        return None
    found = _compiled(_ONLY).fullmatch(view.text)
    if found is None or found["letter"].upper() not in options:
        return None
    return found.start("letter")


def lone_letter(view: View, options: Mapping[str, str], texts: OptionTexts, stated: Stated) -> Lone | None:
    """The first rule of the step that finds a letter which is not taken back."""
    for find in (_opening, _with_text, _named, _bracketed):
        found = find(view, options, texts, stated)
        if found is not None:
            return found
    return None


def _opening(view: View, options: Mapping[str, str], texts: OptionTexts, stated: Stated) -> Lone | None:
    text = view.text
    found = _compiled(_OPENING).match(text)
    if found is None:
        return None
    at, letter = found.start("letter"), found["letter"].upper()
    if letter not in options or letter in stated.taken_back or texts.covers(view, at):
        return None
    if _compiled(_NO).match(text, at + 1):
        return None
    if is_word(text, at):
        return None
    if joined_to(view, at, letter, options, texts.covers):
        return Lone(at, None, RULES["opening"])
    after = at + 1 + (text[at + 1 : at + 2] == " ")
    own = texts.own_at(view, after, letter)
    opened = _compiled(_OPENED).match(text, at + 1)
    if own is None and (opened is None or (letter == "I" and opened[0][0] not in ").]}:\n")):
        return None
    if _is_list(view, letter, options, texts):
        return None
    return Lone(at, letter, RULES["opening"])


def _is_list(view: View, letter: str, options: Mapping[str, str], texts: OptionTexts) -> bool:
    """Whether the letter opens a list of the options: the next one follows on a line of its own, or with its text."""
    following = chr(ord(letter) + 1)
    for found in _compiled(_NEXT_ITEM).finditer(view.text):
        if found["letter"] == following in options and texts.own_at(view, found.end(), following) is not None:
            return True
    own: dict[str, bool] = {}
    for line in _compiled(_LINE).finditer(view.text):
        other = line["letter"].upper()
        if other in options:
            has_text = texts.own_at(view, line.end() + 1, other) is not None
            own[other] = own.get(other, False) or has_text
    others = {other: has_text for other, has_text in own.items() if other != letter}
    if any(others.values()):
        return True
    return following in others and not own.get(letter)


def _with_text(view: View, options: Mapping[str, str], texts: OptionTexts, stated: Stated) -> Lone | None:
    def places() -> Iterator[tuple[int, str]]:
        for found in _compiled(_ANYWHERE).finditer(view.text):
            letter = found["letter"].upper()
            at = found.start("letter")
            if letter not in options or is_word(view.text, at) or texts.covers(view, at):
                continue
            if texts.own_at(view, found.end(), letter) is not None:
                yield at, letter

    return _only_one(places(), stated, RULES["with_text"])


def _named(view: View, options: Mapping[str, str], texts: OptionTexts, stated: Stated) -> Lone | None:
    return _by_pattern(view, options, texts, stated, RULES["named"])


def _bracketed(view: View, options: Mapping[str, str], texts: OptionTexts, stated: Stated) -> Lone | None:
    return _by_pattern(view, options, texts, stated, RULES["bracketed"])


def _by_pattern(
    view: View, options: Mapping[str, str], texts: OptionTexts, stated: Stated, rule: ChoiceRule
) -> Lone | None:
    if not any(cue in view.lower for cue in rule.cues):
        return None

    def places() -> Iterator[tuple[int, str]]:
        for found in rule.compiled.finditer(view.text):
            at = found.end() + (view.text[found.end()] in "([")
            letter = view.text[at].upper()
            question = _compiled(_ASKED).match(view.text, at + 1)
            a_word = is_word(view.text, at) and not (rule.name == "named" and view.text[at] == "A")
            if letter not in options or question or a_word or texts.covers(view, at):
                continue
            if asserted(view, found.start()):
                yield at, letter
                if joined_to(view, at, letter, options, texts.covers):
                    yield at, ""  # another one joined to it

    return _only_one(places(), stated, rule)


def _only_one(places: Iterator[tuple[int, str]], stated: Stated, rule: ChoiceRule) -> Lone | None:
    last: tuple[int, str] | None = None
    for at, letter in places:
        if letter in stated.taken_back:
            continue
        if last is not None and last[1] != letter:
            return None
        last = at, letter
    return Lone(*last, rule) if last else None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
