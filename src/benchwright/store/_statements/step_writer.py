"""Writes steps in the event loop, with many records per commit.

Records that arrive at about the same time share a commit. A record counts as written only after its commit; a caller that
must not lose a record awaits the future of `append`.

The commit runs in the loop's thread. Without a sync to disk (WAL, synchronous=NORMAL) it takes less time than passing the
records to another thread, which also made both threads compete for the interpreter lock (benchmarks: 9,300 against
15,000 samples/s). The checkpoint, which does sync, runs in a thread. A database on the other side of a network is written to in
a thread, one group after the other: what arrives meanwhile is the next group. If it goes away, the group waits for it, and with
it everybody who awaits a record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic, sleep, thread_time

from benchwright.core import (
    OWN_WORDS,
    BenchwrightError,
    RunOwnedError,
    StepValues,
    known_secrets,
    marked_as_redacted,
    sample_of,
)
from benchwright.store._driver import Driver
from benchwright.store._owner import Lease
from benchwright.store._statements.leases import check_lease
from benchwright.store._statements.marks import forget_sample, lower_marks
from benchwright.store._statements.schema import connected

_COLUMNS = (
    "(run_id, key, input_hash, input, output, reusable, started_at, finished_at,"
    " call_hash, call_input, call_output)"
)
_ROWS_PER_STATEMENT = 48
"""Rows per INSERT statement, which saves a call for each row."""
_GATHER_TURNS = 8
"""Turns of the loop for which the first record of a group waits for others. Turns are short in an idle loop and long in a
busy one, so a quiet run commits at once and a busy one gathers. (A timer would be simpler, but the timers of uvloop have
a resolution of a millisecond, which cost 3 % of the rate at 20 ms latency.)"""
_GROUP_ROWS = 24
"""The group size at which waiting ends. Twice as many rows saved nothing and delayed the first ones."""
_QUICK_TURNS = 2
"""Turns to wait in a loop with time to spare. The request after a record is sent sooner, which gained 2 % of the rate at
20 ms latency, and the cost of small commits does not matter there."""
_BUSY = 0.8
"""Share of working time from which the loop's thread counts as busy."""
_LOOK_EVERY = 16
"""Commits between two measurements of that share."""
_LOOK_AGAIN_S = 0.2
"""Seconds between two tries to reach a database that went away."""
_CHECKPOINT_ROWS = 4_000
"""Rows between checkpoints."""
_CHECKPOINT_HERE_PAGES = 16_000
"""If the thread does not keep up, SQLite checkpoints by itself at 64 MB of log, so that the log stays bounded."""


class SampleStepWriter:
    """Appends steps of one run from an event loop."""

    def __init__(self, driver: Driver, lease: Lease) -> None:
        self._loop = asyncio.get_running_loop()
        self._driver = driver
        self._lease = lease
        self._connection = connected(driver, "append", log_pages=_CHECKPOINT_HERE_PAGES)
        self._as_blob = self._connection.as_blob
        # The run's number is part of the statement, which saves binding a value for every row.
        values = f"({int(lease.run_id)},?,?,?,?,?,?,?,?,?,?)"
        self._insert = tuple(
            f"INSERT INTO steps {_COLUMNS} VALUES {','.join([values] * rows)}"
            for rows in range(_ROWS_PER_STATEMENT + 1)
        )
        self._writing: asyncio.Future[BenchwrightError | None] | None = None
        self._pending: list[StepValues] = []
        self._written: asyncio.Future[None] = self._loop.create_future()
        self._turns = 0
        self._patience = _GATHER_TURNS
        self._looked_at = monotonic(), thread_time()
        self._failure: BenchwrightError | None = None
        self._since_checkpoint = 0
        self._checkpoint: asyncio.Future[None] | None = None
        self._redacted: set[str] = set()
        self._replaced: list[tuple[str, Sequence[str], list[str]]] = []
        self.commits = 0
        """Commits so far."""

    def append(self, rows: Sequence[StepValues]) -> asyncio.Future[None]:
        """Add rows. The future, which the whole group shares, is done when they are committed."""
        if self._failure is not None:
            raise self._failure
        pending = self._pending
        written = self._written
        if not rows:  # nothing to wait for, and no commit would come
            written = self._loop.create_future()
            written.set_result(None)
            return written
        pending.extend(rows)
        if self._turns == 0:
            self._turns = self._patience
            self._loop.call_soon(self._gather)
        return written

    def replace(self, kinds: Sequence[str], rows: Sequence[StepValues]) -> asyncio.Future[None]:
        """Add all rows of one sample, the score last. The commit deletes its recorded steps of these kinds, and others that
        were made again, so that a killed process leaves either the old sample or the new one."""
        written = self.append(rows)
        keys = [row[0] for row in rows]
        if rows[-1][-1] is not None:  # the score's row has the call
            keys.append(f"call/{sample_of(keys[-1])}")
        self._replaced.append((rows[-1][0], kinds, keys))
        return written

    async def close(self) -> None:
        """Commit what is left and close."""
        try:
            self._commit()
            while self._writing is not None:
                await asyncio.wait([self._writing])
                await asyncio.sleep(0)  # its callback, which may begin the next group
            self._check_file()
            if self._failure is not None:
                raise self._failure
        finally:
            if self._checkpoint is not None:
                await asyncio.wait([self._checkpoint])
            self._connection.close()

    def _gather(self) -> None:
        self._turns -= 1
        if self._turns == 0 or len(self._pending) >= _GROUP_ROWS:
            self._turns = 0
            self._commit()
        else:
            self._loop.call_soon(self._gather)

    def _commit(self) -> None:
        if not self._pending or self._writing is not None:
            return
        group, self._pending = self._without_secrets(self._pending), []
        written, self._written = self._written, self._loop.create_future()
        replaced, self._replaced = self._replaced, []
        if self._connection.local:
            why: BenchwrightError | None = None
            try:
                self._insert_all(group, replaced)
            except RunOwnedError as error:
                why = error
            except self._connection.errors as error:
                why = self._connection.not_written(error)
            self._ended(written, len(group), why)
            return
        self._writing = self._loop.run_in_executor(None, self._written_or_why, group, replaced)
        self._writing.add_done_callback(lambda done: self._ended(written, len(group), done.result()))

    def _written_or_why(
        self, group: list[StepValues], replaced: list[tuple[str, Sequence[str], list[str]]]
    ) -> BenchwrightError | None:
        """Write a group. Returns why it could not be written."""
        latest, again = 0.0, ""
        while True:
            try:
                self._insert_all(group, replaced, again)
                return None
            except RunOwnedError as error:
                return error
            except self._connection.errors as error:
                now = monotonic()
                latest = latest or now + self._connection.patience_s
                if not self._connection.is_away(error) or now > latest:
                    return self._connection.not_written(error)
            # The last thing that arrived may have been the commit.
            again = " ON CONFLICT (run_id, key) DO NOTHING"
            sleep(_LOOK_AGAIN_S)

    def _ended(self, written: asyncio.Future[None], rows: int, why: BenchwrightError | None) -> None:
        self._writing = None
        if why is not None:
            self._fail(written, why)
            return
        self.commits += 1
        if self.commits % _LOOK_EVERY == 0:
            self._look_at_load()
        self._check_file()
        if self._failure is not None:
            self._fail(written, self._failure)
        if not written.done():  # cancelled together with a worker that had to stop at once
            written.set_result(None)
        self._since_checkpoint += rows
        if self._since_checkpoint >= _CHECKPOINT_ROWS and (
            self._checkpoint is None or self._checkpoint.done()
        ):
            self._since_checkpoint = 0
            self._checkpoint = self._loop.run_in_executor(None, self._driver.tidy)
        if not self._connection.local:
            self._commit()  # what arrived meanwhile

    def _fail(self, written: asyncio.Future[None], why: BenchwrightError) -> None:
        """Record nothing more."""
        self._failure = why
        if not written.done():
            written.set_exception(why)
            written.exception()  # callers that await it see it; without one, asyncio must not warn

    def _look_at_load(self) -> None:
        """Measure whether there is time to spare."""
        (began, worked), self._looked_at = self._looked_at, (monotonic(), thread_time())
        now, works = self._looked_at
        self._patience = _GATHER_TURNS if works - worked > _BUSY * (now - began) else _QUICK_TURNS

    def _check_file(self) -> None:
        """Check that the database is still there, because writing to a deleted file raises no error."""
        if self._failure is None:
            self._failure = self._connection.lost()

    def _without_secrets(self, group: list[StepValues]) -> list[StepValues]:
        """Remove secret values of the environment from the rows. The whole group is searched at once, because there is hardly
        ever anything to find.

        A changed reply is marked, so that it is never scored again or offered to another run. So is its score, which was given
        to the original reply.
        """
        redactor = known_secrets()
        if not self._redacted and not (
            redactor.guards
            and redactor.found_in(b"\n".join([text or b"" for row in group for text in _texts(row)]))
        ):
            return group
        clean = redactor.clean_json
        cleaned: list[StepValues] = []
        for row in group:
            key, digest, given, output, reusable, started, finished, call_hash, body, reply = row
            if output >= _PACKED:
                cleaned.append((*row[:3], redactor.clean_packed(output), *row[4:]))
                continue
            kept, kept_reply = clean(output, OWN_WORDS), reply and clean(reply, OWN_WORDS)
            is_score = key.startswith("score/")
            if kept_reply is not reply or (kept is not output and not is_score):
                self._redacted.add(sample_of(key))
                reusable = False
                if kept_reply is not None:
                    kept_reply = marked_as_redacted(kept_reply)
                if not is_score:
                    kept = marked_as_redacted(kept)
            if is_score and sample_of(key) in self._redacted:
                self._redacted.discard(sample_of(key))
                kept = marked_as_redacted(kept)
            cleaned.append(
                (key, digest, given and clean(given), kept, reusable, started, finished, call_hash,
                 body and clean(body), kept_reply)
            )  # fmt: skip
        return cleaned

    def _insert_all(
        self,
        group: list[StepValues],
        replaced: list[tuple[str, Sequence[str], list[str]]],
        again: str = "",
    ) -> None:
        execute = self._connection.execute
        self._connection.begin()
        try:
            check_lease(self._connection, self._lease)  # another process may have taken over the run
            if replaced:
                self._forget(replaced)
            for start in range(0, len(group), _ROWS_PER_STATEMENT):
                part = group[start : start + _ROWS_PER_STATEMENT]
                execute(self._insert[len(part)] + again, _values(part, self._as_blob))
            self._connection.commit()
        except BaseException:
            self._connection.rollback()
            raise

    def _forget(self, replaced: list[tuple[str, Sequence[str], list[str]]]) -> None:
        run_id = self._lease.run_id
        for score, kinds, keys in replaced:
            forget_sample(self._connection, run_id, score, kinds)
            self._connection.executemany(
                "DELETE FROM steps WHERE run_id = ? AND key = ?", [(run_id, key) for key in keys]
            )
        lower_marks(self._connection)


_PACKED = b"\x80"
"""Records of load tests are packed. JSON never begins with a byte above ASCII, and a packed list or table always does."""


def _texts(row: StepValues) -> tuple[bytes | None, ...]:
    return row[2], row[3], row[8], row[9]


def _values(rows: list[StepValues], blob: Callable[[bytes], object]) -> list[object]:
    """The rows' values in the form that is bound fastest."""
    values: list[object] = []
    for key, digest, given, output, reusable, started, finished, call_hash, body, reply in rows:
        values += (key, blob(digest), given and blob(given), blob(output), int(reusable), started, finished)
        values += (call_hash and blob(call_hash), body and blob(body), reply and blob(reply))
    return values
