"""Reads pages of filtered samples, from indexes that are updated in bulk.

A page reads one index range per facet, or per facet and bucket of a metric, and merges them in sample order. So it takes
one look-up per range and one read per sample of the page, independent of the size of the run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from heapq import merge
from itertools import islice

from benchwright.core import score_key
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
from benchwright.store._sqlite.schema import SAMPLE_INDEX, SAMPLE_METRICS
from benchwright.store._sqlite.steps import SAMPLE_COLUMNS, Steps
from benchwright.store._workflow_records import Page
from benchwright.store._workspace import Workspace

_ROWS_AT_ONCE = 100_000
"""Steps indexed per transaction, so that other processes can write in between."""
_MOST_SEARCHED = 5_000
"""Samples that one page searches for a text."""
_SEARCHED_AT_ONCE = 200
_KEYS_PER_STATEMENT = 500
"""Older builds of SQLite accept at most 999 values."""
_CACHE_KIB = 64_000
"""Memory for the index of metrics while it is filled, because its entries have another order than the samples."""
PAGE = (
    "SELECT i.key FROM {schema}sample_index i JOIN steps s ON s.run_id = i.run_id AND s.key = i.key"
    " WHERE i.run_id = ? AND i.facet = ? AND i.key > ? AND facet_of(s.output) = i.facet ORDER BY i.key LIMIT ?"
)
"""Keys of one facet. A record that was replaced since it was indexed is left out, because its new entry counts."""
METRIC_PAGE = (
    "SELECT i.key FROM {schema}sample_metrics i JOIN steps s ON s.run_id = i.run_id AND s.key = i.key"
    " WHERE i.run_id = ? AND i.name = ? AND i.facet = ? AND i.bucket = ? AND i.key > ? AND i.value > ? AND i.value < ?"
    " AND still_has(s.output, i.facet, i.name, i.value) ORDER BY i.key LIMIT ?"
)
"""Keys of one facet and one bucket of a metric."""
_SCORES = "key >= 'score/' AND key < 'score0'"


class Samples(Steps):
    """Reads samples page by page."""

    def __init__(self, workspace: Workspace, *, read_only: bool = False) -> None:
        super().__init__(workspace, read_only=read_only)
        self._connection.create_function("facet_of", 1, facet_of, deterministic=True)
        self._connection.create_function("still_has", 4, _still_has, deterministic=True)
        self._read_only = read_only
        self._looked_at: set[tuple[str, int]] = set()

    def index_samples(self, at_least: int = 1) -> None:
        """Update the index if it lacks at least this many records.

        This is done in bulk, before a page or after a large run, because updating it with every row made recording a fifth
        slower.
        """
        self._index("sample_index", at_least)

    def page_samples(
        self, run_id: int, where: SampleFilter | None = None, *, after: int | None = None, limit: int = 100
    ) -> Page[SampleSteps]:
        """Samples of a run that pass the filter, in sample order; `after` is `next` of the page before.

        A page searches a limited number of samples for a text. If it did not find enough, it is shorter than `limit`, and the
        search continues at `next`.
        """
        where = where or SampleFilter()
        start = "score/" if after is None else score_key(*sample_at(after))
        with ExitStack() as cursors:
            keys = self._keys(cursors, run_id, where, start, -1 if where.text else limit + 1)
            if where.text:
                return self._search(run_id, where.text, keys, limit)
            found = list(islice(keys, limit + 1))
        items = self._samples_of(run_id, found[:limit])
        more = len(found) > limit
        return Page(items, place_of(*items[-1][:2]) if more and items else None)

    def _keys(
        self, cursors: ExitStack, run_id: int, where: SampleFilter, start: str, most: int
    ) -> Iterator[str]:
        """The keys that pass a filter, from the indexes, in order."""
        table = "sample_index" if where.metric is None else "sample_metrics"
        schema = self._schema_of(table, run_id)
        if where.metric is None:
            sql = PAGE.format(schema=schema)
            ranges: list[tuple[object, ...]]
            facets = self._distinct(f"facet FROM {schema}sample_index", (run_id,), "")
            ranges = [
                (run_id, facet, start, most) for facet in facets if where.passes(Facet.from_text(facet))
            ]
        else:
            sql = METRIC_PAGE.format(schema=schema)
            bounds = where.bounds
            low, high = (bucket_of(min(max(bound, -1e300), 1e300)) for bound in bounds)
            named = (run_id, where.metric)
            facets = self._distinct(f"facet FROM {schema}sample_metrics", named, "")
            ranges = [
                (*named, facet, bucket, start, *bounds, most)
                for facet in facets
                if where.passes(Facet.from_text(facet))
                for bucket in self._distinct(
                    f"bucket FROM {schema}sample_metrics", (*named, facet), low - 1, high
                )
            ]
        opened = [cursors.enter_context(closing(self._connection.execute(sql, values))) for values in ranges]
        return (key for (key,) in merge(*opened))

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
        self, what: str, values: tuple[int | str, ...], last: str | int, most: int | None = None
    ) -> Iterator[str]:
        """The distinct values of an index's next column, with one look-up for each."""
        column = what.partition(" ")[0]
        names = ("run_id", "name", "facet") if len(values) > 1 else ("run_id",)
        fixed = " AND ".join(f"{name} = ?" for name in names[: len(values)])
        sql = f"SELECT min({column}) {what[len(column) + 1 :]} WHERE {fixed} AND {column} > ?"
        while (found := self._connection.execute(sql, (*values, last)).fetchone()[0]) is not None:
            if most is not None and found > most:
                return
            yield found
            last = found

    # -- the indexes --

    def _index(self, table: str, at_least: int = 1) -> None:
        """Update one of the two indexes."""
        done, newest = self._indexed_and_newest(table)
        if newest - done < at_least:
            return
        self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        while done < newest:
            upto = min(done + _ROWS_AT_ONCE, newest)
            with self._transaction() as connection:
                done = self._indexed_and_newest(table)[0]  # another process may have done it meanwhile
                self._fill(table, "main.", "rowid > ? AND rowid <= ?", (done, upto))
                connection.execute(
                    "INSERT OR REPLACE INTO marks VALUES (?, ?)", (_MARKS[table], max(done, upto))
                )
            done = max(done, upto)

    def _fill(self, table: str, schema: str, which: str, values: tuple[int, ...]) -> None:
        if table == "sample_index":
            self._connection.execute(
                f"INSERT OR REPLACE INTO {schema}sample_index SELECT run_id, facet_of(output) AS facet, key FROM steps"
                f" WHERE {which} AND {_SCORES} ORDER BY run_id, facet, key",
                values,
            )
            return
        rows = []
        for run_id, key, output in self._connection.execute(
            f"SELECT run_id, key, output FROM steps WHERE {which} AND {_SCORES}", values
        ):
            facet, numbers = facet_and_values(output)
            rows += [(run_id, name, facet, bucket_of(value), key, value) for name, value in numbers.items()]
        rows.sort()  # inserting in the order of the index is four times as fast
        self._connection.executemany(
            f"INSERT OR REPLACE INTO {schema}sample_metrics VALUES (?,?,?,?,?,?)", rows
        )

    def _indexed_and_newest(self, table: str) -> tuple[int, int]:
        mark = self._connection.execute("SELECT value FROM marks WHERE name = ?", (_MARKS[table],)).fetchone()
        newest = self._connection.execute("SELECT coalesce(max(rowid), 0) FROM steps").fetchone()[0]
        return (mark[0] if mark else 0), int(newest)

    def _schema_of(self, table: str, run_id: int) -> str:
        """The schema of an index: in the database, or in memory if a read-only database lacks it."""
        if not self._read_only:
            self._index(table)
            return "main."
        done, newest = self._indexed_and_newest(table)
        if done >= newest and _has_table(self._connection, table):
            return "main."
        if (table, run_id) not in self._looked_at:
            self._connection.execute("PRAGMA temp_store = MEMORY")
            create = SAMPLE_INDEX if table == "sample_index" else SAMPLE_METRICS
            self._connection.execute(create.replace("CREATE TABLE", "CREATE TEMP TABLE IF NOT EXISTS", 1))
            self._fill(table, "temp.", "run_id = ?", (run_id,))
            self._looked_at.add((table, run_id))
        return "temp."


_MARKS = {"sample_index": "samples", "sample_metrics": "sample_metrics"}
"""The names in `marks` of the progress of each index."""


def _still_has(output: bytes, facet: str, name: str, value: float) -> bool:
    found, values = facet_and_values(output)
    return found == facet and values.get(name) == value


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    return (
        connection.execute("SELECT 1 FROM main.sqlite_master WHERE name = ?", (name,)).fetchone() is not None
    )
