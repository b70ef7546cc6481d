"""The cache: replies of other runs, found by the hash of the request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import orjson

from benchwright.core import is_redacted
from benchwright.store._driver import Driver
from benchwright.store._statements.marks import SET_MARK
from benchwright.store._statements.run_lists import RunLists
from benchwright.store._workspace import Workspace

HASHES_PER_STATEMENT = 500
"""Older builds of SQLite accept at most 999 values."""
HASH_INDEX = """(run_id {integer}, input_hash {bytes}, step {integer}, PRIMARY KEY (run_id, input_hash, step)) {by_key}"""


class Replies(RunLists):
    """Finds the reply of another run to an equal request. Several runs may have sent it; the caller knows which it prefers."""

    def __init__(self, workspace: Workspace, driver: Driver, *, read_only: bool = False) -> None:
        super().__init__(workspace, driver, read_only=read_only)
        self._searchable: set[int] = set()

    def index_replies(self) -> bool:
        """Update the index of reusable replies. Returns whether it has any.

        This is done in bulk before and after a run. Updated with every reply, an index of random hashes changes a page per
        reply, which doubled the cost of recording (benchmarks: 15 against 8 µs).
        """
        with self._transaction() as connection:
            mark = connection.execute("SELECT value FROM marks WHERE name = 'replies'").fetchone()
            newest = connection.execute("SELECT coalesce(max(rowid), 0) FROM steps").fetchone()[0]
            if newest != (mark[0] if mark else 0):
                connection.execute(
                    "INSERT INTO reply_index SELECT coalesce(call_hash, input_hash) AS hash, max(rowid)"
                    " FROM steps WHERE rowid > ? AND reusable = 1 GROUP BY hash"
                    " ON CONFLICT (input_hash) DO UPDATE SET step = excluded.step",
                    (mark[0] if mark else 0,),
                )
                connection.execute(SET_MARK, ("replies", newest))
        return connection.execute("SELECT 1 FROM reply_index LIMIT 1").fetchone() is not None

    async def reusable(
        self, run_id: int, input_hashes: Sequence[bytes], preferred: Sequence[int] = ()
    ) -> dict[bytes, bytes]:
        """The outputs of equal requests of other runs, of `preferred` runs where they have one. A run never reuses its own replies:
        equal rows are all sent, so that a resumed run sends the same as an uninterrupted one.

        It runs in the event loop, because a batch takes less time than switching to a thread and back, unless the database is far.
        """
        if self.local:
            return self._reusable(run_id, input_hashes, preferred)
        return await asyncio.to_thread(self._reusable, run_id, input_hashes, preferred)

    def _reusable(
        self, run_id: int, input_hashes: Sequence[bytes], preferred: Sequence[int]
    ) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        sources: dict[bytes, int] = {}
        for start in range(0, len(input_hashes), HASHES_PER_STATEMENT):
            part = input_hashes[start : start + HASHES_PER_STATEMENT]
            for digest, output, source in self._connection.execute(
                "SELECT i.input_hash, coalesce(s.call_output, s.output), s.run_id FROM reply_index i"
                " JOIN steps s ON s.rowid = i.step"
                f" WHERE i.input_hash IN ({','.join('?' * len(part))})"
                " AND coalesce(s.call_hash, s.input_hash) = i.input_hash AND s.reusable = 1 AND s.run_id != ?",
                (*part, run_id),
            ):
                found[digest] = output
                sources[digest] = source
        others = [digest for digest, source in sources.items() if source not in preferred]
        for earlier in preferred:
            if not others:
                break
            own = self._answers(earlier, others)
            found.update(own)
            others = [digest for digest in others if digest not in own]
        return found

    def _answers(self, run_id: int, input_hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """The answers that a run got to requests, wherever they came from. The first look-up makes an index of its
        calls, in a file that is gone when the store is closed."""
        if run_id not in self._searchable:
            table = self._scratch("answer_index", HASH_INDEX)
            self._connection.execute(
                f"INSERT INTO {table} SELECT run_id, coalesce(call_hash, input_hash) AS hash, min(rowid)"
                " FROM steps WHERE run_id = ? AND (key < 'score/' OR call_hash IS NOT NULL) GROUP BY run_id, hash",
                (run_id,),
            )
            self._searchable.add(run_id)
        found: dict[bytes, bytes] = {}
        for start in range(0, len(input_hashes), HASHES_PER_STATEMENT):
            part = input_hashes[start : start + HASHES_PER_STATEMENT]
            rows = self._connection.execute(
                f"SELECT i.input_hash, coalesce(s.call_output, s.output), s.reusable FROM {self._scratch('answer_index', HASH_INDEX)} i"
                " JOIN steps s ON s.rowid = i.step"
                f" WHERE i.run_id = ? AND i.input_hash IN ({','.join('?' * len(part))})",
                (run_id, *part),
            )
            found.update(
                (digest, output) for digest, output, reusable in rows if reusable or is_answer(output)
            )
        return found


def is_answer(output: bytes) -> bool:
    """Whether a call that no other run may take was answered: its reply came from another run, and did not fail (`x`)."""
    return not is_redacted(output) and "x" not in orjson.loads(output)
