"""The one writer of steps: a thread that commits many records at once.

While one group is being committed the next gathers, so the group grows with the load by itself: a quiet
run commits every reply at once, a fast one some dozens together. A record counts as written only when its
commit is done; whoever must not lose it awaits `append`'s future.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from benchwright.store._database import StoreError, open_database
from benchwright.store._records import StepRow

_COLUMNS = "(run_id, key, input_hash, input, output, reusable, started_at, finished_at)"
_GROUP = 48
"""Rows per INSERT statement. One statement is one release of the interpreter lock; row-by-row insertion
made the writer queue for the lock at every row and cost 3 times the CPU."""


class StepWriter:
    """Appends steps of one run from an event loop."""

    def __init__(self, database: Path, run_id: int) -> None:
        # The run's number is part of the statement: a value less to bind for every row.
        values = f"({int(run_id)},?,?,?,?,?,?,?)"
        self._insert = tuple(
            f"INSERT INTO steps {_COLUMNS} VALUES {','.join([values] * rows)}" for rows in range(_GROUP + 1)
        )
        self._loop = asyncio.get_running_loop()
        self._pending: list[StepRow] = []
        self._gathering: asyncio.Future[None] = self._loop.create_future()
        self._in_hand = self._gathering
        self._busy = False
        self._failure: BaseException | None = None
        self._groups: queue.SimpleQueue[list[StepRow] | None] = queue.SimpleQueue()
        self.commits = 0
        self._thread = threading.Thread(
            target=self._work, args=(database,), name="benchwright-writer", daemon=True
        )
        self._thread.start()

    def append(self, rows: Sequence[StepRow]) -> asyncio.Future[None]:
        """Hand over rows; the future is done when they are committed (shared by the whole group)."""
        if self._failure is not None:
            raise StoreError(f"a record could not be written: {self._failure}") from self._failure
        self._pending.extend(rows)
        written = self._gathering
        if not self._busy:
            # call_soon, not now: replies that arrived in the same turn of the loop join the group.
            self._busy = True
            self._loop.call_soon(self._hand_over)
        return written

    async def drain(self) -> None:
        """Wait until everything appended so far is committed."""
        while self._busy:
            await (self._gathering if self._pending else self._in_hand)

    async def close(self) -> None:
        """Commit what is left and end the thread."""
        try:
            await self.drain()
        finally:
            self._groups.put(None)
            await asyncio.to_thread(self._thread.join)

    def _hand_over(self) -> None:
        group, self._pending = self._pending, []
        written, self._gathering = self._gathering, self._loop.create_future()
        self._in_hand = written
        self._groups.put(group)

    def _committed(self, failure: BaseException | None) -> None:
        written = self._in_hand
        self.commits += 1
        if failure is not None:
            self._failure = failure
            error = StoreError(f"a record could not be written: {failure}")
            for future in (written, self._gathering):
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # those who await it see it; an unwatched one must not warn
            self._busy = False
            return
        if not written.done():
            written.set_result(None)
        if self._pending:
            self._hand_over()
        else:
            self._busy = False

    def _work(self, database: Path) -> None:
        connection: sqlite3.Connection | None = None
        failure: BaseException | None = None
        while (group := self._groups.get()) is not None:
            try:
                if connection is None:
                    connection = open_database(database)
                self._commit(connection, group)
            except Exception as error:
                failure = error
            try:
                self._loop.call_soon_threadsafe(self._committed, failure)
            except RuntimeError:  # the loop is gone; nobody waits any more
                break
        if connection is not None:
            connection.close()

    def _commit(self, connection: sqlite3.Connection, group: list[StepRow]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for start in range(0, len(group), _GROUP):
                part = group[start : start + _GROUP]
                connection.execute(self._insert[len(part)], list(chain.from_iterable(part)))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
