"""Option texts in a reply: where they stand as whole words or whole numbers, and which of them are denied."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from benchwright.scorers._mcq.view import HEAD_CHARS, TAIL_CHARS, View, comparable

# An option that is one of these words is named only where it stands by itself: "No." but not "no idea".
_FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "i",
        "it",
        "is",
        "in",
        "on",
        "at",
        "to",
        "of",
        "or",
        "and",
        "not",
        "no",
        "so",
        "as",
        "be",
        "we",
        "he",
        "she",
        "us",
        "by",
        "if",
        "one",
        "do",
        "for",
    ]
)
_REACH = 48
_LINKS = (
    r"(?:(?:i|we|you|it|is|was|be|been|to|the|a|an|that|this|think|believe|say|saying|mean|feel|agree|claim|conclude"
    r"|necessarily|really|actually|simply|just|true|sure|certain|convinced|option|choice|answer|correct|right|best"
    r"|final|equal|equals)\s){0,6}"
)
_DENIED_BEFORE = (
    r"(?:(?<![^\W_])(?:not|never|neither|nor|cannot|without|except|excluding|unlike|than|instead\sof|rules?\sout|ruled\sout"
    r"|ruling\sout|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)|reject(?:s|ed|ing)?)\s|n't\s"
    rf"|不是|并非|而非|不选|排除|不){_LINKS}[(\[]?(?:[a-z][).:]\s?)?$"
)
_DENIED_AFTER = (
    r"[)\]]?,?\s(?:is|was|are|were|would\sbe|seems|looks|appears)(?:n't|\snot\b(?!\sonly)|\s(?:\w{2,12}\s)?(?:wrong|incorrect"
    r"|false|impossible|ruled|excluded|eliminated|too)\b)|[)\]]?\s?(?:是错|错|不对|不是|不正确|有误)"
)
_OR = r"[)\]]?,?\s(?:or|nor|and)\s(?:the\s|an?\s)?[(\[]?"
_BY_ITSELF_BEFORE = r"(?:^|[.,;:!?\n(\[]|(?<![^\W_])(?:is|be|says?))\s?$"
_BY_ITSELF_AFTER = r"\s?[)\]]?(?:[.,;:!)\]]|\n|$)"
_ARTICLE = r"[\s({\[<]{0,4}(?:(?:the|an?|about|approximately|exactly|equal\sto)\s){0,2}[({\[]?"


class Named(NamedTuple):
    """An option's text in a view."""

    start: int
    """Its place."""
    end: int
    """Behind it."""
    letters: tuple[str, ...]
    """The options that have this text."""


class OptionTexts:
    """The texts of one row's options, ready to be looked for."""

    __slots__ = ("_longer", "_needles", "_own")

    def __init__(self, options: Mapping[str, str]) -> None:
        by_text: dict[str, list[str]] = {}
        self._own: dict[str, tuple[str, ...]] = {}
        for letter, option in options.items():
            text = str(option)
            if len(text) > HEAD_CHARS + TAIL_CHARS:  # longer than anything that is read
                continue
            needle = comparable(text)
            if not needle or (len(needle) == 1 and needle.upper() in options):  # letters mean options
                continue
            spellings = (needle, *_other_spellings(needle))
            self._own[letter] = spellings
            for spelling in spellings:
                by_text.setdefault(spelling, []).append(letter)
        self._needles = {
            needle: tuple(by_text[needle]) for needle in sorted(by_text, key=lambda n: (-len(n), n))
        }
        self._longer: dict[str, list[tuple[str, int]]] | None = None

    def at(self, view: View, at: int) -> Named | None:
        """The longest option text that stands at `at`, behind blanks, brackets and an article."""
        article = _compiled(_ARTICLE).match(view.lower, at)
        places = (at, *({article.end()} if article else ()))
        opening = _compiled(r"[\s({\[<]{0,4}").match(view.lower, at)
        for place in dict.fromkeys((opening.end() if opening else at, *places)):
            for needle, letters in self._needles.items():
                if view.lower.startswith(needle, place) and self._stands(view.lower, place, needle):
                    return Named(place, place + len(needle), letters)
        return None

    def own_at(self, view: View, at: int, letter: str) -> int | None:
        """Where the text of the option `letter` ends, if it stands at `at`."""
        for needle in self._own.get(letter, ()):
            if view.lower.startswith(needle, at) and _whole(view.lower, at, at + len(needle)):
                return at + len(needle)
        return None

    def named(self, view: View) -> list[Named]:
        """Every option text that the view names and does not deny, in order; inside a longer one none counts."""
        found: list[Named] = []
        text = view.lower
        for needle, letters in self._needles.items():
            at = text.find(needle)
            while at >= 0:
                end = at + len(needle)
                if self._stands(text, at, needle) and not self._inside_longer(text, at, needle):
                    found.append(Named(at, end, letters))
                at = text.find(needle, end)
        found.sort()
        named: list[Named] = []
        denied_until: int | None = None
        for one in found:
            joined = denied_until is not None and _compiled(_OR).fullmatch(text, denied_until, one.start)
            if joined or denied(text, one.start, one.end):
                denied_until = one.end
            else:
                named.append(one)
                denied_until = None
        return named

    def _stands(self, text: str, at: int, needle: str) -> bool:
        end = at + len(needle)
        if not _whole(text, at, end):
            return False
        if needle not in _FUNCTION_WORDS:
            return True
        before = _compiled(_BY_ITSELF_BEFORE).search(text, max(0, at - 8), at)
        return before is not None and _compiled(_BY_ITSELF_AFTER).match(text, end) is not None

    def _inside_longer(self, text: str, at: int, needle: str) -> bool:
        if self._longer is None:
            self._longer = {
                short: [
                    (long, offset)
                    for long in self._needles
                    if len(long) > len(short)
                    for offset in _offsets(long, short)
                ]
                for short in self._needles
            }
        return any(
            at >= offset
            and text.startswith(long, at - offset)
            and _whole(text, at - offset, at - offset + len(long))
            for long, offset in self._longer[needle]
        )


def denied(text: str, start: int, end: int) -> bool:
    """Whether the small-letter text denies what stands from `start` to `end`: `not 2258`, `2258 is wrong`."""
    if _compiled(_DENIED_BEFORE).search(text, max(0, start - _REACH), start):
        return True
    return _compiled(_DENIED_AFTER).match(text, end) is not None


def is_word_character(char: str) -> bool:
    """Whether `char` belongs to a word; characters of scripts without blanks between words do not."""
    if char.isascii():
        return char.isalnum() or char == "_"
    return char.isalnum() and not (
        "\u2e80" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
    )


def _whole(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] is cut out of no longer word or number."""
    first, last = text[start], text[end - 1]
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if before and is_word_character(before) and (is_word_character(first) or first in "-+"):
        return False
    if after and is_word_character(after) and is_word_character(last):
        return False
    far_before = text[start - 2] if start > 1 else ""
    far_after = text[end + 1 : end + 2]
    if first.isdigit() and before:
        # 2263 is not in 1,2263, 0.2263, .2263, 1/2263 or -2263; in "10-2263" it is.
        if before in ".,/:^-" and far_before.isdigit() and before != "-":
            return False
        if before in ".-" and not (far_before and (is_word_character(far_before) or far_before in ")]")):
            return False
    elif before == "-" and is_word_character(first) and far_before and is_word_character(far_before):
        return False  # non-toxic
    if last.isdigit():
        return not (after and after in ".,/:^-" and far_after.isdigit())
    return not (after == "-" and far_after and is_word_character(far_after) and is_word_character(last))


def _other_spellings(needle: str) -> tuple[str, ...]:
    """A whole number with or without commas between thousands."""
    if needle.isascii() and needle.isdigit():
        if 4 <= len(needle) <= 30 and needle[0] != "0":
            return (f"{int(needle):,}",)
    elif "," in needle and len(needle) <= 40 and _compiled(r"[1-9]\d{0,2}(?:,\d{3})+").fullmatch(needle):
        return (needle.replace(",", ""),)
    return ()


def _offsets(long: str, short: str) -> list[int]:
    offsets: list[int] = []
    at = long.find(short)
    while at >= 0 and len(offsets) < 8:
        offsets.append(at)
        at = long.find(short, at + 1)
    return offsets


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
