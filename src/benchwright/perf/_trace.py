"""Traces: rows with the times at which they were sent. A test sends them at these times, or faster, or a part of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import SECONDS_OF, MissingFieldError, Row, UsageError
from benchwright.perf._texts import TextMaker, open_text_maker


class TraceStamps(Struct, frozen=True):
    """The column of timestamps, and the part of the trace that is sent."""

    field: str = "timestamp"
    unit: str = "ms"
    origin: float = 0.0
    """The earliest timestamp of the data, in seconds: the start of the trace."""
    start: float = 0.0
    """Seconds at the start of the trace that are left out."""
    end: float | None = None
    """Seconds after the start of the trace at which sending ends; None: with the last row."""

    def seconds(self, row: Row) -> float:
        """The timestamp of a row, in seconds. Raises MissingFieldError if it is missing or not a time."""
        if self.field not in row:
            cure = "Name another column with --trace-field"
            raise MissingFieldError(self.field, reason=f"{MissingFieldError(self.field, row)}. {cure}")
        value = row[self.field]
        found = _iso(value) if self.unit == "iso" else _number(value, SECONDS_OF[self.unit])
        if found is None:
            what = "a date and a time, as in 2026-01-31T12:00:00Z" if self.unit == "iso" else "a number"
            raise MissingFieldError(
                self.field,
                reason=f'"{self.field}" is {value!r}; expected {what} (--trace-unit {self.unit})',
            )
        return found

    def offset(self, row: Row) -> float | None:
        """When a row is sent, in seconds after the start of the test at the original speed; None if it is not sent."""
        at = self.seconds(row) - self.origin
        if at < self.start or (self.end is not None and at >= self.end):
            return None
        return at - self.start

    def beginning(self, rows: Iterable[Row], source: str) -> TraceStamps:
        """The same with the origin of these rows. The check of all rows reports rows without a timestamp. Raises UsageError if
        no row is in the window."""
        first, last, inside = float("inf"), float("-inf"), False
        stamps = []
        for row in rows:
            try:
                stamps.append(self.seconds(row))
            except MissingFieldError:
                inside = True
        if stamps:
            first, last = min(stamps), max(stamps)
            end = float("inf") if self.end is None else self.end
            inside = inside or any(self.start <= each - first < end for each in stamps)
            if not inside:
                raise UsageError(
                    f"{source}: no row lies between --trace-start and --trace-end; the stamps span {last - first:g} s"
                )
        return replace(self, origin=first if stamps else 0.0)


def _number(value: Any, unit: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value) * unit
    except (ValueError, OverflowError):
        return None
    return found if isfinite(found) else None


def _iso(value: Any) -> float | None:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


BLOCK_TOKENS = 512
"""Tokens of the block that one hash id of a Mooncake trace identifies."""

_LENGTHS = ("input_length", "output_length")


class TracePrompts:
    """Prompts of rows `{timestamp, input_length, output_length, hash_ids}`.

    The same hash id gives the same block of text, so the server's prefix cache has the same hits as in production.
    """

    def __init__(self, maker: TextMaker, stamps: TraceStamps | None = None) -> None:
        self._maker, self._stamps = maker, stamps
        self.lengths: Literal["exact", "approximate"] = "exact" if self._maker.exact else "approximate"
        """How exact the lengths of the prompts are."""
        self._blocks: dict[tuple[int, int], str] = {}

    @classmethod
    def of(cls, tokenizer: str | None, seed: int, stamps: TraceStamps | None) -> TracePrompts:
        """Prompts whose tokens a tokenizer counts. Raises UsageError if it cannot be read."""
        return cls(open_text_maker(tokenizer, seed), stamps)

    @staticmethod
    def apply_to(row: Row) -> bool:
        """Whether a row has lengths instead of a prompt, as in Mooncake traces."""
        return all(name in row for name in _LENGTHS)

    def check(self, row: Row) -> None:
        """Raise MissingFieldError for a row without valid lengths."""
        for name in _LENGTHS:
            if _whole(row.get(name)) is None:
                raise MissingFieldError(
                    name, reason=f'"{name}" is {row.get(name)!r}; expected a whole number of tokens above 0'
                )
        if _ids(row) is None:
            raise MissingFieldError(
                "hash_ids", reason=f'"hash_ids" is {row["hash_ids"]!r}; expected a list of whole numbers'
            )

    def shape(self, row: Row) -> Row:
        """The row with its prompt as `question` and the length of its reply as `max_tokens`. A bad row stays unchanged, and
        `check` refuses it."""
        length, reply, ids = _whole(row.get("input_length")), _whole(row.get("output_length")), _ids(row)
        if length is None or reply is None or ids is None:
            return {**row, "question": "?"}
        return {**row, "question": self._prompt(row, length, ids), "max_tokens": reply}

    def _prompt(self, row: Row, length: int, ids: Sequence[int]) -> str:
        if self._stamps is not None and not self._is_sent(row):
            return "outside the window"  # it is never sent, and making text takes time
        parts, left = [], length
        for each in ids:
            if left <= 0:
                break
            parts.append(self._block(each, min(left, BLOCK_TOKENS)))
            left -= BLOCK_TOKENS
        own = f"row/{sorted(map(str, row.items()))}"
        if left > 0:  # ids cover only whole blocks, or there are none: the rest is unique to the row
            parts.append(self._maker.text(left, own))
        # For some tokenizers, joined blocks have more or fewer tokens than separate ones.
        return self._maker.fitted(" ".join(parts), length, f"{own}/end")

    def _is_sent(self, row: Row) -> bool:
        assert self._stamps is not None
        try:
            return self._stamps.offset(row) is not None
        except MissingFieldError:
            return False

    def _block(self, hash_id: int, tokens: int) -> str:
        found = self._blocks.get((hash_id, tokens))
        if found is None:
            found = self._blocks[hash_id, tokens] = self._maker.text(tokens, f"block/{hash_id}")
        return found


def _whole(value: Any) -> int | None:
    number = _number(value, 1.0)
    return None if number is None or number != int(number) or number <= 0 else int(number)


def _ids(row: Row) -> Sequence[int] | None:
    value = row.get("hash_ids")
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or any(type(each) is not int for each in value):
        return None
    return value
