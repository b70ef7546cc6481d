"""Verdicts of words and phrases, and what stands around them."""

from __future__ import annotations

import re
from functools import cache

from benchwright.scorers._verdict_words import (
    EITHER,
    JUDGING,
    NO,
    OTHER_CASE,
    YES,
)

_TRUTH = rf"[\W_]*(?:not\s)?(?:{'|'.join(sorted(JUDGING))})[\W_]*"


def whole_verdict(text: str) -> bool | None:
    if len(text) > 40:
        return None
    start, end = 0, len(text)
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return phrases().get(" ".join(text[start:end].split()))


def is_truth(text: str) -> bool:
    """Whether a verdict judges what was said, and not the question: `Correct.`"""
    return compiled(_TRUTH).fullmatch(text) is not None


def is_negated(found: re.Match[str]) -> bool:
    """Whether one of the groups of a match that are called `not` or `never` is in it."""
    return any(value and name.startswith(("not", "never")) for name, value in found.groupdict().items())


def is_remark(text: str, at: int) -> bool:
    """Whether the sentence that contains `at` is a remark about another case."""
    begin = max(text.rfind(mark, max(0, at - 400), at) for mark in ".;!?\n") + 1
    return compiled(OTHER_CASE).search(text, begin, at) is not None


def is_asked(text: str, end: int) -> bool:
    """Whether the sentence that goes on at `end` is a question."""
    stop = compiled(r"[.!?\n。？]").search(text, end, end + 200)
    return stop is not None and stop[0] in "?？"


def is_either(text: str, at: int) -> bool:
    """Whether a word is part of `yes or no`."""
    either = compiled(EITHER).finditer(text, max(0, at - 24), at + 32)
    return any(found.start() <= at < found.end() for found in either)


@cache
def phrases() -> dict[str, bool]:
    return {
        phrase.replace("_", " "): yes for words, yes in ((YES, True), (NO, False)) for phrase in words.split()
    }


@cache
def phrased(after: str, before: str = "") -> re.Pattern[str]:
    """Matches one of the phrases between what must stand before and after it."""
    known = sorted(map(re.escape, phrases()), key=len, reverse=True)
    return re.compile(rf"{before}(?P<phrase>{'|'.join(known)}){after}")


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
