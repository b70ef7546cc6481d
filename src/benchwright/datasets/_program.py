"""Rows that come from Python: a function, an object with `rows()`, or something that can be iterated again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

from benchwright.core import BenchwrightError, DatasetError, Row, canonical_json
from benchwright.datasets._values import Chunk, Chunks

CHUNK_ROWS = 256
"""Most rows pulled at a time."""


class HasRows(Protocol):
    """A dataset object of the user's own."""

    def rows(self) -> Iterable[Row]:
        """All rows, from the start, each time it is called."""


class ProgramSource:
    """A Python source as a dataset. Every pass starts it anew."""

    def __init__(self, name: str, start: Callable[[], Iterable[object]]) -> None:
        self.name = name
        self._start = start
        self._previous: object = None

    def chunks(self) -> Chunks:
        """The rows, from the start. Pulls few at first, so that a small limit costs a slow source little."""
        try:
            values = iter(self._fresh())
        except BenchwrightError:
            raise
        except Exception as exc:
            raise DatasetError(f"{self.name} failed: {type(exc).__name__}: {exc}") from exc
        try:
            yield from self._pull(values)
        finally:
            if isinstance(values, Generator):
                values.close()  # a limit may stop the pass early; the user's clean-up runs now

    def _pull(self, values: Iterator[object]) -> Chunks:
        number, count = 0, 1
        while True:
            chunk = Chunk()
            try:
                for value in islice(values, count):
                    number += 1
                    _take(chunk, value, number)
            except Exception as exc:
                if chunk:
                    yield chunk
                if isinstance(exc, BenchwrightError):
                    raise
                what = f"{type(exc).__name__}: {exc}"
                raise DatasetError(f"{self.name} failed after row {number}: {what}") from exc
            if not chunk:
                return
            yield chunk
            count = min(2 * count, CHUNK_ROWS)

    def fingerprint(self) -> str:
        """SHA-256 over the canonical JSON of the rows."""
        digest = hashlib.sha256()
        for chunk in self.chunks():
            for row in chunk.rows:
                digest.update(canonical_json(row))
                digest.update(b"\n")
        return "sha256:" + digest.hexdigest()

    def _fresh(self) -> Iterable[object]:
        found = self._start()
        if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
            if hasattr(found, "close"):
                found.close()  # a coroutine that nobody will await
            raise DatasetError(
                f"{self.name} gave {_a(found)}; expected something that yields rows: a list of dicts or a generator"
            )
        if isinstance(found, Iterator):
            if found is self._previous:
                raise DatasetError(
                    f"{self.name} gave the same {type(found).__name__} a second time, and it is used up. "
                    "Create it inside the function, so that every call starts anew"
                )
            self._previous = found
        return found


def program_source(ref: object) -> ProgramSource:
    """The source for what the user gave. Raises DatasetError when it cannot be read more than once."""
    rows = getattr(ref, "rows", None)
    if callable(rows) and not isinstance(ref, type):
        return ProgramSource(f"{type(ref).__name__}.rows()", rows)
    if callable(ref):
        return ProgramSource(f"{getattr(ref, '__qualname__', type(ref).__name__)}()", ref)
    if isinstance(ref, Iterator):
        raise DatasetError(
            f"the dataset is {_a(ref)}, which can be read only once; data is read several times (check, hash, "
            "run). Give the function that makes it, without calling it: dataset=make_rows, not make_rows()"
        )
    if isinstance(ref, Mapping):
        raise DatasetError("the dataset is a dict; expected rows: a list of dicts. For one row write [row]")
    if isinstance(ref, Iterable) and not isinstance(ref, bytes | bytearray | memoryview):
        return ProgramSource(f"<{type(ref).__name__}>", lambda: ref)
    raise DatasetError(
        f"the dataset is {_a(ref)}; expected a path, a URI, a function that returns rows, or a list of dicts"
    )


def _take(chunk: Chunk, value: object, number: int) -> None:
    if not isinstance(value, dict):
        chunk.add_bad(number, f"Row is not a dict: {type(value).__name__}")
        return
    strange = next((key for key in value if type(key) is not str), None)
    if strange is not None:
        chunk.add_bad(number, f"field name {strange!r} is not text: {type(strange).__name__}")
        return
    chunk.add(dict(value), number)  # a copy: some sources yield one dict and change it in place


def _a(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
