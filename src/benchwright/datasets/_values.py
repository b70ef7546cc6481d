"""Batches and filters for every room; chunks between the readers of formats and `DatasetReader`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Struct
from msgspec import field as struct_field

from benchwright.core import DatasetError, Row, suggest

_LISTED = 20


class Batch(Struct, frozen=True):
    """Consecutive rows of a dataset."""

    rows: list[Row]
    """The rows, fields already mapped."""
    lines: list[int]
    """For each row the 1-based line where it starts (row number where a format has no lines)."""

    def __repr__(self) -> str:
        return f"<Batch of {len(self.rows)} rows>"


@dataclass(frozen=True, slots=True)
class Filter:
    """Keeps the rows where `str(row.get(field)) == value`: a missing field compares as the text `None`."""

    field: str
    """Name of the field as the data has it, before any field mapping."""
    value: str
    """The text it must have. Booleans compare as `True` and `False`."""

    def keeps(self, row: Row) -> bool:
        """Whether a row passes."""
        return str(row.get(self.field)) == self.value


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
        """Looks at rows before field mapping. Costs nothing once every column was seen."""
        for row in rows:
            if not self.unseen:
                return
            self._columns.update(dict.fromkeys(row))
            self.unseen = [field for field in self.unseen if field not in row]

    def check(self) -> None:
        """At the end of the data. Raises DatasetError for a column that no row had, unless there were no rows at all."""
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


class Trouble(NamedTuple):
    """A bad row. It does not name the file: readers do not know what the user calls it."""

    after: int
    """How many good rows of the chunk come before it."""
    line: int
    """1-based line where the row starts."""
    reason: str
    """What was found, what was expected, and the cure."""
    field: str | None = None
    """The field at fault, if it is one field."""


class Chunk(Struct):
    """Some rows that a reader hands over together, and the bad ones between them."""

    rows: list[Row] = struct_field(default_factory=list)
    """Good rows, as the data has them."""
    lines: list[int] = struct_field(default_factory=list)
    """Where each good row starts."""
    troubles: list[Trouble] = struct_field(default_factory=list)
    """Bad rows in the order of the data. Their place among the good ones is known, so that a limit
    reached before a bad row never reports it, however the data was cut into chunks."""

    def add(self, row: Row, line: int) -> None:
        """A good row."""
        self.rows.append(row)
        self.lines.append(line)

    def add_bad(self, line: int, reason: str, field: str | None = None) -> None:
        """A bad row."""
        self.troubles.append(Trouble(len(self.rows), line, reason, field))

    def __bool__(self) -> bool:
        return bool(self.rows or self.troubles)


Chunks: TypeAlias = Generator[Chunk, None, None]
"""A pass over the data. A caller that stops early closes it, which closes the file."""


class Source(Protocol):
    """Where a reader gets its rows: a stored file or a Python source."""

    def chunks(self) -> Chunks:
        """Reads from the start. Raises DatasetError where the rest of the data cannot be read."""

    def fingerprint(self) -> str:
        """Identity of the content."""
