"""Exceptions that several parts of the package raise. The text names the cure; the class has the exit code.

`docs/internals.md` shows the complete tree. Inside the engine, a failing request or scorer is a value, not an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import ClassVar

from msgspec import Struct, structs

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
        lines = BadRow.lines(bad_rows)
        if total > len(bad_rows):
            lines.append(f"… and {total - len(bad_rows)} more")
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


class DamagedRecordError(BenchwrightError, ValueError):
    """A record that cannot be read. Lists show it in its place; whatever needs it says so."""

    exit_code = 1


class RunFailedError(BenchwrightError):
    """The run as a whole failed."""

    exit_code = 1


class BadRow(Struct, frozen=True):
    """A row that cannot be used."""

    source: str
    """File or dataset name, as the user knows it; empty while a reader, which does not know that name, passes it on."""
    line: int
    """1-based line where the row starts (row number for formats without lines)."""
    reason: str
    """What was found, what was expected, and the cure."""
    field: str | None = None
    """The field at fault, if it is one field."""

    def __post_init__(self) -> None:
        sheet = getattr(
            self.line, "sheet", None
        )  # one of several sheets, each of which has a line with this number
        if sheet is not None:
            structs.force_setattr(self, "source", f"{self.source} (sheet {sheet})")
            structs.force_setattr(self, "line", int(self.line))

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.reason}"

    def of(self, source: str) -> BadRow:
        """The same in a source, by the name that the user knows."""
        return structs.replace(self, source=f"{source}{self.source}")

    @staticmethod
    def lines(bad_rows: Sequence[BadRow]) -> list[str]:
        """One line for each reason, with all rows that it applies to.

        >>> BadRow.lines([BadRow("q.csv", line, "no answer") for line in (2, 3, 4, 9)])
        ['q.csv:2: no answer (also lines 3–4, 9)']
        """
        alike: dict[tuple[str, str], list[int]] = {}
        for row in bad_rows:
            alike.setdefault((row.source, row.reason), []).append(row.line)
        found = []
        for (source, reason), (first, *others) in alike.items():
            also = f" (also {'line' if len(others) == 1 else 'lines'} {_ranges(others)})" if others else ""
            found.append(f"{source}:{first}: {reason}{also}")
        return found


_MOST_RANGES = 8


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, those that follow one another as a range."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], number]
        else:
            spans.append([number])
    more = ", …" if len(spans) > _MOST_RANGES else ""
    return ", ".join("–".join(map(str, span)) for span in spans[:_MOST_RANGES]) + more


WORST_FIRST = (130, 1, 2, 4, 5, 3, 0)
"""All exit codes: interrupted, failed, wrong usage, not found, owned by another, not comparable, done."""


def worst_exit_code(codes: Sequence[int]) -> int:
    """The exit code that matters most.

    >>> worst_exit_code([0, 3, 1, 0]), worst_exit_code([])
    (1, 0)
    """
    return min(codes, key=WORST_FIRST.index, default=0)
