"""Readers that select rows of another reader: by a range, or by a plan that says which rows, how often, in which order
and with which longest reply.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator, Sequence
from copy import deepcopy

from benchwright.core import MAX_TOKENS_FIELD, BadRow, DatasetError, Row, canonical_json, exact_json
from benchwright.datasets._lengths import ColumnLengths
from benchwright.datasets._meta_values import LARGEST, as_whole
from benchwright.datasets._reader import DatasetReader, OnBad
from benchwright.datasets._sampling import (
    RowRange,
    Sampling,
    output_lengths,
    repeats_rows,
    sample_indexes,
    sampling_notes,
)
from benchwright.datasets._values import Chunk

WINDOW_ROWS = 65_536
"""Most rows kept at a time if the plan is not in the order of the data; each further window costs a pass."""


class _ChoosingReader(DatasetReader):
    """A reader of some rows of another reader, under the same name."""

    __slots__ = ("_inner",)

    def __init__(self, inner: DatasetReader, limit: int | None) -> None:
        super().__init__(
            inner._source,
            name=inner.name,
            path=inner.path,
            field_mapping={},
            limit=limit,
            filters=(),
            metadata=inner.metadata,
            provenance=inner.provenance,
            notes=inner._notes,
        )
        self._inner = inner


class RangedReader(_ChoosingReader):
    """The rows of another reader in a range, streamed. A range that depends on the number of rows costs one pass to count
    them."""

    __slots__ = ("_places", "_range")

    def __init__(self, inner: DatasetReader, rows: RowRange) -> None:
        super().__init__(inner, limit=None)
        self._range = rows
        self._places: Sequence[int] | None = None

    def fingerprint(self) -> str:
        """The fingerprint of the whole data; the range is recorded separately."""
        return self._inner.fingerprint()

    def places(self) -> Container[int] | None:
        """The numbers in the data of the rows in the range."""
        return frozenset(self._chosen())

    def place(self, number: int) -> int:
        """The number in the data of a row of the range."""
        return self._chosen()[number]

    def _batches(self, size: int, on_bad: OnBad | None, limit: int | None) -> Iterator[Chunk]:
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
                yield Chunk(rows[:size], lines[:size])
                rows, lines = rows[size:], lines[size:]
        while rows:
            yield Chunk(rows[:size], lines[:size])
            rows, lines = rows[size:], lines[size:]

    def _chosen(self) -> Sequence[int]:
        if self._places is None:
            reach = self._range.reach
            if reach is None:
                reach = sum(len(batch.rows) for batch in self._inner.batches(on_bad=_reported_elsewhere))
            self._places = self._range.places(reach)
        return self._places


class SampledReader(_ChoosingReader):
    """The rows of another reader by a plan, cut after `limit` rows.

    A row's index is its position in the plan, and its line is that in the data. In the order of the data, rows are
    streamed and none are kept; the data is read again from its start if the plan needs more rows than there are. In any
    other order, the row numbers of the plan (8 bytes each) and at most 65,536 rows are kept, and the data is read once
    for each such window. Planned lengths take 8 bytes more per request.
    """

    __slots__ = ("_lengths", "_places", "_rows", "_sampling")

    def __init__(self, inner: DatasetReader, sampling: Sampling, limit: int | None) -> None:
        super().__init__(inner, limit)
        self._sampling = sampling
        self._rows: int | None = None
        self._places: Sequence[int] | None = None
        self._lengths: list[int] | None = None

    def fingerprint(self) -> str:
        """The fingerprint of the data and the plan, because another plan makes another dataset. A range alone selects rows of
        the same one, as a limit does."""
        if self._fingerprint is None and self._sampling.only_selects:
            self._fingerprint = self._inner.fingerprint()
        if self._fingerprint is None:
            digest = hashlib.sha256(self._inner.fingerprint().encode())
            digest.update(canonical_json(self._sampling.to_json()))
            self._fingerprint = "sha256:" + digest.hexdigest()
        return self._fingerprint

    def notes(self) -> list[str]:
        """The plan in words, for readers of the results."""
        planned = len(self._plan())
        made = planned if self._limit is None else min(planned, self._limit)
        plan = sampling_notes(
            self._sampling, self._counted(), planned, made, first=self._prefix() is not None
        )
        return [*super().notes(), *plan]

    def origins(self) -> Sequence[int] | None:
        """The number in the data of each row, if rows may come more than once; else None."""
        return self._plan() if repeats_rows(self._sampling, self._counted()) else None

    def places(self) -> Container[int] | None:
        """The numbers in the data of the rows in the plan."""
        if isinstance(self._sampling.lengths, ColumnLengths):
            return None  # the plan numbers only rows that have a length
        planned = set(self._plan()[: self._limit])
        inner = self._inner
        return {inner.place(number) for number in planned} if isinstance(inner, RangedReader) else planned

    def _batches(self, size: int, on_bad: OnBad | None, limit: int | None) -> Iterator[Chunk]:
        rows: list[Row] = []
        lines: list[int] = []
        for row, line in self._planned(on_bad, limit):
            rows.append(row)
            lines.append(line)
            if len(rows) == size:
                yield Chunk(rows, lines)
                rows, lines = [], []
        if rows:
            yield Chunk(rows, lines)

    def _planned(self, on_bad: OnBad | None, limit: int | None) -> Iterator[tuple[Row, int]]:
        if limit == 0:
            return
        chosen = self._in_order(on_bad, limit) if self._sampling.in_order else self._in_windows(on_bad, limit)
        lengths = self._sampling.lengths
        if lengths is None or isinstance(lengths, ColumnLengths):
            yield from chosen
        else:
            for (row, line), length in zip(chosen, self._drawn_lengths(), strict=False):
                yield {**row, MAX_TOKENS_FIELD: length}, line

    def _in_order(self, on_bad: OnBad | None, limit: int | None) -> Iterator[tuple[Row, int]]:
        """The data from its start, repeated until there are enough rows."""
        count = self._sampling.request_count
        needed = min((number for number in (count, limit) if number is not None), default=None)
        given = 0
        while needed is None or given < needed:
            before = given
            for row, line in self._good(on_bad, None if needed is None else needed - given):
                given += 1
                yield row, line
            if given == before or count is None:
                return
            on_bad = _reported_elsewhere  # reported in the first pass

    def _in_windows(self, on_bad: OnBad | None, limit: int | None) -> Iterator[tuple[Row, int]]:
        """The plan in windows; the data is read once for each."""
        places, copies = self._plan(), repeats_rows(self._sampling, self._counted())
        count = len(places) if limit is None else min(limit, len(places))
        if not count:
            for _ in self._good(on_bad, None):
                pass  # no usable row; the pass reports why
        for start in range(0, count, WINDOW_ROWS):
            window = places[start : min(start + WINDOW_ROWS, count)]
            held = self._gathered(set(window), on_bad if not start else _reported_elsewhere, whole=not start)
            for place in window:
                found = held.get(place)
                if found is None:
                    raise DatasetError(
                        f"{self.name}: row number {place} is not there any more; the data changed while it was read"
                    )
                row, line = found
                if copies:
                    held[place] = deepcopy(row), line  # later copies must not see changes to this one
                yield row, line

    def _gathered(
        self, numbers: set[int], on_bad: OnBad | None, *, whole: bool
    ) -> dict[int, tuple[Row, int]]:
        """Rows by their number. The first pass goes to the end of the data, or of the part that the plan draws from, so that
        every bad row is reported; later passes go as far as needed."""
        reach = self._prefix() if whole else max(numbers) + 1
        numbered = enumerate(self._good(on_bad, reach))
        return {number: found for number, found in numbered if number in numbers}

    def _good(self, on_bad: OnBad | None, limit: int | None) -> Iterator[tuple[Row, int]]:
        """The first `limit` rows of the data that a plan may draw. Raises if there are none."""
        lengths = self._sampling.lengths
        if not isinstance(lengths, ColumnLengths):
            for batch in self._inner._batches(512, on_bad, limit):
                yield from zip(batch.rows, batch.lines, strict=True)
            return
        given = 0
        for batch in self._inner._batches(512, on_bad, None):
            for row, line in zip(batch.rows, batch.lines, strict=True):
                if given == limit:
                    return
                length = self._length_in(row, line, lengths.column, on_bad)
                if length is not None:
                    given += 1
                    yield {**row, MAX_TOKENS_FIELD: length}, line

    def _length_in(self, row: Row, line: int, column: str, on_bad: OnBad | None) -> int | None:
        least = self._sampling.min_tokens or 1
        length = as_whole(row.get(column))
        if length is not None and least <= length <= LARGEST:
            return length
        found = f"contains {exact_json(row[column]).decode()}" if column in row else "is missing"
        expected = "above 0" if least == 1 else f"from {least} (min_tokens) up"
        bad = BadRow(
            self.name,
            line,
            f'field "{column}" {found}; {self._sampling.source} takes the longest reply from it, expected a '
            f"whole number {expected}",
            column,
        )
        if on_bad is None:
            raise DatasetError(str(bad), [bad])
        on_bad(bad)
        return None

    def _plan(self) -> Sequence[int]:
        if self._places is None:
            self._places = sample_indexes(self._sampling, self._counted())
        return self._places

    def _drawn_lengths(self) -> list[int]:
        if self._lengths is None:
            count = self._sampling.request_count
            self._lengths = output_lengths(self._sampling, self._counted() if count is None else count) or []
        return self._lengths

    def _counted(self) -> int:
        """Rows to draw from, counted by a pass over the data; once."""
        if self._rows is None:
            self._rows = sum(1 for _ in self._good(_reported_elsewhere, self._prefix()))
        return self._rows

    def _prefix(self) -> int | None:
        """How far into the data the plan reaches; None for all of it."""
        sampling = self._sampling
        if sampling.sampling_mode == "default" or (sampling.sampling_mode == "shuffle" and sampling.compat):
            return sampling.request_count
        return None


def _reported_elsewhere(bad: BadRow) -> None:
    """Ignore a bad row that another pass reports."""
