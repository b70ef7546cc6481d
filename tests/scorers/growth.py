"""Whether work grows with the length of a text, and not with its square."""

from __future__ import annotations

import time
from collections.abc import Callable

_CHARS = 15_000


def assert_linear(read: Callable[[str], object], unit: str) -> None:
    """A text four times as long takes about four times as long; sixteen times would be its square.

    Only processor time counts, and less than a second more is no growth.
    """
    read(unit)
    short, long = (_cost(read, unit * (chars // len(unit))) for chars in (_CHARS, 4 * _CHARS))
    assert long < 9 * short + 1


def _cost(read: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    read(text)
    return time.process_time() - started
