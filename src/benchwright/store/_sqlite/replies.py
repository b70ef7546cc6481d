"""The cache: replies of other runs, found by the hash of the request."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from benchwright.core import is_redacted
from benchwright.store._sqlite.runs import Runs
from benchwright.store._workspace import Workspace

HASHES_PER_STATEMENT = 500
"""Older builds of SQLite accept at most 999 values."""
_MOST_RUNS = 100
"""How many runs of the same benchmark are compared with a new one, the newest first."""
_OF_NO_MATTER = ("cache", "budget")
"""Settings in which a run and its repetition may differ."""


class Replies(Runs):
    """Finds the reply of another run to an equal request.

    Several runs may have sent the same request: at the same time, or with `--no-cache`. A run that is done again gets the
    replies that it got before, and not those of another run.
    """

    def __init__(self, workspace: Workspace, *, read_only: bool = False) -> None:
        super().__init__(workspace, read_only=read_only)
        self._done_before: dict[int, tuple[int, ...]] = {}
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
                    "INSERT OR REPLACE INTO reply_index SELECT coalesce(call_hash, input_hash) AS hash, rowid"
                    " FROM steps WHERE rowid > ? AND reusable = 1 ORDER BY hash, rowid",
                    (mark[0] if mark else 0,),
                )
                connection.execute("INSERT OR REPLACE INTO marks VALUES ('replies', ?)", (newest,))
        return connection.execute("SELECT 1 FROM reply_index LIMIT 1").fetchone() is not None

    async def reusable(self, run_id: int, input_hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """The outputs of equal requests of other runs. A run never reuses its own replies: equal rows are all sent, so that a
        resumed run sends the same as an uninterrupted one.

        It runs in the event loop, because a batch takes less time than switching to a thread and back.
        """
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
        if found:
            before = self._runs_done_before(run_id)
            others = [digest for digest, source in sources.items() if source not in before]
            for earlier in before:
                if not others:
                    break
                own = self._answers(earlier, others)
                found.update(own)
                others = [digest for digest in others if digest not in own]
        return found

    def _runs_done_before(self, run_id: int) -> tuple[int, ...]:
        """Runs of the same benchmark on the same data, with the same settings if there are such; the newest first."""
        if run_id not in self._done_before:
            select = "SELECT id, manifest, settings FROM runs"
            row = self._connection.execute(f"{select} WHERE id = ?", (run_id,)).fetchone()
            others = self._connection.execute(
                f"{select} WHERE name = (SELECT name FROM runs WHERE id = ?) AND id != ? ORDER BY id DESC LIMIT ?",
                (run_id, run_id, _MOST_RUNS),
            )
            data = _data_of(row[1]) if row else None
            alike = [other for other in others if data is not None and _data_of(other[1]) == data]
            same = [other for other in alike if _settings_of(other[2]) == _settings_of(row[2])]
            self._done_before[run_id] = tuple(other[0] for other in same or alike)
        return self._done_before[run_id]

    def _answers(self, run_id: int, input_hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """The answers that a run got to requests, wherever they came from. The first look-up makes an index of its
        calls, in a file that is gone when the store is closed."""
        if run_id not in self._searchable:
            self._connection.execute(
                "CREATE TEMP TABLE IF NOT EXISTS answer_index (run_id INTEGER, input_hash BLOB, step INTEGER,"
                " PRIMARY KEY (run_id, input_hash)) WITHOUT ROWID"
            )
            self._connection.execute(
                "INSERT OR IGNORE INTO answer_index SELECT run_id, coalesce(call_hash, input_hash) AS hash, rowid"
                " FROM steps WHERE run_id = ? AND (key < 'score/' OR call_hash IS NOT NULL) ORDER BY hash, rowid",
                (run_id,),
            )
            self._searchable.add(run_id)
        found: dict[bytes, bytes] = {}
        for start in range(0, len(input_hashes), HASHES_PER_STATEMENT):
            part = input_hashes[start : start + HASHES_PER_STATEMENT]
            rows = self._connection.execute(
                "SELECT i.input_hash, coalesce(s.call_output, s.output), s.reusable FROM answer_index i"
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


def _data_of(manifest: bytes) -> object:
    dataset = orjson.loads(manifest).get("dataset")
    return dataset.get("fingerprint") if isinstance(dataset, dict) else None


def _settings_of(settings: bytes) -> dict[str, object]:
    return {name: value for name, value in orjson.loads(settings).items() if name not in _OF_NO_MATTER}
