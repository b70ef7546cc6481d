"""Finds the matches of a pattern where it can begin: at words that begin like it, found by reading the pattern.

A pattern that begins with `(?<!\\w)` is tried at every character. In a text of 500 characters that takes 100 µs of CPU if case is
ignored. One pass over the words of the text, which takes 15, finds where each of the patterns that were asked about before can begin.
`BENCHWRIGHT_PLAIN=1` switches it off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from re import _constants as ops, _parser as parser  # type: ignore[attr-defined]  # no other way to read a pattern
from typing import Any, NamedTuple, TypeAlias

from benchwright.core import FAST_PATHS
from benchwright.scorers._triggers import KnownPatterns

_Tree: TypeAlias = list[tuple[Any, Any]]
_STOP = (None, None)
"""Ends what is known of a beginning."""
_BEFORE_WORDS = (
    [(ops.IN, [(ops.CATEGORY, ops.CATEGORY_WORD)])],
    [(ops.IN, [(ops.NEGATE, None), (ops.CATEGORY, ops.CATEGORY_NOT_WORD), (ops.LITERAL, ord("_"))])],
)
"""What must not come before a word: `(?<!\\w)` and `(?<![^\\W_])`."""
_WORD_ENDS = ((ops.AT, ops.AT_BOUNDARY), (ops.IN, [(ops.CATEGORY, ops.CATEGORY_SPACE)]))
"""What a word ends before: `\\b`, after a letter, and `\\s`."""
_IRREGULAR = frozenset("ıſİµͅΐΰϐϵϑϰϖϱςϕẛﬅﬆ\u212a\u1c80\u1c81\u1c82\u1c83\u1c84\u1c85\u1c86\u1c87\u1c88")
"""Letters that equal others where case is ignored, though they are not their capital letters."""
_BLANKS = {code: " " for code in range(128) if not chr(code).isalnum()}


class Starts(NamedTuple):
    """How the matches of a pattern can begin, in lower case."""

    prefixes: tuple[str, ...]
    """What a word begins with."""
    words: frozenset[str]
    """Whole words."""
    anywhere: tuple[str, ...]
    """Also within words."""

    def places(self, lower: str) -> list[int]:
        """Where a text in lower case has one of them."""
        found = {at for at, word in words_at(lower) if word in self.words or word.startswith(self.prefixes)}
        for part in self.anywhere:
            found.update(one.start() for one in re.finditer(re.escape(part), lower))
        return sorted(found)


class _UnknownError(Exception):
    """A pattern can begin with anything."""


class WordStarts(dict[str, Sequence[int] | None]):
    """Pattern → the places of a text where it can begin if case is ignored, in order; None if it can begin anywhere.

    Args:
        lower: the text in lower case, each letter at its place.

    >>> WordStarts("it isn't so, is it?")[r"(?:(?<!\\w)is(?!\\w)|n't)"]
    [5, 13]
    """

    __slots__ = ("_lower",)

    def __init__(self, lower: str) -> None:
        self._lower: str | None = None
        if not FAST_PATHS or (not lower.isascii() and _IRREGULAR.intersection(lower)):
            return
        self._lower = lower
        table = _KNOWN.table()
        super().__init__(dict.fromkeys(table.patterns, ()))
        found: dict[str, list[int]] = {}
        for at, word in words_at(lower):
            bits = table[word]
            if bits:
                for pattern in table.named(bits):
                    if pattern in found:
                        found[pattern].append(at)
                    else:
                        found[pattern] = [at]
        for part, patterns in _PARTS.items():
            if part in lower:
                places = [one.start() for one in re.finditer(re.escape(part), lower)]
                for pattern in patterns:
                    if pattern in self:
                        found[pattern] = sorted({*found.get(pattern, ()), *places})
        self.update(found)

    def __missing__(self, pattern: str) -> Sequence[int] | None:
        starts = None if self._lower is None else _known_pattern(pattern)
        places = self[pattern] = None if starts is None else starts.places(self._lower or "")
        return places


_KNOWN = KnownPatterns()
_PARTS: dict[str, tuple[str, ...]] = {}
"""Part of words → the patterns that can begin with it."""


@cache
def _known_pattern(pattern: str) -> Starts | None:
    """How a pattern can begin, which is remembered for the next text."""
    starts = starts_of(pattern)
    if starts is not None:
        for part in starts.anywhere:
            _PARTS[part] = (*_PARTS.get(part, ()), pattern)
        _KNOWN.add((pattern, starts.words, starts.prefixes, ()))
    return starts


def words_at(lower: str) -> Iterator[tuple[int, str]]:
    """The words of a text, each with its place.

    >>> [*words_at("it is_so")]
    [(0, 'it'), (3, 'is'), (6, 'so')]
    """
    if not lower.isascii():
        yield from ((found.start(), found[0]) for found in _runs().finditer(lower))
        return
    at = 0
    for word in lower.translate(_BLANKS).split(" "):
        if word:
            yield at, word
        at += len(word) + 1


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+")


@cache
def starts_of(pattern: str) -> Starts | None:
    """How the matches of a pattern can begin; None if they can begin with anything.

    >>> starts = starts_of(r"(?:(?<!\\w)(?:not|neither\\s)|n't)[a-z]")
    >>> starts.prefixes, sorted(starts.words), starts.anywhere
    (('not',), ['neither'], ("n't",))
    >>> starts_of(r"\\w+ly") is None
    True
    """
    try:
        begins = {(bounded, part.lower()) for bounded, part in _begins(list(parser.parse(pattern)), False)}
    except _UnknownError:
        return None
    prefixes, words, anywhere = set(), set(), set()
    for bounded, part in begins:
        if _IRREGULAR.intersection(part):
            return None
        begin = _runs().match(part)
        if not bounded or begin is None:
            anywhere.add(part.rstrip(" "))
        elif begin.end() < len(part):
            words.add(begin[0])
        else:
            prefixes.add(part)
    if any(len(part) < 2 and part.isalnum() and part.isascii() for part in anywhere) or "" in anywhere:
        return None
    return Starts(tuple(sorted(prefixes)), frozenset(words), tuple(sorted(anywhere)))


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
    """The letters that a pattern goes on with, and a blank where the word then ends."""
    found = ""
    for kind, value in tree:
        if kind is ops.LITERAL:
            found += chr(value)
        elif (kind, value) in _WORD_ENDS or _ends_word(kind, value):
            return f"{found} "
        elif kind not in (ops.ASSERT, ops.ASSERT_NOT):
            return found
    return found


def _ends_word(kind: Any, value: Any) -> bool:
    """Whether a part says that no letter follows: `(?!\\w)`."""
    return kind is ops.ASSERT_NOT and value[0] > 0 and list(value[1]) in _BEFORE_WORDS
