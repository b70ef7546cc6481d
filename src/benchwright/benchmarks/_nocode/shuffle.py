"""A new order of choices for each row, the same wherever it is computed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from benchwright.benchmarks._nocode.siphash import siphash13

_PREFIX = "custom-nocode-choice-shuffle-v1"


def shuffled(count: int, seed: str, algorithm: str = "sha256") -> list[int]:
    """The positions 0 to count - 1 in the order that a seed gives: Fisher-Yates from the end.

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
