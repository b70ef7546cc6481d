"""Reads steps without keeping a whole run in memory. `StepWriter` writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

from benchwright.core import sample_of, step_key
from benchwright.store._driver import Driver, Row
from benchwright.store._records import RecordedStep, SampleSteps
from benchwright.store._statements.marks import lower_marks
from benchwright.store._statements.replies import HASH_INDEX, HASHES_PER_STATEMENT, Replies, is_answer
from benchwright.store._workspace import Workspace

_SAMPLE = "CAST(substr(key, 7, 9) AS INTEGER)"
_PLACE = f"{_SAMPLE}, CAST(substr(key, 17, 4) AS INTEGER)"
"""Sample and repeat of a score, from its key."""
SAMPLE_COLUMNS = f"{_PLACE}, input, output, call_input, call_output"
"""The columns of a `SampleSteps`."""


class Steps(Replies):
    """The table of steps, on which resume, cache and reports are based."""

    def __init__(self, workspace: Workspace, driver: Driver, *, read_only: bool = False) -> None:
        super().__init__(workspace, driver, read_only=read_only)
        self._indexed: set[int] = set()

    def recorded(self, run_id: int, kind: str, first_index: int, last_index: int) -> dict[str, RecordedStep]:
        """Recorded steps of a range of samples, by key."""
        rows = self._connection.execute(
            "SELECT key, input_hash, output FROM steps WHERE run_id = ? AND key >= ? AND key < ?",
            (run_id, *_keys(kind, first_index, last_index)),
        )
        found = {key: RecordedStep(input_hash, output) for key, input_hash, output in rows}
        if kind == "call":
            rows = self._connection.execute(
                "SELECT key, call_hash, call_output FROM steps"
                " WHERE run_id = ? AND key >= ? AND key < ? AND call_output IS NOT NULL",
                (run_id, *_keys("score", first_index, last_index)),
            )
            found.update((f"call/{sample_of(key)}", RecordedStep(*call)) for key, *call in rows)
        return found

    def calls(
        self, run_id: int, first_index: int, last_index: int, kind: Literal["call", "judge"] = "call"
    ) -> dict[str, RecordedStep]:
        """Recorded calls of a range of samples, to the model or to judges, by key."""
        rows = self._connection.execute(
            "SELECT key, input_hash, output, input FROM steps WHERE run_id = ? AND key >= ? AND key < ?",
            (run_id, *_keys(kind, first_index, last_index)),
        )
        found = {key: RecordedStep(*call) for key, *call in rows}
        if kind == "judge":
            return found
        rows = self._connection.execute(
            "SELECT key, call_hash, call_output, call_input FROM steps"
            " WHERE run_id = ? AND key >= ? AND key < ? AND call_output IS NOT NULL",
            (run_id, *_keys("score", first_index, last_index)),
        )
        found.update((f"call/{sample_of(key)}", RecordedStep(*call)) for key, *call in rows)
        return found

    def taken_over(self, run_id: int) -> Iterator[tuple[str, RecordedStep]]:
        """Keys and calls whose reply came from another run: they were answered, but are not reusable. Failed calls and replies from
        which a secret was removed do not count."""
        for key, *call in self._connection.stream(
            "SELECT key, coalesce(call_hash, input_hash), coalesce(call_output, output), coalesce(call_input, input) FROM steps"
            " WHERE run_id = ? AND reusable = 0 AND (key < 'score/' OR call_output IS NOT NULL)"
            " AND coalesce(call_hash, input_hash) != ?",
            (run_id, b""),  # those were read back from the run's own files
        ):
            if is_answer(call[1]):
                yield key, RecordedStep(*call)

    async def replies_of(
        self, run_id: int, requests: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], bytes]:
        """A run's replies to requests of any sample, including failed ones. A request is a hash and the number of the reply
        among those to equal requests.

        The first look-up builds a temporary index of the run's calls, because only scoring again needs it, and only if rows
        have moved.
        """
        if run_id not in self._indexed:
            self._index_calls(run_id)
        table = self._scratch("call_index", HASH_INDEX)
        found: dict[tuple[bytes, int], bytes] = {}
        chosen = set(requests)
        hashes = list({digest for digest, _ in requests})
        for start in range(0, len(hashes), HASHES_PER_STATEMENT):
            part = hashes[start : start + HASHES_PER_STATEMENT]
            numbered = (
                "SELECT input_hash, step, row_number() OVER (PARTITION BY input_hash ORDER BY step) - 1 AS number"
                f" FROM {table} WHERE run_id = ? AND input_hash IN ({','.join('?' * len(part))})"
            )
            for digest, number, output in self._connection.execute(
                f"SELECT i.input_hash, i.number, coalesce(s.call_output, s.output) FROM ({numbered}) i"
                " JOIN steps s ON s.rowid = i.step",
                (run_id, *part),
            ):
                if (digest, number) in chosen:
                    found[digest, number] = output
        return found

    def _index_calls(self, run_id: int) -> None:
        self._connection.execute(
            f"INSERT INTO {self._scratch('call_index', HASH_INDEX)} SELECT run_id, coalesce(call_hash, input_hash) AS hash, rowid FROM steps"
            " WHERE run_id = ? AND (key >= 'call/' AND key < 'call0' OR call_hash IS NOT NULL)"
            " ORDER BY hash, rowid",
            (run_id,),
        )
        self._indexed.add(run_id)

    def forget_step(self, run_id: int, key: str) -> None:
        """Delete one step whose input has changed, so that it can be recorded again."""
        with self._transaction() as connection:
            self._check_held(run_id)
            connection.execute("DELETE FROM steps WHERE run_id = ? AND key = ?", (run_id, key))
            lower_marks(connection)

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """(index, repeat, hash of the row, result JSON) of every recorded sample, in sample order, streamed."""
        return iter(
            self._connection.stream(
                f"SELECT {_PLACE}, input_hash, output FROM steps"
                " WHERE run_id = ? AND key >= 'score/' AND key < 'score0' ORDER BY key",
                (run_id,),
            )
        )

    def row_texts(self, run_id: int) -> Iterator[tuple[int, bytes | None]]:
        """(index, JSON of the row) of every recorded sample, in sample order, streamed."""
        return iter(
            self._connection.stream(
                f"SELECT {_SAMPLE}, input FROM steps"
                " WHERE run_id = ? AND key >= 'score/' AND key < 'score0' ORDER BY key",
                (run_id,),
            )
        )

    def rows_scored(self, run_id: int) -> Iterator[tuple[bytes, bytes | None, bytes]]:
        """(hash of the row, JSON of the row, result JSON) of every recorded sample, in sample order, streamed."""
        return iter(
            self._connection.stream(
                "SELECT input_hash, input, output FROM steps"
                " WHERE run_id = ? AND key >= 'score/' AND key < 'score0' ORDER BY key",
                (run_id,),
            )
        )

    def samples(self, run_id: int, index: int | None = None) -> Iterator[SampleSteps]:
        """Every recorded sample with its calls, in sample order, streamed."""
        low, high = ("score/", "score0") if index is None else _keys("score", index, index)
        return self._samples_between(run_id, low, high, many=index is None)

    def _samples_between(
        self, run_id: int, low: str, high: str, *, many: bool = False
    ) -> Iterator[SampleSteps]:
        read = self._connection.stream if many else self._connection.execute
        calls = self._calls(read, run_id, "call" + low[5:], "call" + high[5:])
        call = next(calls, None)
        rows = read(
            f"SELECT {SAMPLE_COLUMNS} FROM steps WHERE run_id = ? AND key >= ? AND key < ? ORDER BY key",
            (run_id, low, high),
        )
        for record in map(_sample, rows):
            # Both are in key order, so they are merged without a look-up per sample.
            while call is not None and call[0] <= record[:2]:
                if call[0] == record[:2]:
                    first = call[1] if record.call_input is None else record.call_input
                    record = record._replace(call_input=first, call_output=call[2])
                call = next(calls, None)
            yield record

    @staticmethod
    def _calls(
        read: Callable[..., Iterable[Row]], run_id: int, low: str, high: str
    ) -> Iterator[tuple[tuple[int, int], bytes | None, bytes]]:
        rows = read(
            "SELECT key, input, output FROM steps WHERE run_id = ? AND key >= ? AND key < ? ORDER BY key",
            (run_id, low, high),
        )
        for key, call_input, output in rows:
            if "/m" not in key:  # not a request of the scorer
                yield (int(key[5:14]), int(key[15:19])), call_input, output


_sample: Callable[[Any], SampleSteps] = partial(tuple.__new__, SampleSteps)
"""`SampleSteps._make` without its call frame, because it is called for every sample."""


def _keys(kind: str, first_index: int, last_index: int) -> tuple[str, str]:
    """The first key of a range of samples, and the first one after it."""
    return step_key(kind, first_index, 0), step_key(kind, last_index + 1, 0)
