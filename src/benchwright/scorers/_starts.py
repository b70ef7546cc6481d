"""Finds the matches of a pattern where it can begin: at words that begin with one of its first letters, found by reading the pattern.

A pattern that begins with `(?<!\\w)` is tried at every character. In a text of 500 characters that takes 100 µs of CPU if case is
ignored; at the beginnings of some twenty words it takes 10. `BENCHWRIGHT_PLAIN=1` switches it off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from re import _constants as ops, _parser as parser  # type: ignore[attr-defined]  # no other way to read a pattern
from typing import Any, NamedTuple, TypeAlias

from benchwright.core import FAST_PATHS

_Tree: TypeAlias = list[tuple[Any, Any]]
_STOP = (None, None)
"""Ends what is known of a beginning."""
_BEFORE_WORDS = (
    [(ops.IN, [(ops.CATEGORY, ops.CATEGORY_WORD)])],
    [(ops.IN, [(ops.NEGATE, None), (ops.CATEGORY, ops.CATEGORY_NOT_WORD), (ops.LITERAL, ord("_"))])],
)
"""What must not come before a word: `(?<!\\w)` and `(?<![^\\W_])`."""
_EQUAL_ELSEWHERE = frozenset("ıſİ\u212a")
"""Letters that equal plain ones where case is ignored."""


class Starts(NamedTuple):
    """How the matches of a pattern in a plain text can begin."""

    letters: frozenset[str]
    """The first one or two letters of a word."""
    anywhere: tuple[str, ...]
    """Also within words."""


class _UnknownError(Exception):
    """A pattern can begin with anything."""


def word_starts(text: str) -> list[int]:
    """Where the words of a text begin.

    >>> word_starts("it is_so")
    [0, 3, 6]
    """
    return [found.start() for found in _runs().finditer(text)]


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+")


def matches_in(
    pattern: re.Pattern[str], text: str, lower: str, words: Iterable[int]
) -> Iterator[re.Match[str]]:
    """What `pattern.finditer(text)` gives.

    Args:
        pattern: the pattern, of any case or none.
        text: the text.
        lower: the text in lower case, each letter at its place.
        words: what `word_starts` gives.
    """
    found = places_in(pattern, text, lower, words)
    return pattern.finditer(text) if found is None else _matched(pattern, text, found)


def places_in(pattern: re.Pattern[str], text: str, lower: str, words: Iterable[int]) -> list[int] | None:
    """Where a pattern can begin, in order; None if it can begin anywhere."""
    starts = starts_of(pattern.pattern) if FAST_PATHS and text.isascii() else None
    if starts is None:
        return None
    letters = starts.letters
    found = [at for at in words if lower[at] in letters or lower[at : at + 2] in letters]
    for part in starts.anywhere:
        at = lower.find(part)
        while at >= 0:
            found.append(at)
            at = lower.find(part, at + 1)
    if starts.anywhere:
        found.sort()
    return found


def _matched(pattern: re.Pattern[str], text: str, places: list[int]) -> Iterator[re.Match[str]]:
    end = 0
    for at in places:
        if at >= end and (found := pattern.match(text, at)):
            yield found
            end = found.end()


@cache
def starts_of(pattern: str) -> Starts | None:
    """How the matches of a pattern in a plain text can begin; None if they can begin with anything.

    >>> starts = starts_of(r"(?:(?<!\\w)(?:not|neither)|n't)\\s[a-z]")
    >>> sorted(starts.letters), starts.anywhere
    (['ne', 'no'], ("n't",))
    >>> starts_of(r"\\w+ly") is None
    True
    """
    try:
        begins = set(_begins(list(parser.parse(pattern)), False))
    except _UnknownError:
        return None
    if any(_EQUAL_ELSEWHERE.intersection(part) for _, part in begins):
        return None
    plain = [(bounded, part.lower()) for bounded, part in begins if part.isascii()]
    anywhere = tuple(sorted({part for bounded, part in plain if not (bounded and part[0].isalnum())}))
    if any(len(part) < 2 and part.isalnum() for part in anywhere):
        return None
    return Starts(frozenset(part[:2] for bounded, part in plain if bounded and part[0].isalnum()), anywhere)


def _begins(tree: _Tree, bounded: bool, whole: bool = True) -> Iterator[tuple[bool, str]]:
    """Each way to begin: whether only a word can begin so, and the first letters; not `whole`: one may do."""
    for at, (kind, value) in enumerate(tree):
        rest = tree[at + 1 :]
        if kind is ops.ASSERT_NOT and value[0] < 0 and list(value[1]) in _BEFORE_WORDS:
            bounded = True
        elif kind in (ops.ASSERT, ops.ASSERT_NOT, ops.AT):
            pass
        elif kind is ops.LITERAL:
            more = _literals(rest)
            try:
                seconds = {more} if more or not whole else {one for _, one in _begins(rest, False, False)}
            except _UnknownError:
                seconds = {""}
            yield from ((bounded, chr(value) + one) for one in seconds)
            return
        elif kind is ops.IN and all(one is ops.LITERAL for one, _ in value):
            yield from ((bounded, chr(code)) for _, code in value)
            return
        elif kind is ops.SUBPATTERN:
            yield from _begins([*value[3], *rest], bounded, whole)
            return
        elif kind is ops.BRANCH:
            for one in value[1]:
                yield from _begins([*one, *rest], bounded, whole)
            return
        elif kind in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            yield from _begins([*value[2], _STOP], bounded, whole)
            if value[0]:
                return
        else:
            raise _UnknownError
    raise _UnknownError  # it can be empty


def _literals(tree: _Tree) -> str:
    found = ""
    for kind, value in tree:
        if kind is not ops.LITERAL:
            break
        found += chr(value)
    return found
