"""Operators on constants, with a limit on the size of what comes out. Nothing is looked up, nothing is run."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

MAX_BITS = 4096
"""The most bits of an integer result; `9**9**9` has 1.2 billion."""
MAX_ITEMS = 1_000
"""The most characters and items of a result, including nested ones; a reply may contain thousands of expressions."""

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "BitOr": operator.or_,
    "BitAnd": operator.and_,
    "BitXor": operator.xor,
}

_UNARY: dict[str, Callable[[Any], Any]] = {
    "USub": operator.neg,
    "UAdd": operator.pos,
    "Invert": operator.invert,
    "Not": operator.not_,
}


def compute(name: str, left: Any, right: Any) -> Any:
    """The value of `left <name> right`. Raises ValueError if it is refused, and TypeError and ArithmeticError like Python.

    >>> compute("Add", 2, 3.5), compute("Mult", "ab", 2), compute("Mod", "%d km", 5)
    (5.5, 'abab', '5 km')
    """
    if name not in _BINARY:
        raise ValueError(f"{name} is not computed")
    if isinstance(left, int | float | complex) and isinstance(right, int | float | complex):
        _guard_number(name, left, right)
    elif name == "Mod" and isinstance(left, str | bytes):
        _guard_format(left, right)
    else:
        _guard_items(name, left, right)
    return _BINARY[name](left, right)


def compute_unary(name: str, value: Any) -> Any:
    """The value of `<name> value`. The published evaluation takes each operator for a minus, so that `+5` is -5 there.

    >>> compute_unary("USub", 5), compute_unary("UAdd", 5), compute_unary("Invert", 5), compute_unary("Not", 5)
    (-5, 5, -6, False)
    """
    return _UNARY[name](value)


def _guard_number(name: str, left: complex, right: complex) -> None:
    if not (isinstance(left, int) and isinstance(right, int)):
        return  # floats have one size
    if name == "Pow":
        bits = left.bit_length() * abs(right)
    elif name == "LShift":
        bits = left.bit_length() + abs(right)
    else:
        bits = left.bit_length() + right.bit_length()
    if bits > MAX_BITS:
        raise ValueError("the number is too large")


def _guard_format(pattern: str | bytes, values: Any) -> None:
    """A pattern may show each value often, and as wide as it says; with `*`, a value says it."""
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    wide = sum(map(int, re.findall("[0-9]+", text)))
    if "*" in text or len(text) + wide + text.count("%") * _size(values) > MAX_ITEMS:
        raise ValueError("the text may become too long")


def _guard_items(name: str, left: Any, right: Any) -> None:
    counts = [side for side in (left, right) if isinstance(side, int)]
    total = _size(left) + _size(right)
    if total * (max(counts, default=1) if name == "Mult" else 1) > MAX_ITEMS:
        raise ValueError("the text or list is too long")


def _size(value: Any) -> int:
    """Characters and items, at every level: what a list costs when it is written out."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, int):
        return 1 + value.bit_length() // 32
    if isinstance(value, dict):
        return sum(_size(key) + _size(item) for key, item in value.items())
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 1
