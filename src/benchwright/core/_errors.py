"""Exceptions that several parts of the package raise. The text names the cure; the class has the exit code.

`docs/internals.md` shows the complete tree. Inside the engine, a failing request or scorer is a value, not an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import ClassVar

from benchwright.core._light_dataclass import light_dataclass

FLAGS_TYPED: ContextVar[bool] = ContextVar("FLAGS_TYPED", default=False)
"""Whether the user typed a command. If so, messages name flags; otherwise they name Python keywords."""


class BenchwrightError(Exception):
    """Base of every error benchwright raises on purpose. The text is meant for the user."""

    __module__ = "benchwright"

    exit_code: ClassVar[int] = 1


class UsageError(BenchwrightError, ValueError):
    """A wrong flag or argument."""

    __module__ = "benchwright"

    exit_code = 2


class ConfigError(BenchwrightError, ValueError):
    """A configuration file that cannot be used."""

    __module__ = "benchwright"

    exit_code = 2


class BenchmarkError(BenchwrightError, ValueError):
    """A benchmark definition that cannot be used."""

    __module__ = "benchwright"

    exit_code = 2


class DatasetError(BenchwrightError, ValueError):
    """Data that cannot be used. `bad_rows` contains each bad row found, up to a limit."""

    __module__ = "benchwright"

    exit_code = 2

    def __init__(self, message: str, bad_rows: Sequence[BadRow] = ()) -> None:
        super().__init__(message)
        self.bad_rows = tuple(bad_rows)

    @classmethod
    def of_rows(cls, bad_rows: Sequence[BadRow], total: int) -> DatasetError:
        """Make one error for many bad rows; `total` also counts the rows that are not listed."""
        lines = [str(row) for row in bad_rows]
        if total > len(lines):
            lines.append(f"… and {total - len(lines)} more")
        noun = "row" if total == 1 else "rows"
        return cls(f"{total} bad {noun}; nothing was sent\n  " + "\n  ".join(lines), bad_rows)


class NotFoundError(BenchwrightError, LookupError):
    """A run, benchmark, model or file that does not exist."""

    __module__ = "benchwright"

    exit_code = 4


class RunOwnedError(BenchwrightError):
    """Another live process owns the run."""

    __module__ = "benchwright"

    exit_code = 5


class RunFailedError(BenchwrightError):
    """The run as a whole failed."""

    exit_code = 1


@light_dataclass(frozen=True, slots=True)
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


WORST_FIRST = (130, 1, 2, 4, 5, 3, 0)
"""All exit codes: interrupted, failed, wrong usage, not found, owned by another, not comparable, done."""


def worst_exit_code(codes: Sequence[int]) -> int:
    """The exit code that matters most.

    >>> worst_exit_code([0, 3, 1, 0]), worst_exit_code([])
    (1, 0)
    """
    return min(codes, key=WORST_FIRST.index, default=0)
