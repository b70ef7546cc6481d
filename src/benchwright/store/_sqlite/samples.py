"""Pages of samples with filters, from an index of facets that is brought up to date in bulk."""

from __future__ import annotations

import sqlite3
from heapq import merge
from itertools import islice
from typing import Any

from benchwright.core import score_key
from benchwright.store._facets import Facet, SampleFilter, facet_of, place_of, sample_at
from benchwright.store._records import SampleSteps
from benchwright.store._sqlite.steps import Steps
from benchwright.store._workflow.records import Page
from benchwright.store._workspace import Workspace

_ROWS_AT_ONCE = 50_000
"""Steps that are indexed in one transaction: others can write in between."""
PAGE = (
    "SELECT i.key FROM {schema}sample_index i JOIN steps s ON s.run_id = i.run_id AND s.key = i.key"
    " WHERE i.run_id = ? AND i.facet = ? AND i.key > ? AND facet_of(s.output) = i.facet ORDER BY i.key LIMIT ?"
)
"""Keys of one facet. A record that was replaced since it was indexed is left out: it is indexed anew."""
_INTO_INDEX = (
    "INSERT OR REPLACE INTO {schema}sample_index SELECT run_id, facet_of(output) AS facet, key FROM steps"
    " WHERE {which} AND key >= 'score/' AND key < 'score0' ORDER BY run_id, facet, key"
)


class Samples(Steps):
    """Samples a page at a time."""

    def __init__(self, workspace: Workspace, *, read_only: bool = False) -> None:
        super().__init__(workspace, read_only=read_only)
        self._connection.create_function("facet_of", 1, facet_of, deterministic=True)
        self._read_only = read_only
        self._looked_at: set[int] = set()

    def index_samples(self, at_least: int = 1) -> None:
        """Bring the index up to date, if it lacks so many records.

        In bulk, before a page or after a large run: kept up with every row, it made recording one a fifth slower.
        """
        connection = self._connection
        done, newest = self._indexed_and_newest()
        if newest - done < at_least:
            return
        while done < newest:
            upto = min(done + _ROWS_AT_ONCE, newest)
            with self._transaction():
                done = self._indexed_and_newest()[0]  # somebody else may have done it meanwhile
                sql = _INTO_INDEX.format(schema="main.", which="rowid > ? AND rowid <= ?")
                connection.execute(sql, (done, upto))
                connection.execute("INSERT OR REPLACE INTO marks VALUES ('samples', ?)", (max(done, upto),))
            done = max(done, upto)

    def page_samples(
        self, run_id: int, where: SampleFilter | None = None, *, after: int | None = None, limit: int = 100
    ) -> Page[SampleSteps]:
        """Samples of a run that pass the filter, in sample order; `after` is `next` of the page before."""
        schema = self._schema_of_index(run_id)
        start = "score/" if after is None else score_key(*sample_at(after))
        where = where or SampleFilter()
        wanted = [facet for facet in self._facets(schema, run_id) if where.wants(Facet.from_text(facet))]
        found = (
            self._keys(PAGE.format(schema=schema), (run_id, facet, start, limit + 1)) for facet in wanted
        )
        keys = list(islice(merge(*found), limit + 1))
        items = [sample for key in keys[:limit] for sample in self._samples_between(run_id, key, key + "0")]
        more = len(keys) > limit
        return Page(items, place_of(*items[-1][:2]) if more and items else None)

    def _keys(self, sql: str, values: tuple[Any, ...]) -> list[str]:
        return [row[0] for row in self._connection.execute(sql, values)]

    def _facets(self, schema: str, run_id: int) -> list[str]:
        """The facets that occur in a run: a step in the index for each, however many samples they have."""
        found: list[str] = []
        next_one = f"SELECT min(facet) FROM {schema}sample_index WHERE run_id = ? AND facet > ?"
        last: str | None = ""
        while (last := self._connection.execute(next_one, (run_id, last)).fetchone()[0]) is not None:
            found.append(last)
        return found

    def _indexed_and_newest(self) -> tuple[int, int]:
        mark = self._connection.execute("SELECT value FROM marks WHERE name = 'samples'").fetchone()
        newest = self._connection.execute("SELECT coalesce(max(rowid), 0) FROM steps").fetchone()[0]
        return (mark[0] if mark else 0), int(newest)

    def _schema_of_index(self, run_id: int) -> str:
        """Where the index is: in the database; for one that cannot be written to, and lacks it, in memory."""
        if not self._read_only:
            self.index_samples()
            return "main."
        done, newest = self._indexed_and_newest()
        if done >= newest and _has_index(self._connection):
            return "main."
        if run_id not in self._looked_at:
            self._connection.execute("PRAGMA temp_store = MEMORY")
            self._connection.execute(
                "CREATE TEMP TABLE IF NOT EXISTS sample_index (run_id INTEGER, facet TEXT, key TEXT,"
                " PRIMARY KEY (run_id, facet, key)) WITHOUT ROWID"
            )
            self._connection.execute(_INTO_INDEX.format(schema="temp.", which="run_id = ?"), (run_id,))
            self._looked_at.add(run_id)
        return "temp."


def _has_index(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM main.sqlite_master WHERE name = 'sample_index'")
    return found.fetchone() is not None
