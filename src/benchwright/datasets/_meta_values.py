"""Checks for values of a meta file. Problems are collected, not raised, so that users can cure all of them at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TypeAlias

from benchwright.core import DatasetError, suggest

Found: TypeAlias = "Mapping[str, Found] | list[Found] | str | int | float | Decimal | bool | None"
"""A value of the file. Numbers with a fraction are decimal and keep the written digits."""

LARGEST = 2**31 - 1
"""The largest accepted number; no server has more tokens and no run has more requests."""

_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,30}\s*", re.ASCII)
_NUMBER = re.compile(
    r"\s*[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?\s*", re.ASCII
)


class Problems:
    """What is wrong with one meta file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.found: list[str] = []
        """One text each, with the file and the key."""

    def add(self, key: str, reason: str) -> None:
        self.found.append(f"{self._file}: {f'{key} ' if key else ''}{reason}")

    def error(self) -> DatasetError:
        if len(self.found) == 1:
            return DatasetError(self.found[0])
        lines = "\n  ".join(self.found)
        return DatasetError(f"{len(self.found)} errors in the meta file; nothing was sent\n  {lines}")

    def whole(
        self, table: Mapping[str, Found], where: str, key: str, *, least: int, example: str, needed: str = ""
    ) -> int | None:
        """A whole number, or a text that is one; None if it is absent or wrong.

        `needed` explains why the key must be present; without it the key may be absent.
        """
        if key not in table:
            if needed:
                self.add(where + key, f"is missing; {needed}")
            return None
        value = table[key]
        number = as_whole(value)
        expected = f'expected a whole number {"above 0" if least == 1 else f"of {least} or more"}, such as {example} or "{example}"'
        if number is None:
            self.add(where + key, f"is {self.kind(value)}; {expected}")
        elif number < least:
            self.add(where + key, f"is {number}; {expected}")
            number = None
        elif number > LARGEST:
            self.add(where + key, f"is {number}, beyond all use; {expected}")
            number = None
        return number

    def number(self, table: Mapping[str, Found], where: str, key: str, *, needed: str) -> float | None:
        """A number above 0, whole or not, or a text that is one; None if it is absent or wrong."""
        if key not in table:
            self.add(where + key, f"is missing; {needed}")
            return None
        value = as_number(table[key])
        if value is None:
            self.add(where + key, f"is {self.kind(table[key])}; expected a number above 0")
        elif not 0 < value <= LARGEST:
            self.add(where + key, f"is {value}; expected a number above 0 and below {LARGEST + 1:,}")
        else:
            return float(value)
        return None

    @staticmethod
    def kind(value: Found) -> str:
        """A value as messages name it: its type, and its content if that is short."""
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Mapping):
            return "an object"
        if isinstance(value, list):
            return "a list"
        if isinstance(value, Decimal | float):
            return f"{value}, a number with a fraction"
        shown = repr(value)
        return shown if len(shown) <= 40 else f"{shown[:39]}…"


class Known:
    """Finds unknown keys."""

    def __init__(self, problems: Problems, homes: Mapping[str, str]) -> None:
        self._problems = problems
        self._homes = homes

    def check(self, table: Mapping[str, Found], where: str, names: Iterable[str], *, of: str = "") -> None:
        """Report each key of `table` that is not one of `names`, with similar keys or the place where it belongs."""
        listed = list(names)
        for key in table:
            if key in listed:
                continue
            near = suggest(key, listed)
            home = self._homes.get(key)
            if not near and home is not None and home != where:
                near = f" It belongs in {home.rstrip('.') or 'the file itself'}: {home}{key}"
            self._problems.add(f"{where}{key}", f"is not a key{of}; known: {', '.join(listed)}.{near}")


def as_whole(value: object) -> int | None:
    """A whole number, or a text that is one. Truth values and fractions are neither.

    >>> as_whole("10"), as_whole(True), as_whole(Decimal("2.0"))
    (10, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else None


def as_number(value: object) -> Decimal | None:
    """A finite number exactly as written, or a text that is one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    return Decimal(value.strip()) if isinstance(value, str) and _NUMBER.fullmatch(value) else None
