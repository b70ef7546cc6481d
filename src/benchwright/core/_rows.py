"""What is wrong with one row of a user's data, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be used."""

    source: str
    """File or dataset name, as the user knows it."""
    line: int
    """1-based line where the row starts (row number for formats without lines)."""
    reason: str
    """What was found, what was expected, and the cure."""
    field: str | None = None
    """The field at fault, if it is one field."""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.reason}"
