"""Arithmetic between constants, with a limit on the size of what comes out. Nothing is looked up, nothing is run."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

MAX_BITS = 4096
"""Longest whole number that an expression may give; `9**9**9` has 1.2 billion bits."""
MAX_ITEMS = 1_000
"""Most characters and items, nested ones included, that an expression may give; a reply may hold thousands of expressions."""

_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
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


def compute(name: str, left: Any, right: Any) -> Any:
    """The value of `left <name> right`. ValueError for what is refused, TypeError and ArithmeticError as Python raises
    them.

    >>> compute("Add", 2, 3.5), compute("Mult", "ab", 2)
    (5.5, 'abab')
    """
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if name not in _NUMBERS or not (numbers or name in ("Add", "Mult")):
        raise ValueError(f"{name} of {type(left).__name__} and {type(right).__name__} is not computed")
    if numbers:
        _guard_number(name, left, right)
    else:
        _guard_items(name, left, right)
    return _NUMBERS[name](left, right)


def _guard_number(name: str, left: float, right: float) -> None:
    if isinstance(left, float) or isinstance(right, float):
        return  # floats have one size
    if name == "Pow":
        bits = left.bit_length() * abs(right)
    elif name == "LShift":
        bits = left.bit_length() + abs(right)
    else:
        bits = left.bit_length() + right.bit_length()
    if bits > MAX_BITS:
        raise ValueError("the number is too large")


def _guard_items(name: str, left: Any, right: Any) -> None:
    counts = [side for side in (left, right) if isinstance(side, int)]
    total = _size(left) + _size(right)
    if total * (max(counts, default=1) if name == "Mult" else 1) > MAX_ITEMS:
        raise ValueError("the text or list is too long")


def _size(value: Any) -> int:
    """Characters and items, at every level: what a list costs when it is written out."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(_size(key) + _size(item) for key, item in value.items())
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 1
