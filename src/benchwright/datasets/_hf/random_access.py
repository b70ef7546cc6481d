"""Reads a hub dataset by row number, for durable batches and the dataset server."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import groupby
from threading import Lock

from msgspec import Struct, json

from benchwright.core import DatasetError, JsonObject, Row
from benchwright.datasets._values import FilterColumns

WINDOW = 1024
"""Rows read at a time if filters select some of them."""


_JSON_NAMES = {"splits": "available_splits", "rule": "split_rule", "rows": "total_rows"}


class HubInfo(Struct, frozen=True, rename=_JSON_NAMES):
    """Facts about a hub dataset that are known before its rows are read."""

    uri: str
    """The dataset with commit, configuration and split filled in: opening it gives the same rows forever."""
    repo: str
    commit: str
    config: str
    split: str
    splits: tuple[str, ...]
    """All splits of the configuration."""
    rule: str
    """How the split was chosen, in words."""
    rows: int
    """Number of rows, after the filters of the URI."""
    columns: tuple[str, ...]
    """Fields of the first row."""
    notes: tuple[str, ...] = ()
    """Notes for readers of the rows that were known when the dataset was opened."""

    def to_json(self) -> JsonObject:
        """The form that workflows record."""
        found: JsonObject = json.decode(json.encode(self))
        return found


class HubDataset:
    """Batches of a hub dataset by offset. Commit, configuration and split are fixed when it is created.

    Batches in order cost as much as a stream; a jump unpacks the row group that it lands in. Threads may share one.

    Args:
        uri: `hf://…` or `huggingface://…`.
    """

    def __init__(self, uri: str) -> None:
        from benchwright.datasets._hf.resolve import resolve
        from benchwright.datasets._hf.source import HubSource

        self._source = HubSource(resolve(uri))
        self._filters = self._source.resolved.uri.filters
        self._kept: array[int] | None = None
        self._lock = Lock()
        self._ended: tuple[int, list[Row], Iterator[list[Row]]] | None = None
        """Where the last call ended: the next row, rows from that one on that are already read, and the rest."""

    def __repr__(self) -> str:
        return f"HubDataset({str(self._source.resolved.uri)!r})"

    def init(self) -> HubInfo:
        """Facts about the rows. The number of rows comes from the indexes of the files, if they have any."""
        resolved = self._source.resolved
        first = self.batch(0, 1)
        return HubInfo(
            uri=str(resolved.uri),
            repo=resolved.repo,
            commit=resolved.commit,
            config=resolved.config,
            split=resolved.split,
            splits=resolved.splits,
            rule=resolved.rule,
            rows=len(self._matching()) if self._filters else self._source.count(),
            columns=tuple(first[0]) if first else (),
            notes=self.notes,
        )

    def batch(self, offset: int, limit: int) -> list[Row]:
        """At most `limit` rows from `offset` on; fewer at the end, none after it."""
        if offset < 0 or limit < 0:
            raise DatasetError(f"offset {offset} and limit {limit}: expected 0 or more")
        if not self._filters:
            return self._rows(offset, limit)
        found: list[Row] = []
        numbers = self._matching()[offset : offset + limit]
        for window, group in groupby(numbers, key=lambda number: number // WINDOW):
            rows = self._rows(window * WINDOW, WINDOW)
            found += [rows[number - window * WINDOW] for number in group]
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers of the rows."""
        return tuple(self._source.notes)

    def _rows(self, offset: int, limit: int) -> list[Row]:
        """Rows by number, before filters. Continues where the last call ended, if that is at `offset`."""
        if limit == 0:
            return []
        with self._lock:
            ended, self._ended = self._ended, None
        if ended is None or ended[0] != offset:
            ended = offset, [], self._source.rows_from(offset)
        _, rows, coming = ended
        while len(rows) < limit and (more := next(coming, None)) is not None:
            rows += more
        with self._lock:
            self._ended = offset + min(limit, len(rows)), rows[limit:], coming
        return rows[:limit]

    def _matching(self) -> array[int]:
        """Numbers of the rows that pass the filters, found in one pass over all rows and then kept."""
        if self._kept is None:
            kept: array[int] = array("q")
            number = 0
            columns = FilterColumns(self._source.resolved.written, self._filters, {})
            for rows in self._source.rows_from(0):
                columns.see(rows)
                for row in rows:
                    if all(condition.keeps(row) for condition in self._filters):
                        kept.append(number)
                    number += 1
            columns.check()
            self._kept = kept
        return self._kept
