"""Part of the rows: a slice in Python's notation, or a number or share of rows drawn at random."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from benchwright.core import BadRow, UsageError
from benchwright.datasets._reader import DatasetReader, OnBad
from benchwright.datasets._values import Batch

_SLICE = re.compile(r"\[?\s*(-?\d+)?\s*:\s*(-?\d+)?\s*(?::\s*(\d+)?\s*)?\]?")
_SEED = 42


@dataclass(frozen=True, slots=True)
class RowRange:
    """Which rows to take; they keep their order."""

    written: str
    """As the user wrote it."""
    span: slice | None = None
    """A slice of the rows."""
    count: int | None = None
    """How many rows to draw at random; all rows where there are no more."""
    share: float | None = None
    """Which share of the rows to draw at random, rounded down, at least one row."""

    @classmethod
    def parse(cls, written: str) -> RowRange:
        """From `[10:20]`, `100` or `0.1`. UsageError for anything else.

        >>> RowRange.parse("[10:20]").places(15)
        range(10, 15)
        """
        text = written.strip()
        slice_ = _SLICE.fullmatch(text)
        if slice_ is not None and text.startswith("[") == text.endswith("]"):
            start, stop, step = (None if part is None else int(part) for part in slice_.groups())
            if step != 0:
                return cls(written, span=slice(start, stop, step))
        elif text.isdecimal() and int(text) > 0:
            return cls(written, count=int(text))
        else:
            try:
                share = float(text)
            except ValueError:
                share = 0.0
            if 0 < share < 1:
                return cls(written, share=share)
        raise UsageError(
            f"test_range is {written!r}; expected a slice such as [10:20], a number of rows such as 100, or a share "
            "such as 0.1 (both drawn by chance, always the same)"
        )

    def places(self, rows: int) -> Sequence[int]:
        """The numbers of the chosen rows, in order, in data of `rows` rows."""
        if self.span is not None:
            return range(rows)[self.span]
        count = self.count if self.count is not None else max(1, int((self.share or 0) * rows))
        if count >= rows:
            return range(rows)
        return sorted(Random(_SEED).sample(range(rows), count))

    @property
    def reach(self) -> int | None:
        """How many rows to read at most; None where that depends on the number of rows."""
        span = self.span
        if span is None or (span.start or 0) < 0 or span.stop is None or span.stop < 0:
            return None
        return int(span.stop)


class RangedReader(DatasetReader):
    """The rows of another reader that lie in a range. Streams; a range that depends on the number of rows costs one
    pass to count them."""

    __slots__ = ("_inner", "_places", "_range")

    def __init__(self, inner: DatasetReader, rows: RowRange) -> None:
        super().__init__(
            inner._source,
            name=inner.name,
            path=inner.path,
            field_mapping={},
            limit=None,
            filters=(),
            metadata=inner.metadata,
            provenance=inner.provenance,
            notes=inner._notes,
        )
        self._inner = inner
        self._range = rows
        self._places: Sequence[int] | None = None

    def fingerprint(self) -> str:
        """The one of the whole data; the range is recorded separately."""
        return self._inner.fingerprint()

    def _batches(self, size: int, on_bad: OnBad | None, limit: int | None) -> Iterator[Batch]:
        rows, lines = [], []
        places = self._chosen()
        chosen = iter(places if limit is None else places[:limit])
        following = next(chosen, None)
        number = 0
        for batch in self._inner.batches(on_bad=on_bad):
            if following is None:
                break
            for row, line in zip(batch.rows, batch.lines, strict=True):
                if number == following:
                    rows.append(row)
                    lines.append(line)
                    following = next(chosen, None)
                number += 1
                if following is None:
                    break
            while len(rows) >= size:
                yield Batch(rows[:size], lines[:size])
                rows, lines = rows[size:], lines[size:]
        while rows:
            yield Batch(rows[:size], lines[:size])
            rows, lines = rows[size:], lines[size:]

    def _chosen(self) -> Sequence[int]:
        if self._places is None:
            reach = self._range.reach
            if reach is None:
                reach = sum(len(batch.rows) for batch in self._inner.batches(on_bad=_ignore))
            self._places = self._range.places(reach)
        return self._places


def _ignore(bad: BadRow) -> None:
    """Another pass reports it."""
