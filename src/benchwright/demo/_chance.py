"""Chance without randomness: numbers that depend on a seed and a text only, the same on every machine."""

from __future__ import annotations

import hashlib
from zlib import crc32

ONE = 1 << 32
"""The number of values a 32-bit draw can take."""


class Chance:
    """Draws that are functions of (seed, text)."""

    __slots__ = ("_base",)

    def __init__(self, seed: int) -> None:
        self._base = hashlib.blake2b(b"benchwright-demo/%d/" % seed, digest_size=8)

    def bits(self, text: str) -> int:
        """64 bits for a text."""
        state = self._base.copy()  # copying a prepared state is cheaper than hashing the seed again
        state.update(text.encode("utf-8", "surrogatepass"))
        return int.from_bytes(state.digest(), "little")


def limit_of(probability: float) -> int:
    """The number below which a 32-bit draw falls with this probability (1.0: always)."""
    return int(probability * ONE)


def prefix_hash(text: str, before: int) -> int:
    """Running hash of a text: `prefix_hash(b, prefix_hash(a, h))` equals `prefix_hash(a + b, h)`."""
    return crc32(text.encode("utf-8", "surrogatepass"), before)


def share(value: int) -> float:
    """A 32-bit hash stirred into a number in [0, 1). CRC-32 alone is linear: near texts give near values."""
    value = (value ^ (value >> 16)) * 0x7FEB352D & 0xFFFFFFFF
    value = (value ^ (value >> 15)) * 0x846CA68B & 0xFFFFFFFF
    return (value ^ (value >> 16)) / ONE
