"""The reader: applies filters, limit and field mapping to a source, in batches of the caller's size."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from benchwright.core import BadRow, DatasetError, JsonObject, Row
from benchwright.datasets._values import Chunk, Chunks, Filter, FilterColumns, Source

OnBad = Callable[[BadRow], None]

RowShape = Callable[[Row], Row]
"""Gives a row of the data its final form: returns a new row, or the same one."""


class DatasetReader:
    """Rows of one dataset, in the order of the data, with their line numbers.

    Every pass starts from the beginning and keeps no more than a batch and a block in memory. A row's index is its
    position among the good rows that pass the filters.
    """

    __slots__ = (
        "_filters",
        "_fingerprint",
        "_limit",
        "_mapping",
        "_notes",
        "_shape",
        "_source",
        "metadata",
        "name",
        "path",
        "provenance",
    )

    def __init__(
        self,
        source: Source,
        *,
        name: str,
        path: Path | None,
        field_mapping: Mapping[str, str],
        limit: int | None,
        filters: Sequence[Filter],
        metadata: Mapping[str, object],
        provenance: JsonObject | None = None,
        notes: Sequence[str] = (),
        shape: RowShape | None = None,
    ) -> None:
        self.name = name
        """How messages call the dataset: the path as the user wrote it."""
        self.path = path
        """The local file, if it is one."""
        self.metadata = dict(metadata)
        """What the fetcher reported about the origin of the data."""
        self.provenance = provenance
        """Where hub data come from: repository, commit, configuration, split, files. None for other data."""
        self._notes = notes
        self._source = source
        self._mapping = dict(field_mapping)
        self._shape = shape
        self._limit = limit
        self._filters = tuple(filters)
        self._fingerprint: str | None = None

    def __repr__(self) -> str:
        return f"DatasetReader({self.name!r})"

    def batches(self, size: int = 512, on_bad: OnBad | None = None) -> Iterator[Chunk]:
        """All rows, `size` at a time; the last batch may be shorter.

        Bad rows go to `on_bad` and are left out; without it the first one raises DatasetError. Damage that hides all rows
        after it (an unclosed quote, a file cut short) raises in either case.
        """
        if size < 1:
            raise DatasetError(f"batch size is {size}; expected 1 or more")
        return self._batches(size, on_bad, self._limit)

    def head(self, n: int) -> list[Row]:
        """The first n rows that can be read. Reads no further than it must."""
        limit = max(0, n) if self._limit is None else max(0, min(n, self._limit))
        batches = self._batches(max(1, min(limit, 512)), _leave_out, limit)
        return [row for batch in batches for row in batch.rows]

    def good_rows(self) -> Iterator[Row]:
        """All rows that can be read, one at a time."""
        for batch in self.batches(on_bad=_leave_out):
            yield from batch.rows

    def fingerprint(self) -> str:
        """`sha256:…` of the content: the bytes of the file as stored, or the canonical JSON of the rows
        of a workbook or a Python source. Filters, limit and mapping are not part of it. Computed once."""
        if self._fingerprint is None:
            self._fingerprint = self._source.fingerprint()
        return self._fingerprint

    def notes(self) -> list[str]:
        """Notes for readers of the results. Empty for files; for hub data, decisions such as the chosen split, and damage
        found in the cache. Grows while rows are read."""
        return list(self._notes)

    def doubts(self) -> list[str]:
        """Notes that only a check gives, because they cost a pass over the data: fields that rows of a JSON file name more
        than once."""
        from benchwright.datasets._formats import FileSource

        return list(self._source.doubts()) if isinstance(self._source, FileSource) else []

    def origins(self) -> Sequence[int] | None:
        """The number in the data of each row, if rows may come more than once; else None."""
        return None

    def places(self) -> Container[int] | None:
        """The numbers, among all rows of the data that pass the filters, of the rows that this reader gives. None: all rows,
        or numbers that are not known."""
        return None if self._limit is None else range(self._limit)

    def _batches(self, size: int, on_bad: OnBad | None, limit: int | None) -> Iterator[Chunk]:
        rows: list[Row] = []
        lines: list[int] = []
        with closing(self._kept(on_bad, limit)) as kept:
            for chunk in kept:
                rows += chunk.rows
                lines += chunk.lines
                full = len(rows) - len(rows) % size
                for at in range(0, full, size):
                    yield Chunk(rows[at : at + size], lines[at : at + size])
                if full:
                    del rows[:full], lines[:full]
        if rows:
            yield Chunk(rows, lines)

    def _kept(self, on_bad: OnBad | None, limit: int | None) -> Chunks:
        """The rows of each chunk that pass. Bad rows after the last row within the limit are not reported."""
        left = limit
        if left == 0:
            return
        columns = FilterColumns(self.name, self._filters, self._mapping)
        with closing(self._source.chunks()) as chunks:
            for chunk in chunks:
                columns.see(chunk.rows)
                fatal = chunk.troubles[0] if chunk.troubles and on_bad is None else None
                if fatal is not None:
                    chunk = _before(chunk, fatal[0])
                positions = self._passing(chunk.rows)
                full = left is not None and len(positions) >= left
                if full:
                    positions = positions[:left]
                    chunk = _before(chunk, positions[-1] + 1)
                if on_bad is not None:
                    for _, bad in chunk.troubles:
                        on_bad(bad.of(self.name))
                yield self._mapped(chunk, positions)
                if full:
                    break
                if fatal is not None:
                    bad = fatal[1].of(self.name)
                    raise DatasetError(str(bad), [bad])
                if left is not None:
                    left -= len(positions)
            while columns.unseen and (more := next(chunks, None)) is not None:
                columns.see(more.rows)
        columns.check()

    def _passing(self, rows: list[Row]) -> Sequence[int]:
        kept: Sequence[int] = range(len(rows))
        for condition in self._filters:
            kept = [i for i in kept if condition.keeps(rows[i])]
        return kept

    def _mapped(self, chunk: Chunk, positions: Sequence[int]) -> Chunk:
        rows, lines = chunk.rows, chunk.lines
        if len(positions) != len(rows):
            rows, lines = [rows[i] for i in positions], [lines[i] for i in positions]
        if self._mapping:
            rows = [rename_fields(row, self._mapping) for row in rows]
        if self._shape is not None:
            rows = [self._shape(row) for row in rows]
        return Chunk(rows, lines)


def rename_fields(row: Row, mapping: Mapping[str, str]) -> Row:
    """Rename the fields of a row, from source name to target name. If two fields get the same name, the later one in the
    row is kept.

    >>> rename_fields({"a": 1, "b": 2}, {"a": "b", "b": "a"})
    {'b': 1, 'a': 2}
    """
    if mapping.keys().isdisjoint(row):
        return row
    return {mapping.get(name, name): value for name, value in row.items()}


def _before(chunk: Chunk, count: int) -> Chunk:
    """The first `count` good rows and the bad rows between them."""
    troubles = [(after, bad) for after, bad in chunk.troubles if after < count]
    return Chunk(chunk.rows[:count], chunk.lines[:count], troubles)


def _leave_out(bad: BadRow) -> None:
    """For readers who leave bad rows out; a pass over all rows reports them."""
