"""How alike two texts are, letter by letter."""

from __future__ import annotations


def levenshtein_similarity(one: str, other: str) -> float:
    """1 - distance / length of the longer text; 1 for two empty texts.

    >>> levenshtein_similarity("kitten", "sitting"), levenshtein_similarity("", "")
    (0.5714285714285714, 1.0)
    """
    from rapidfuzz.distance import Levenshtein  # 20 ms to import

    longer = max(len(one), len(other))
    return 1.0 - int(Levenshtein.distance(one, other)) / longer if longer else 1.0
