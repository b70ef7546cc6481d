"""The samples of two runs, paired and streamed: by row number where the data are the same, else by content."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from benchwright.store import Store


class Half(NamedTuple):
    """One run's record of a sample."""

    row: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    row_hash: bytes
    """Stands for the row's content."""
    record: dict[str, Any]
    """Outcome, scores, target as recorded."""


class Pair(NamedTuple):
    """A sample in both runs, or in one of them."""

    a: Half | None
    """In the first run."""
    b: Half | None
    """In the second."""


def halves(store: Store, run_id: int) -> Iterator[Half]:
    """A run's samples in row order."""
    for index, repeat, row_hash, output in store.scored(run_id):
        yield Half(index, repeat, row_hash, orjson.loads(output))


def pairs_by_number(store: Store, a: int, b: int) -> Iterator[Pair]:
    """Both runs read the same data: equal row numbers are equal rows. Holds one sample of each at a time."""
    left, right = halves(store, a), halves(store, b)
    x, y = next(left, None), next(right, None)
    while x is not None or y is not None:
        if y is None or (x is not None and (x.row, x.repeat) < (y.row, y.repeat)):
            yield Pair(x, None)
            x = next(left, None)
        elif x is None or (y.row, y.repeat) < (x.row, x.repeat):
            yield Pair(None, y)
            y = next(right, None)
        else:
            yield Pair(x, y)
            x, y = next(left, None), next(right, None)


def pairs_by_content(store: Store, a: int, b: int) -> Iterator[Pair]:
    """The data differ: rows are the same where their content is. Holds the first run's records."""
    waiting: dict[tuple[bytes, int], deque[Half]] = {}
    for half in halves(store, a):
        waiting.setdefault((half.row_hash, half.repeat), deque()).append(half)
    for half in halves(store, b):
        same = waiting.get((half.row_hash, half.repeat))
        yield Pair(same.popleft(), half) if same else Pair(None, half)
    for left in waiting.values():
        for half in left:
            yield Pair(half, None)
