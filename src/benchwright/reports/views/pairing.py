"""The samples of two runs, paired and streamed by the content of their rows: numbers of rows depend on filters, limits,
order and sampling, and say nothing about which row it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import NamedTuple, Protocol

from benchwright.core import SampleRecord, decode_score


class Scored(Protocol):
    """Where the samples of runs are: the store, or the files of a run from elsewhere."""

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Row, repeat, hash of the row and record of every sample, in their order."""
        ...


class Half(NamedTuple):
    """One run's record of a sample."""

    row: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    row_hash: bytes
    """Stands for the row's content; of a row that could not be read, the reason."""
    record: SampleRecord
    """Outcome, scores, target as recorded."""


class Pair(NamedTuple):
    """A sample in both runs, or in one of them."""

    a: Half | None
    """In the first run."""
    b: Half | None
    """In the second."""


def pairs_of(store: Scored, a: int, b: int) -> Iterator[Pair]:
    """Rows of equal content are the same row; among copies, the first of one run is the first of the other, and so on.

    As long as both runs have the same rows in the same order, one of each is held at a time; from the first that
    differs on, the records of the first run are held.
    """
    left, right = _rows(store, a), _rows(store, b)
    x, y = next(left, None), next(right, None)
    while x is not None and y is not None and x[0].row_hash == y[0].row_hash:
        yield from _repeats(x, y)
        x, y = next(left, None), next(right, None)
    waiting: dict[bytes, deque[list[Half]]] = {}
    for row in chain([] if x is None else [x], left):
        waiting.setdefault(row[0].row_hash, deque()).append(row)
    for row in chain([] if y is None else [y], right):
        same = waiting.get(row[0].row_hash)
        yield from _repeats(same.popleft() if same else (), row)
    for rows in waiting.values():
        for row in rows:
            yield from _repeats(row, ())


def _rows(store: Scored, run_id: int) -> Iterator[list[Half]]:
    """A run's samples in row order, the repeats of a row together."""
    for _, halves in groupby(_halves(store, run_id), key=attrgetter("row")):
        yield list(halves)


def _halves(store: Scored, run_id: int) -> Iterator[Half]:
    for index, repeat, row_hash, output in store.scored(run_id):
        record = decode_score(output)
        yield Half(index, repeat, row_hash or str(record.error).encode(), record)


def _repeats(a: Sequence[Half], b: Sequence[Half]) -> Iterator[Pair]:
    """The repeats of one row, by their number."""
    first, second = ({half.repeat: half for half in halves} for halves in (a, b))
    for repeat in sorted({*first, *second}):
        yield Pair(first.get(repeat), second.get(repeat))
