"""Words that patterns can match, found by reading the patterns: without one of them in a text, none of the patterns is in it.

Quick paths ask this instead of trying some dozens of patterns: the words of a sentence are looked up in a set, which takes 1 µs, where
each pattern takes 1 to 20. A pattern that changes changes the words with it. `BENCHWRIGHT_PLAIN=1` switches it off.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache, reduce
from operator import or_
from re import _constants as ops, _parser as parser  # type: ignore[attr-defined]  # no other way to read a pattern
from typing import Any, NamedTuple, TypeAlias

from benchwright.core import FAST_PATHS

_WORDS = str.maketrans(
    {chr(code): " " for code in range(128) if not chr(code).isalpha() and chr(code) != "'"}
)
_TELLS_NOTHING = "a an and are as at by for he in is it of on only or she that the they this to was with"
_TELLS_LITTLE = "any be but can could do does es from get have has i one out so some than there total way we which will would you your"
_WEIGHTS = {
    **dict.fromkeys(_TELLS_NOTHING.split(), 0),
    **dict.fromkeys(_TELLS_LITTLE.split(), 1),
    "answer": 2,
}
"""How much a word tells, if not by its length: of two that a pattern needs, the one that tells more is looked for."""
_SHORT = 600
"""Characters of a pattern that is searched for as fast as all the words that it needs."""
_KEPT = 20_000
"""Words that are remembered; most texts are made of a few thousand."""


def words_of(lower: str) -> list[str]:
    """The words of a text in lower case.

    >>> words_of("it isn't 5.")
    ['it', "isn't"]
    """
    return lower.translate(_WORDS).split() if lower.isascii() else _words().findall(lower)


@cache
def _words() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_]+(?:'+[^\W\d_]*)*|'[^\W\d_]+")


class Needed(NamedTuple):
    """Of which every match contains one."""

    whole: frozenset[str]
    """Whole words."""
    parts: frozenset[str]
    """Parts of words."""

    def weight(self) -> tuple[int, int]:
        """How seldom texts contain one: a short part is in many words."""
        lengths = [_WEIGHTS.get(one, len(one) + 2) for one in self.whole]
        lengths += [max(0, len(one) - 2) for one in self.parts]
        return min(lengths, default=0), -len(lengths)

    def is_in(self, words: frozenset[str], text: str) -> bool:
        return not self.whole.isdisjoint(words) or any(part in text for part in self.parts)


class Triggers:
    """Tells whether patterns can match a text by the words of the text.

    Args:
        patterns: regular expressions of text in lower case.
        parts: more parts of words that a text must not contain.

    >>> triggers = Triggers([r"(?<!\\w)(?:not|kein)\\s(?:the\\s)?(?:end|start)"])
    >>> triggers.none_in(["the", "end"]), triggers.none_in(["not", "it"]), triggers.none_in(["not", "the", "end"])
    (True, True, False)
    """

    def __init__(self, patterns: Iterable[str], parts: Iterable[str] = ()) -> None:
        ways = [way for pattern in patterns for way in needed_words(pattern)]
        ways += [[Needed(frozenset(), frozenset([part]))] for part in parts]
        self._ways = ways
        self._whole: dict[str, list[list[Needed]]] = {}
        self._parts: dict[str, list[list[Needed]]] = {}
        for way in ways:
            for known, found in ((self._whole, way[0].whole), (self._parts, way[0].parts)):
                for one in found:
                    known.setdefault(one, []).append(way[1:])
        self._begun: dict[str, list[list[Needed]]] = {}
        """Word → the ways to match that it may begin, with what else they need."""
        self._harmless: set[str] = set()

    def none_in(self, words: Sequence[str]) -> bool:
        """Whether none of the patterns can match a text of these words."""
        if self._harmless.issuperset(words):
            return True
        begun = [way for word in words if word not in self._harmless for way in self._begun_by(word)]
        if not begun:
            return True
        text = " ".join(words)
        pieces = frozenset((*words, *text.replace("'", " ").split()) if "'" in text else words)
        return not any(all(one.is_in(pieces, text) for one in rest) for rest in begun)

    def begins(self) -> Iterator[Needed]:
        """What tells most of each way to match."""
        return (way[0] for way in self._ways)

    def _begun_by(self, word: str) -> list[list[Needed]]:
        known = self._begun.get(word)
        if known is not None:
            return known
        if len(self._harmless) + len(self._begun) >= _KEPT:
            self._harmless.clear()
            self._begun.clear()
        begun = [rest for piece in {word, *word.split("'")} for rest in self._whole.get(piece, ())]
        begun += [rest for part, rests in self._parts.items() if part in word for rest in rests]
        if begun:
            self._begun[word] = begun
        else:
            self._harmless.add(word)
        return begun


@cache
def needed_words(pattern: str) -> list[list[Needed]]:
    """For each way in which a pattern can match, the words of which the text contains one each, what tells most first.

    >>> [(sorted(one.whole), sorted(one.parts)) for way in needed_words(r"(?<!\\w)(?:so|thus),?\\s(?:the\\s)?\\w+|conclu") for one in way]
    [(['so'], []), (['thus'], []), ([], ['conclu'])]

    Raises:
        ValueError: a text without words can match.
    """
    ways = _ways(list(parser.parse(pattern)), False, False)
    if not all(ways):
        raise ValueError(f"a text without words can match {pattern}")
    return ways


_Tree: TypeAlias = list[tuple[Any, Any]]
_WIDTHLESS = (ops.ASSERT, ops.ASSERT_NOT, ops.AT)


def _ways(tree: _Tree, before: bool, after: bool) -> list[list[Needed]]:
    """What each alternative of a pattern needs, if it is nothing but alternatives; else what it needs."""
    wide = [at for at, (kind, _) in enumerate(tree) if kind not in _WIDTHLESS]
    if len(wide) == 1:
        at = wide[0]
        kind, value = tree[at]
        before, after = _edge(tree[:at], before, -1), _edge(tree[at + 1 :], after, 1)
        if kind is ops.BRANCH:
            return [way for one in value[1] for way in _ways(list(one), before, after)]
        if kind is ops.SUBPATTERN:
            return _ways(list(value[3]), before, after)
    for at, (kind, value) in enumerate(tree):
        inner = list(value[3]) if kind is ops.SUBPATTERN else [(kind, value)]
        if len(inner) == 1 and inner[0][0] is ops.BRANCH:
            begin = at
            while begin and tree[begin - 1][0] is ops.LITERAL and _is_letter(tree[begin - 1][1]):
                begin -= 1  # What alternatives have in common at their beginning was taken out of them.
            edges = _edge(tree[:begin], before, -1), _edge(tree[at + 1 :], after, 1)
            around = _choices(tree[:begin], before, _edge(tree[begin:], after, 1))
            around += _choices(tree[at + 1 :], _edge(tree[: at + 1], before, -1), after)
            ways = [_choices([*tree[begin:at], *one], *edges) for one in inner[0][1][1]]
            return [sorted((*around, *way), key=Needed.weight, reverse=True) for way in ways]
    return [sorted(_choices(tree, before, after), key=Needed.weight, reverse=True)]


def _of_sequence(tree: _Tree, before: bool, after: bool) -> Needed | None:
    """What tells most of what a sequence needs."""
    return max(_choices(tree, before, after), key=Needed.weight, default=None)


def _choices(tree: _Tree, before: bool, after: bool) -> list[Needed]:
    """What the parts of a sequence need.

    `before` and `after` tell whether what is around it ends and begins a word there.
    """
    choices: list[Needed] = []
    at = 0
    while at < len(tree):
        kind, value = tree[at]
        stop = at + 1
        if kind is ops.LITERAL and _is_letter(value):
            while stop < len(tree) and tree[stop][0] is ops.LITERAL and _is_letter(tree[stop][1]):
                stop += 1
            if stop < len(tree) and tree[stop][0] is ops.BRANCH:
                # What alternatives have in common at their beginning was taken out of them: `can(?:'t|not)`.
                whole = ops.BRANCH, (None, [[*tree[at:stop], *one] for one in tree[stop][1][1]])
                tree = [*tree[:at], whole, *tree[stop + 1 :]]
                continue
            word = frozenset(["".join(chr(code).lower() for _, code in tree[at:stop])])
            bounded = _edge(tree[:at], before, -1) and _edge(tree[stop:], after, 1)
            choices.append(Needed(word, frozenset()) if bounded else Needed(frozenset(), word))
        else:
            needed = _of_part(kind, value, _edge(tree[:at], before, -1), _edge(tree[stop:], after, 1))
            if needed is not None:
                choices.append(needed)
        at = stop
    return choices


def _of_part(kind: Any, value: Any, before: bool, after: bool) -> Needed | None:
    if kind is ops.BRANCH:
        branches = [_of_sequence(list(one), before, after) for one in value[1]]
        known = [one for one in branches if one is not None]
        if len(known) < len(branches):
            return None
        return Needed(
            frozenset[str]().union(*(one.whole for one in known)),
            frozenset[str]().union(*(one.parts for one in known)),
        )
    if kind is ops.SUBPATTERN:
        return _of_sequence(list(value[3]), before, after)
    if kind is ops.ATOMIC_GROUP:
        return _of_sequence(list(value), before, after)
    if kind in _REPEATS:
        once = value[1] == 1
        return _of_sequence(list(value[2]), once and before, once and after) if value[0] else None
    if kind is ops.ASSERT:
        return _of_sequence(list(value[1]), False, False)
    if kind is ops.IN and all(one is ops.LITERAL and _is_letter(code) for one, code in value):
        return Needed(frozenset(), frozenset(chr(code).lower() for _, code in value))
    return None


_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
_NO_LETTERS = (ops.CATEGORY_SPACE, ops.CATEGORY_DIGIT, ops.CATEGORY_NOT_WORD)


def _is_letter(code: int) -> bool:
    return chr(code).isalpha() or chr(code) == "'"


def _edge(tree: _Tree, beyond: bool, way: int) -> bool:
    """Whether what a sequence matches can only begin (`way` 1) or end (-1) with something else than a letter."""
    if not tree:
        return beyond
    kind, value = tree[0] if way > 0 else tree[-1]
    rest = tree[1:] if way > 0 else tree[:-1]
    if kind is ops.LITERAL:
        return not chr(value).isalpha()
    if kind is ops.IN:
        return all(_is_no_letter(*one) for one in value)
    if kind is ops.AT:
        return value is ops.AT_BOUNDARY or _edge(rest, beyond, way)
    if kind is ops.ASSERT_NOT and value[0] == way and _has_letters(list(value[1])):
        return True
    if kind in (ops.ASSERT, ops.ASSERT_NOT):
        return _edge(rest, beyond, way)
    if kind is ops.BRANCH:
        after = _edge(rest, beyond, way)
        return all(_edge(list(one), after, way) for one in value[1])
    if kind is ops.SUBPATTERN:
        return _edge(list(value[3]), _edge(rest, beyond, way), way)
    if kind in _REPEATS:
        inner = _edge(list(value[2]), False, way)
        return inner and (value[0] > 0 or _edge(rest, beyond, way))
    return False


def _is_no_letter(kind: Any, value: Any) -> bool:
    if kind is ops.LITERAL:
        return not chr(value).isalpha()
    if kind is ops.RANGE:
        return value[1] < 128 and not any(chr(code).isalpha() for code in range(value[0], value[1] + 1))
    return kind is ops.CATEGORY and value in _NO_LETTERS


def _has_letters(tree: _Tree) -> bool:
    """Whether what must not come next contains all letters: `(?!\\w)`."""
    if len(tree) != 1:
        return False
    kind, value = tree[0]
    if kind is ops.BRANCH:
        return any(_has_letters(list(one)) for one in value[1])
    return kind is ops.IN and (ops.CATEGORY, ops.CATEGORY_WORD) in value


_EQUAL_LETTERS = "ſıϐϑ\u1c80\u1c81"
"""Small letters that equal others where case is ignored."""


Told: TypeAlias = tuple[str, Collection[str], Collection[str], Collection[str]]
"""A pattern, and the words, beginnings of words and parts of words that tell of it."""


class WordBits(dict[str, int]):
    """Word → the patterns that it tells of, a bit for each: the bits of a text are those of its words."""

    __slots__ = ("_begins", "_names", "_parts", "_whole", "count", "patterns")

    def __init__(self, before: WordBits | None = None, more: Sequence[Told] = ()) -> None:
        self.count: int = before.count if before is not None else 0
        self.patterns: list[str] = [
            *(before.patterns if before is not None else ()),
            *(told[0] for told in more),
        ]
        self._names: dict[int, tuple[str, ...]] = {}
        self._whole: dict[str, int] = {**before._whole} if before is not None else {}
        self._begins: dict[str, int] = {**before._begins} if before is not None else {}
        self._parts: dict[str, dict[str, int]] = {**before._parts} if before is not None else {}
        """By their first two letters."""
        for _, whole, begins, parts in more:
            bit = 1 << self.count
            self.count += 1
            for word in whole:
                self._whole[word] = self._whole.get(word, 0) | bit
            for begin in begins:
                self._begins[begin] = self._begins.get(begin, 0) | bit
            for part in parts:
                same = self._parts.get(part[:2], {})
                self._parts[part[:2]] = {**same, part: same.get(part, 0) | bit}

    def named(self, bits: int) -> tuple[str, ...]:
        """The patterns of some bits."""
        names = self._names.get(bits)
        if names is None:
            numbered = enumerate(self.patterns)
            names = self._names[bits] = tuple(name for number, name in numbered if bits >> number & 1)
        return names

    def __missing__(self, word: str) -> int:
        if len(self) >= _KEPT:
            self.clear()
        bits = self._whole.get(word, 0)
        if "'" in word:
            for piece in word.split("'"):
                bits |= self._whole.get(piece, 0)
        if self._begins:
            for end in range(1, len(word) + 1):
                bits |= self._begins.get(word[:end], 0)
        for at, letter in enumerate(word):
            for key in {letter, word[at : at + 2]}:
                for part, its in self._parts.get(key, {}).items():
                    if word.startswith(part, at):
                        bits |= its
        self[word] = bits
        return bits


class KnownPatterns:
    """The patterns that texts were asked about. Threads may add some at the same time: a table that was built does not change."""

    def __init__(self) -> None:
        self._added: list[Told] = []
        self._table = WordBits()

    def add(self, told: Told) -> int:
        """Add a pattern; its number."""
        self._added.append(told)
        return next(number for number, one in enumerate(self._added) if one is told)

    def table(self) -> WordBits:
        """The bits of words, for all patterns so far."""
        table = self._table
        if table.count < len(self._added):
            table = self._table = WordBits(table, self._added[table.count :])
        return table


class Gate(dict[str, bool]):
    """Pattern → whether it may be in a text; False only if it cannot.

    The words of the text are looked up once for all patterns that were asked about before. A text of five sentences takes 5 µs of CPU,
    and each pattern then 0.2.

    Args:
        lower: the text, in lower case. Of a part of it that cuts no word, what holds for the text holds too.

    >>> gate = Gate("it is so")
    >>> gate[r"(?<!\\w)(?:wait|sorry)(?!\\w)"], gate[r"(?<!\\w)(?:so|thus)(?!\\w)"]
    (False, True)
    """

    __slots__ = ("_bits", "_known", "_words")

    def __init__(self, lower: str) -> None:
        self._words: list[str] | None = None
        if not FAST_PATHS or (not lower.isascii() and any(letter in lower for letter in _EQUAL_LETTERS)):
            return
        self._words = [*dict.fromkeys(words_of(lower))]
        table = _KNOWN.table()
        self._known = table.count
        """Patterns that `_bits` tells of."""
        self._bits = reduce(or_, map(table.__getitem__, self._words), 0)

    def __missing__(self, pattern: str) -> bool:
        may = self[pattern] = self._words is None or self._may(pattern, self._words)
        return may

    def _may(self, pattern: str, words: list[str]) -> bool:
        known = _known_pattern(pattern)
        if known is None:
            return True
        triggers, number = known
        if number < self._known:
            told = self._bits >> number & 1 == 1
            if not told or len(pattern) < _SHORT:
                return told
        return not triggers.none_in(words)


_KNOWN = KnownPatterns()
gate_of = lru_cache(maxsize=8)(Gate)
"""The gate of a text: one text is asked about many patterns."""


@cache
def _known_pattern(pattern: str) -> tuple[Triggers, int] | None:
    """What tells of a pattern, and its number; None: nothing does."""
    try:
        triggers = Triggers([pattern])
    except ValueError:
        return None
    needed = [*triggers.begins()]
    whole = {word for one in needed for word in one.whole}
    parts = {part for one in needed for part in one.parts}
    return triggers, _KNOWN.add((pattern, whole, (), parts))


def may_match(pattern: str, lower: str) -> bool:
    """Whether a pattern may match a text in lower case; False only if it cannot.

    >>> may_match(r"(?<!\\w)(?:wait|sorry)(?!\\w)", "it is so"), may_match(r"(?<!\\w)(?:wait|sorry)(?!\\w)", "oh, wait")
    (False, True)
    """
    return gate_of(lower)[pattern]
