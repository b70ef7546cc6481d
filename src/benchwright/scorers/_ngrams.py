"""Tokens, n-grams and how many of them two texts share."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Sequence


def composed(text: str) -> str:
    """A text in which an accented letter is one character, however it was typed: `é` and `é` are equal."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def tokens(text: str) -> list[str]:
    """Lower-cased words between Unicode whitespace."""
    return text.lower().split()


def ngrams(items: Sequence[str], n: int) -> Sequence[Hashable]:
    """Runs of `n` items in order: slices of a text, tuples of a list. Empty when there are fewer items."""
    if isinstance(items, str):
        return [items[i : i + n] for i in range(len(items) - n + 1)]
    return list(zip(*(items[i:] for i in range(n)), strict=False))


def overlap(left: Iterable[Hashable], right: Iterable[Hashable]) -> int:
    """Size of the multiset intersection."""
    # A plain dict: `Counter & Counter` takes 7 times as long for 3 words, 3 times for 15.
    available: dict[Hashable, int] = {}
    count = available.get
    for item in right:
        available[item] = count(item, 0) + 1
    common = 0
    for item in left:
        remaining = count(item)
        if remaining:
            available[item] = remaining - 1
            common += 1
    return common


def f_score(precision: float, recall: float, beta_squared: float = 1.0) -> float:
    """Weighted harmonic mean of precision and recall; 0.0 when both are 0."""
    if precision + recall == 0:
        return 0.0
    return (1 + beta_squared) * precision * recall / (beta_squared * precision + recall)
