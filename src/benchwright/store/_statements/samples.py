"""Reads pages of filtered samples, from indexes that are updated in bulk.

A page reads one index range per facet, or per facet and bucket of a metric, and merges them in sample order. So it takes
one look-up per range and one read per sample of the page, independent of the size of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

from benchwright.core import score_key
from benchwright.store._driver import Driver, Row
from benchwright.store._records import SampleSteps
from benchwright.store._sample_filters import (
    Facet,
    SampleFilter,
    bucket_of,
    facet_and_values,
    facet_of,
    holds_text,
    place_of,
    sample_at,
)
from benchwright.store._statements.marks import SET_MARK
from benchwright.store._statements.schema import SAMPLE_INDEX, SAMPLE_METRICS
from benchwright.store._statements.steps import SAMPLE_COLUMNS, Steps
from benchwright.store._workflow_records import Page
from benchwright.store._workspace import Workspace

_ROWS_AT_ONCE = 100_000
"""Steps indexed per transaction, so that other processes can write in between."""
_MOST_SEARCHED = 5_000
"""Samples that one page searches for a text."""
_SEARCHED_AT_ONCE = 200
_FIRST_BLOCK = 16
"""Rows of a range that are read first. A page takes few from each of many ranges."""
_KEYS_PER_STATEMENT = 500
"""Older builds of SQLite accept at most 999 values."""
PAGE = (
    "SELECT i.key, s.output FROM {table} i JOIN steps s ON s.run_id = i.run_id AND s.key = i.key"
    " WHERE i.run_id = ? AND i.facet = ? AND i.key > ? ORDER BY i.key LIMIT ?"
)
"""Keys of one facet, with their records."""
METRIC_PAGE = (
    "SELECT i.key, s.output, i.value FROM {table} i JOIN steps s ON s.run_id = i.run_id AND s.key = i.key"
    " WHERE i.run_id = ? AND i.name = ? AND i.facet = ? AND i.bucket = ? AND i.value > ? AND i.value < ?"
    " AND i.key > ? ORDER BY i.key LIMIT ?"
)
"""Keys of one facet and one bucket of a metric, with their records and values."""
_SCORES = "key >= 'score/' AND key < 'score0'"


class Samples(Steps):
    """Reads samples page by page."""

    def __init__(self, workspace: Workspace, driver: Driver, *, read_only: bool = False) -> None:
        super().__init__(workspace, driver, read_only=read_only)
        self._looked_at: set[tuple[str, int]] = set()

    def index_samples(self, at_least: int = 1) -> None:
        """Update the index if it lacks at least this many records.

        This is done in bulk, before a page or after a large run, because updating it with every row made recording a fifth
        slower.
        """
        self._index(SAMPLE_INDEX_OF, at_least)

    def page_samples(
        self, run_id: int, where: SampleFilter | None = None, *, after: int | None = None, limit: int = 100
    ) -> Page[SampleSteps]:
        """Samples of a run that pass the filter, in sample order; `after` is `next` of the page before.

        A page searches a limited number of samples for a text. If it did not find enough, it is shorter than `limit`, and the
        search continues at `next`.
        """
        where = where or SampleFilter()
        start = "score/" if after is None else score_key(*sample_at(after))
        keys = self._keys(run_id, where, start, _SEARCHED_AT_ONCE if where.text else limit + 1)
        if where.text:
            return self._search(run_id, where.text, keys, limit)
        found = list(islice(keys, limit + 1))
        items = self._samples_of(run_id, found[:limit])
        more = len(found) > limit
        return Page(items, place_of(*items[-1][:2]) if more and items else None)

    def sample_counts(self, run_id: int) -> dict[Facet, int]:
        """How many samples of a run have the same values for filters. Read from the index, so that a million take no second."""
        rows = self._connection.execute(
            f"SELECT facet, count(*) FROM {self._table_of(SAMPLE_INDEX_OF, run_id)} WHERE run_id = ? GROUP BY facet",
            (run_id,),
        )
        return {Facet.from_text(facet): count for facet, count in rows}

    def _keys(self, run_id: int, where: SampleFilter, start: str, block: int) -> Iterator[str]:
        """The keys that pass a filter, from the indexes, in order. Each range is read in blocks of this many."""
        index = SAMPLE_INDEX_OF if where.metric is None else SAMPLE_METRICS_OF
        table = self._table_of(index, run_id)
        fixed: tuple[int | str, ...] = (run_id,) if where.metric is None else (run_id, where.metric)
        facets = [
            facet
            for facet in self._distinct(table, "facet", fixed, "")
            if where.passes(Facet.from_text(facet))
        ]
        if where.metric is None:
            return merge(*(self._of_facet(table, run_id, facet, start, block) for facet in facets))
        low, high = (bucket_of(min(max(bound, -1e300), 1e300)) for bound in where.bounds)
        return merge(
            *(
                self._of_bucket(table, (run_id, where.metric, facet, bucket, *where.bounds), start, block)
                for facet in facets
                for bucket in self._distinct(table, "bucket", (*fixed, facet), low - 1, high)
            )
        )

    def _of_facet(self, table: str, run_id: int, facet: str, start: str, block: int) -> Iterator[str]:
        """The keys of a facet. A record that was replaced since it was indexed is left out, because its new entry counts."""
        for key, output in self._blocks(PAGE.format(table=table), (run_id, facet), start, block):
            if facet_of(output) == facet:
                yield key

    def _of_bucket(
        self, table: str, fixed: tuple[int, str, str, int, float, float], start: str, block: int
    ) -> Iterator[str]:
        _, name, facet, *_ = fixed
        for key, output, value in self._blocks(METRIC_PAGE.format(table=table), fixed, start, block):
            found, values = facet_and_values(output)
            if found == facet and values.get(name) == value:
                yield key

    def _blocks(self, sql: str, fixed: tuple[object, ...], start: str, block: int) -> Iterator[Row]:
        """The rows of a range after a key, read in blocks: no statement stays open while its rows are used."""
        size = min(_FIRST_BLOCK, block)
        while rows := self._connection.execute(sql, (*fixed, start, size)).fetchall():
            yield from rows
            if len(rows) < size:
                return
            start, size = rows[-1][0], min(4 * size, block)

    def _search(self, run_id: int, text: str, keys: Iterator[str], limit: int) -> Page[SampleSteps]:
        items: list[SampleSteps] = []
        searched = 0
        while searched < _MOST_SEARCHED and (block := list(islice(keys, _SEARCHED_AT_ONCE))):
            for sample in self._samples_of(run_id, block):
                searched += 1
                if holds_text(sample, text):
                    items.append(sample)
                    if len(items) > limit:
                        return Page(items[:limit], place_of(*items[limit - 1][:2]))
        if next(keys, None) is None:
            return Page(items)
        return Page(items, place_of(int(block[-1][6:15]), int(block[-1][16:20])))

    def _samples_of(self, run_id: int, keys: list[str]) -> list[SampleSteps]:
        """The samples of these sorted keys. Neighbours are read together."""
        if not keys:
            return []
        if int(keys[-1][6:15]) - int(keys[0][6:15]) <= 2 * len(keys):
            chosen = set(keys)
            between = self._samples_between(run_id, keys[0], keys[-1] + "0")
            return [sample for sample in between if score_key(sample.sample, sample.repeat) in chosen]
        found: list[SampleSteps] = []
        for at in range(0, len(keys), _KEYS_PER_STATEMENT):
            part = keys[at : at + _KEYS_PER_STATEMENT]
            for row in self._connection.execute(
                f"SELECT {SAMPLE_COLUMNS} FROM steps WHERE run_id = ? AND key IN ({','.join('?' * len(part))})"
                " ORDER BY key",
                (run_id, *part),
            ):
                sample = SampleSteps._make(row)
                if sample.call_output is None:  # its calls may be in separate rows
                    key = score_key(sample.sample, sample.repeat)
                    found += self._samples_between(run_id, key, key + "0")
                else:
                    found.append(sample)
        return found

    def _distinct(
        self, table: str, column: str, values: tuple[int | str, ...], last: str | int, most: int | None = None
    ) -> Iterator[Any]:
        """The distinct values of an index's next column, with one look-up for each."""
        names = ("run_id", "name", "facet") if len(values) > 1 else ("run_id",)
        fixed = " AND ".join(f"{name} = ?" for name in names[: len(values)])
        sql = f"SELECT min({column}) FROM {table} WHERE {fixed} AND {column} > ?"
        while (found := self._connection.execute(sql, (*values, last)).fetchone()[0]) is not None:
            if most is not None and found > most:
                return
            yield found
            last = found

    # -- the indexes --

    def _index(self, index: _Index, at_least: int = 1) -> None:
        """Update one of the two indexes."""
        done, newest = self._indexed_and_newest(index)
        if newest - done < at_least:
            return
        while done < newest:
            upto = min(done + _ROWS_AT_ONCE, newest)
            with self._transaction(bulk=True) as connection:
                done = self._indexed_and_newest(index)[0]  # another process may have done it meanwhile
                self._fill(index, index.table, "rowid > ? AND rowid <= ?", (done, upto))
                connection.execute(SET_MARK, (index.mark, max(done, upto)))
            done = max(done, upto)

    def _fill(self, index: _Index, table: str, which: str, values: tuple[int, ...]) -> None:
        rows: list[Row] = []
        for run_id, key, output in self._connection.execute(
            f"SELECT run_id, key, output FROM steps WHERE {which} AND {_SCORES}", values
        ):
            rows += index.entries(run_id, key, output)
        rows.sort()  # inserting in the order of the index is four times as fast
        self._connection.executemany(index.insert.format(table=table), rows)

    def _indexed_and_newest(self, index: _Index) -> tuple[int, int]:
        mark = self._connection.execute("SELECT value FROM marks WHERE name = ?", (index.mark,)).fetchone()
        newest = self._connection.execute("SELECT coalesce(max(rowid), 0) FROM steps").fetchone()[0]
        return (mark[0] if mark else 0), int(newest)

    def _table_of(self, index: _Index, run_id: int) -> str:
        """The table of an index: in the database, or one of this connection if a read-only database lacks records in it."""
        if not self._read_only:
            self._index(index)
            return index.table
        done, newest = self._indexed_and_newest(index)
        if done >= newest:
            return index.table
        table = self._scratch(f"{index.table}_here", index.declaration)
        if (index.table, run_id) not in self._looked_at:
            self._fill(index, table, "run_id = ?", (run_id,))
            self._looked_at.add((index.table, run_id))
        return table


def _facet_entry(run_id: int, key: str, output: bytes) -> list[Row]:
    return [(run_id, facet_of(output), key)]


def _metric_entries(run_id: int, key: str, output: bytes) -> list[Row]:
    facet, numbers = facet_and_values(output)
    return [(run_id, name, facet, bucket_of(value), key, value) for name, value in numbers.items()]


class _Index(NamedTuple):
    """An index of samples that is filled in bulk."""

    table: str
    mark: str
    """The name in `marks` of how far it is filled."""
    declaration: str
    entries: Callable[[int, str, bytes], list[Row]]
    """The entries of a run's score, by its key and record."""
    insert: str


SAMPLE_INDEX_OF = _Index(
    "sample_index",
    "samples",
    SAMPLE_INDEX,
    _facet_entry,
    "INSERT INTO {table} VALUES (?,?,?) ON CONFLICT DO NOTHING",
)
SAMPLE_METRICS_OF = _Index(
    "sample_metrics",
    "sample_metrics",
    SAMPLE_METRICS,
    _metric_entries,
    "INSERT INTO {table} VALUES (?,?,?,?,?,?)"
    " ON CONFLICT (run_id, name, facet, bucket, key) DO UPDATE SET value = excluded.value",
)
