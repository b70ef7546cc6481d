"""Reads and labels the choices of a row, and puts them into a reproducible order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from benchwright.benchmarks._nocode.templates import scalar_text, text_of
from benchwright.config import ChoiceStyle
from benchwright.core import MissingFieldError, Row, load_json

_MASK = (1 << 64) - 1


def siphash13(text: str) -> int:
    """The 64-bit SipHash-1-3 of a text: its UTF-8 bytes, then one byte 0xFF.

    >>> f"{siphash13('hello'):016x}", f"{siphash13(''):016x}"
    ('e037876b880b8ed9', '30406ea523c53def')
    """
    data = text.encode() + b"\xff"
    a, b, c, d = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573
    whole = len(data) - len(data) % 8
    last = int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56
    for word in [*(int.from_bytes(data[at : at + 8], "little") for at in range(0, whole, 8)), last]:
        d ^= word
        a, b, c, d = _round(a, b, c, d)
        a ^= word
    c ^= 0xFF
    for _ in range(3):
        a, b, c, d = _round(a, b, c, d)
    return a ^ b ^ c ^ d


def _round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    a = (a + b) & _MASK
    b = _rotated(b, 13) ^ a
    a = _rotated(a, 32)
    c = (c + d) & _MASK
    d = _rotated(d, 16) ^ c
    a = (a + d) & _MASK
    d = _rotated(d, 21) ^ a
    c = (c + b) & _MASK
    b = _rotated(b, 17) ^ c
    return a, b, _rotated(c, 32), d


def _rotated(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & _MASK


_PREFIX = "custom-nocode-choice-shuffle-v1"


def shuffled(count: int, seed: str, algorithm: str = "sha256") -> list[int]:
    """The positions 0 to count - 1, shuffled by a seed with Fisher-Yates from the end.

    >>> [["a", "b", "c", "d"][at] for at in shuffled(4, "rec1", "siphash13")]
    ['a', 'c', 'b', 'd']
    """
    number = _HASHES[algorithm]
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        chosen = number(f"{_PREFIX}:{seed}:{last}") % (last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


def _sha256(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


_HASHES: dict[str, Callable[[str], int]] = {"sha256": _sha256, "siphash13": siphash13}


LAST_TOKENS = 8
"""How many of a reply's last words are searched."""


def label_of(reply: str, labels: Sequence[str]) -> str | None:
    """The label that a reply gives: the whole reply, else the last label among its last eight words.

    Case does not matter, nor do characters around a word that are neither letters nor digits. None: unparsed.

    >>> label_of("The answer is (b).", ["A", "B"]), label_of("neither", ["A", "B"])
    ('B', None)
    """
    text = reply.strip()
    known = {label.strip().casefold(): label for label in reversed(labels)}
    whole = known.get(text.casefold())
    if whole is not None:
        return whole
    bare = {stripped(label): label for label in reversed(labels)}
    for token in reversed(text.split()[-LAST_TOKENS:]):
        word = stripped(token)
        found = known.get(word) or (bare.get(word) if word else None)
        if found is not None:
            return found
    return None


def leading_label(reply: str, labels: Sequence[str], tokens: int) -> str | None:
    """The first of a reply's first words that is a label.

    >>> leading_label("Well, yes: it does.", ["yes", "no"], 5)
    'yes'
    """
    known = {stripped(label): label for label in reversed(labels)}
    return next((known[word] for token in reply.split()[:tokens] if (word := stripped(token)) in known), None)


def stripped(token: str) -> str:
    """A word in lower case, without surrounding characters.

    >>> stripped("**(B)**,")
    'b'
    """
    start, end = 0, len(token)
    while start < end and not token[start].isalnum():
        start += 1
    while end > start and not token[end - 1].isalnum():
        end -= 1
    return token[start:end].casefold()


class ChoiceReader:
    """Reads the choices of rows. Raises MissingFieldError, with the reason, for a row that cannot be sent."""

    __slots__ = ("_style",)

    def __init__(self, style: ChoiceStyle) -> None:
        self._style = style

    @property
    def columns(self) -> frozenset[str]:
        """Columns that choices come from."""
        style = self._style
        return frozenset(style.columns) | ({style.column} if style.column is not None else set())

    def __call__(self, row: Row) -> tuple[list[dict[str, str]], str]:
        """Label and text of each choice of a row, in order, as templates see them; and the label of the right one."""
        style = self._style
        texts = self._texts(row)
        labels = style.labels
        if not texts or len(texts) > len(labels):
            where = style.column or ", ".join(style.columns)
            raise MissingFieldError(
                where,
                reason=f'"{where}" contains {len(texts)} choices; expected 1 to {len(labels)} (choice_labels)',
            )
        right = self._right(row, len(texts))
        order = list(range(len(texts)))
        if style.seed_column is not None:
            seed = scalar_text(row, style.seed_column, "the shuffle's seed_column")
            order = shuffled(len(texts), seed, style.algorithm)
        shown = [{"label": label, "text": texts[at]} for label, at in zip(labels, order, strict=False)]
        return shown, labels[order.index(right)]

    def golden(self, row: Row) -> str:
        """The right label; empty for a row that cannot be sent."""
        try:
            return self(row)[1]
        except MissingFieldError:
            return ""

    def _texts(self, row: Row) -> list[str]:
        style = self._style
        if style.column is None:
            return [scalar_text(row, column, "the choice") for column in style.columns]
        column = style.column
        if column not in row:
            scalar_text(row, column, "the column of choices")  # reports what is there instead
        value: Any = row[column]
        if isinstance(value, str):
            try:
                value = load_json(value)
            except ValueError:
                raise _odd(column, "a text that is not JSON") from None
        if isinstance(value, dict):
            lacking = [label for label in style.labels if label not in value]
            if lacking:
                raise _odd(column, f"an object without {', '.join(lacking)}")
            value = [value[label] for label in style.labels]
        if not isinstance(value, list):
            raise _odd(column, "null" if value is None else f"a {type(value).__name__}")
        texts = [text_of(entry) for entry in value]
        kept = [text for text in texts if text is not None]
        if len(kept) != len(texts):
            raise _odd(column, "something other than texts, numbers and booleans")
        return kept

    def _right(self, row: Row, count: int) -> int:
        style = self._style
        column, labels = style.answer_column, style.labels[:count]
        if style.answer == "choice":
            return style.columns.index(column)
        given = scalar_text(row, column, "the answer's column").strip()
        if style.answer == "label":
            for at, label in enumerate(labels):
                if label.strip().casefold() == given.casefold():
                    return at
            raise MissingFieldError(
                column, reason=f'"{column}" is {given!r}; expected one of {", ".join(labels)}'
            )
        try:
            number = float(given)
            at = int(number) - style.index_base
            fits = number == int(number) and 0 <= at < count
        except (ValueError, OverflowError):
            fits = False
        if not fits or isinstance(row[column], bool):
            last = style.index_base + count - 1
            raise MissingFieldError(
                column,
                reason=f'"{column}" is {given!r}; expected a whole number from {style.index_base} to {last} (index_base '
                f"{style.index_base})",
            )
        return at


def _odd(column: str, found: str) -> MissingFieldError:
    return MissingFieldError(
        column,
        reason=f'"{column}" is {found}; expected a list of choices, an object by label, or either as JSON text',
    )
