"""Batches and filters for all callers, chunks between readers and `DatasetReader`, and rows from Python.

Rows from Python come from a function, an object with `rows()`, or anything that can be iterated more than once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from math import isfinite
from typing import Any, Protocol, TypeAlias

from msgspec import Struct, field as struct_field

from benchwright.core import BadRow, BenchwrightError, DatasetError, Row, canonical_json, suggest

_LISTED = 20


class Filter(Struct, frozen=True):
    """Keeps the rows where `str(row.get(field)) == value`: a missing field compares as the text `None`."""

    field: str
    """Name of the field as the data has it, before any field mapping."""
    value: str
    """The required value as text. Booleans compare as `True` and `False`."""

    def keeps(self, row: Row) -> bool:
        """Whether a row passes."""
        return str(row.get(self.field)) == self.value

    def note(self) -> str:
        """A note on what was left out, for readers of the results; empty for a filter that the user named."""
        return ""


class FilterColumns:
    """Checks during a pass that each column of a filter exists. A column that no row has is an error, not an empty
    dataset; a column that only some rows have is fine."""

    def __init__(self, name: str, filters: Sequence[Filter], mapping: Mapping[str, str]) -> None:
        self._name = name
        self._mapping = mapping
        self._columns: dict[str, None] = {}
        self.unseen = list(dict.fromkeys(condition.field for condition in filters))
        """Columns of filters that no row has had so far."""

    def see(self, rows: Iterable[Row]) -> None:
        """Check rows before field mapping. Costs nothing once every column was seen."""
        for row in rows:
            if not self.unseen:
                return
            self._columns.update(dict.fromkeys(row))
            self.unseen = [field for field in self.unseen if field not in row]

    def check(self) -> None:
        """Raise DatasetError at the end of the data for a column that no row had, unless there were no rows at all."""
        if not self.unseen or not self._columns:
            return
        field, columns = self.unseen[0], list(self._columns)
        source = next((old for old, new in self._mapping.items() if new == field), None)
        near = (
            f" It is called {source!r} before field_mapping, and filters see that name."
            if source in self._columns
            else suggest(field, columns)
        )
        listed = ", ".join(columns[:_LISTED]) + (" …" if len(columns) > _LISTED else "")
        raise DatasetError(
            f"{self._name}: the filter names the column {field!r}, which no row has; there are: {listed}.{near}"
        )


class Chunk(Struct):
    """Consecutive rows, and the bad rows between them."""

    rows: list[Row] = struct_field(default_factory=list)
    """Good rows: of a file as the data has them, of a dataset with their fields mapped."""
    lines: list[int] = struct_field(default_factory=list)
    """The 1-based line where each good row starts (its number if the format has no lines)."""
    troubles: list[tuple[int, BadRow]] = struct_field(default_factory=list)
    """Bad rows in the order of the data, each with the number of good rows before it. Their position among the good rows is known, so that a bad row after the limit is
    never reported, no matter how the data was cut into chunks."""

    def add(self, row: Row, line: int) -> None:
        """Add a good row."""
        self.rows.append(row)
        self.lines.append(line)

    def add_bad(self, line: int, reason: str, field: str | None = None) -> None:
        """Add a bad row."""
        self.troubles.append((len(self.rows), BadRow("", line, reason, field)))

    def __bool__(self) -> bool:
        return bool(self.rows or self.troubles)

    def __repr__(self) -> str:
        return f"<Chunk of {len(self.rows)} rows>"


Chunks: TypeAlias = Generator[Chunk, None, None]
"""A pass over the data. A caller that stops early closes it, which closes the file."""


class Source(Protocol):
    """Where a reader gets its rows: a stored file or a Python source."""

    def chunks(self) -> Chunks:
        """Read from the start. Raises DatasetError if the rest of the data cannot be read."""

    def fingerprint(self) -> str:
        """Identity of the content."""


CHUNK_ROWS = 256
"""Most rows pulled at a time."""


class HasRows(Protocol):
    """A dataset object that the user defines."""

    def rows(self) -> Iterable[Row]:
        """All rows, from the start, each time it is called."""


class PlacedRow(dict[str, Any]):
    """A row of a Python source that reads a file, with its line there. Rows of other sources are numbered."""

    __slots__ = ("line",)

    def __init__(self, row: Row, line: int) -> None:
        super().__init__(row)
        self.line = line


class ProgramSource:
    """A Python source as a dataset. Every pass starts it again."""

    def __init__(self, name: str, start: Callable[[], Iterable[object]]) -> None:
        self.name = name
        self._start = start
        self._previous: object = None

    def chunks(self) -> Chunks:
        """The rows from the start. Only a few are read at first, so that a small limit is cheap for a slow source."""
        try:
            values = iter(self._fresh())
        except BenchwrightError:
            raise
        except Exception as exc:
            raise DatasetError(f"{self.name} failed: {type(exc).__name__}: {exc}") from exc
        try:
            yield from self._pull(values)
        finally:
            if isinstance(values, Generator):
                values.close()  # a limit may stop the pass early; run the user's clean-up now

    def _pull(self, values: Iterator[object]) -> Chunks:
        number, count = 0, 1
        while True:
            chunk = Chunk()
            try:
                for value in islice(values, count):
                    number += 1
                    _take(chunk, value, number)
            except Exception as exc:
                if chunk:
                    yield chunk
                if isinstance(exc, BenchwrightError):
                    raise
                what = f"{type(exc).__name__}: {exc}"
                raise DatasetError(f"{self.name} failed after row {number}: {what}") from exc
            if not chunk:
                return
            yield chunk
            count = min(2 * count, CHUNK_ROWS)

    def fingerprint(self) -> str:
        """SHA-256 over the canonical JSON of the rows."""
        digest = hashlib.sha256()
        for chunk in self.chunks():
            for row in chunk.rows:
                digest.update(canonical_json(row))
                digest.update(b"\n")
        return "sha256:" + digest.hexdigest()

    def _fresh(self) -> Iterable[object]:
        found = self._start()
        if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
            if hasattr(found, "close"):
                found.close()  # a coroutine that is never awaited
            raise DatasetError(
                f"{self.name} gave {_a(found)}; expected something that yields rows: a list of dicts or a generator"
            )
        if isinstance(found, Iterator):
            if found is self._previous:
                raise DatasetError(
                    f"{self.name} gave the same {type(found).__name__} a second time, and it is used up. "
                    "Create it inside the function, so that every call starts again"
                )
            self._previous = found
        return found


def program_source(ref: object) -> ProgramSource:
    """The source for the user's object. Raises DatasetError if it cannot be read more than once."""
    rows = getattr(ref, "rows", None)
    if callable(rows) and not isinstance(ref, type):
        return ProgramSource(str(getattr(ref, "name", "") or f"{type(ref).__name__}.rows()"), rows)
    if callable(ref):
        return ProgramSource(f"{getattr(ref, '__qualname__', type(ref).__name__)}()", ref)
    if isinstance(ref, Iterator):
        raise DatasetError(
            f"the dataset is {_a(ref)}, which can be read only once; data is read several times (check, hash, "
            "run). Give the function that makes it, without calling it: dataset=make_rows, not make_rows()"
        )
    if isinstance(ref, Mapping):
        raise DatasetError("the dataset is a dict; expected rows: a list of dicts. For one row write [row]")
    if isinstance(ref, Iterable) and not isinstance(ref, bytes | bytearray | memoryview):
        return ProgramSource(f"<{type(ref).__name__}>", lambda: ref)
    raise DatasetError(
        f"the dataset is {_a(ref)}; expected a path, a URI, a function that returns rows, or a list of dicts"
    )


def _take(chunk: Chunk, value: object, number: int) -> None:
    if isinstance(value, PlacedRow):
        number = value.line
    if not isinstance(value, dict):
        chunk.add_bad(number, f"Row is not a dict: {type(value).__name__}")
        return
    strange = next((key for key in value if type(key) is not str), None)
    if strange is not None:
        chunk.add_bad(number, f"field name {strange!r} is not text: {type(strange).__name__}")
        return
    # A copy: some sources yield one dict and change it in place.
    row = dict(value)
    with suppress(RecursionError):  # a row that is nested too deeply is refused later
        row.update({name: _plain(one) for name, one in value.items() if _may_be_odd(one)})
    chunk.add(row, number)


def _may_be_odd(value: object) -> bool:
    """Whether a value of a row is, or contains, a missing value or a number that JSON does not have, or an array."""
    if isinstance(value, str | int) or value is None:
        return False
    if isinstance(value, dict):
        return any(map(_may_be_odd, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_may_be_odd, value))
    return _is_array(value) or _is_missing(value)


def _plain(value: Any) -> Any:
    """A value with null for missing values, which libraries mark in several ways, and lists for arrays of numpy. Other values
    stay as they are."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if _is_array(value):
        if value.ndim == 1:  # each number with the digits of its type: 0.1 as a 32-bit float is 0.1
            value = map(float, map(str, value)) if value.dtype.kind == "f" else value.tolist()
        return [_plain(item) for item in value]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if _is_missing(value) else value


def _is_missing(value: Any) -> bool:
    """Whether a value means that there is none: NaN or an infinity of any type of number, or a mark of pandas or numpy."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, float) or kind == "f":
        return not isfinite(value)
    if kind in ("M", "m"):  # a time
        return str(value) == "NaT"
    if hasattr(value, "is_finite"):  # a Decimal
        return not value.is_finite()
    return type(value).__name__ in ("NAType", "NaTType")


def _is_array(value: object) -> bool:
    return type(value).__name__ == "ndarray" and bool(getattr(value, "ndim", 0))


def _a(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
