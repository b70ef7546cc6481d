"""Values of rows as texts: what a right answer, a choice or a seed may be."""

from __future__ import annotations

from benchwright.benchmarks._missing_fields import MissingFieldError, listed, nearest
from benchwright.core import Row


def scalar_text(row: Row, column: str, what: str) -> str:
    """The text of a column that must hold a text, a number or a boolean. Raises MissingFieldError."""
    if column not in row:
        raise MissingFieldError(column, reason=lambda: _not_there(column, row, what))
    text = text_of(row[column])
    if text is None:
        kind = "null" if row[column] is None else f"a {type(row[column]).__name__}"
        raise MissingFieldError(
            column, reason=f'{what} "{column}" is {kind}; expected a text, a number or a boolean'
        )
    return text


def text_of(value: object) -> str | None:
    """A scalar as text; None for anything else.

    >>> text_of(True), text_of(2.5), text_of(["a"])
    ('true', '2.5', None)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _not_there(column: str, row: Row, what: str) -> str:
    near = nearest(column, row)
    hint = f'. Did you mean "{near}"?' if near else ""
    return f'{what} "{column}" is missing; the row has: {listed(row)}{hint}'
