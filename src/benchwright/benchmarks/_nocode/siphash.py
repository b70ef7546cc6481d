"""SipHash-1-3 with zero keys, as the hash of a text that published shuffles were made with."""

from __future__ import annotations

_MASK = (1 << 64) - 1


def siphash13(text: str) -> int:
    """64 bits that stand for a text: its UTF-8 bytes and one byte 0xFF behind them.

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
