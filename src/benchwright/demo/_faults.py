"""Chance without randomness, the same on every machine: numbers that depend on a seed and a text only, and which attempt of
a request they let fail, and how.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from zlib import crc32

from benchwright.demo._settings import DemoSettings, FaultKind

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


_MAX_REMEMBERED = 65_536
"""Requests whose number of attempts is remembered; older ones start again at the first attempt."""


class Faults:
    """Picks the fault, if any, of each attempt."""

    def __init__(self, settings: DemoSettings) -> None:
        self._chance = Chance(settings.seed ^ 0x5EED)
        self._limit = limit_of(settings.error_rate)
        weights = [(kind, weight) for kind, weight in settings.faults.weights() if weight]
        total = sum(weight for _, weight in weights)
        bounds = []
        reached = 0.0
        for kind, weight in weights:
            reached += weight / total
            bounds.append((kind, int(reached * ONE)))
        self._bounds: list[tuple[FaultKind, int]] = bounds
        self._attempts: OrderedDict[int, int] = OrderedDict()

    def pick(self, payload: bytes, repeat: int, attempt: int) -> FaultKind | None:
        """The fault of one attempt of a request; `attempt` counts from 0."""
        bits = self._chance.bits(f"{repeat}/{attempt}/{payload.decode('utf-8', 'replace')}")
        if (bits & 0xFFFFFFFF) >= self._limit:
            return None
        drawn = bits >> 32
        for kind, bound in self._bounds:
            if drawn < bound:
                return kind
        return self._bounds[-1][0]

    def pick_next(self, payload: bytes) -> FaultKind | None:
        """The same for a server, which sees only bodies: equal bodies are taken for attempts of one request."""
        key = self._chance.bits(payload.decode("utf-8", "replace"))
        attempt = self._attempts.pop(key, -1) + 1
        self._attempts[key] = attempt
        if len(self._attempts) > _MAX_REMEMBERED:
            self._attempts.popitem(last=False)
        return self.pick(payload, 0, attempt)
