"""Rows of a resolved hub dataset: all in order, or from any row on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import starmap

from benchwright.core import DatasetError, JsonObject, Row, content_hash
from benchwright.datasets._hf.commits import Records
from benchwright.datasets._hf.parts import read_rows
from benchwright.datasets._hf.resolve import ResolvedHub
from benchwright.datasets._hf.row_cache import Entry, Part, RowCache
from benchwright.datasets._hf.splits import Term
from benchwright.datasets._readers.parquet import parquet_file, table_rows
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunk, Chunks


class HubSource:
    """The rows of a resolved dataset, fetched part by part as they are needed."""

    def __init__(self, resolved: ResolvedHub) -> None:
        self.resolved = resolved
        self.notes: list[str] = list(resolved.notes)
        """Notes for readers of the results; grows when damage is found."""
        records = Records(resolved.settings.cache, resolved.uri.dataset)
        self._cache = RowCache(
            resolved.written, records.folder, records.quarantine, resolved.settings.offline, self._note
        )
        self._counts: dict[int, int] = {}

    def chunks(self) -> Chunks:
        """All rows from the start; a row's line is its number."""
        return self._range(0)

    def rows_from(self, start: int) -> Iterator[list[Row]]:
        """Rows from a number on, across splits and files, some at a time. Parts before them are not fetched if their row counts
        are known. The first bad row raises DatasetError."""
        with closing(self._range(start)) as chunks:
            for chunk in chunks:
                if chunk.troubles:
                    bad = chunk.troubles[0][1].of(self.resolved.written)
                    raise DatasetError(str(bad), [bad])
                yield chunk.rows

    def count(self) -> int:
        """The number of rows, from the indexes of the files if they have any."""
        return sum(stop - start for start, stop in starmap(self._bounds, self.resolved.pieces))

    def fingerprint(self) -> str:
        """Identity of the content: the hashes of the files, and which of their rows are used."""
        taken = [
            [
                [one for part in parts for one in part.content()],
                term.start,
                term.stop,
                term.percent,
                term.whole_percents,
            ]
            for term, parts in self.resolved.pieces
        ]
        return f"sha256:{content_hash(taken)}"

    def provenance(self) -> JsonObject:
        """Where the rows come from."""
        return self.resolved.provenance()

    def _range(self, start: int) -> Chunks:
        """Rows from a number on; their lines are their numbers, counted from 1."""
        number = 0
        pieces = self.resolved.pieces
        for at, (term, parts) in enumerate(pieces, 1):
            ends = start > number and at < len(pieces)  # only then its end must be known
            first, last = self._bounds(term, parts) if ends or term.needs_total else term.bounds(None)
            if last is not None and number + max(0, last - first) <= start:
                number += max(0, last - first)
                continue
            skip = max(0, start - number)
            number += skip
            with closing(self._split(parts, first + skip, last)) as chunks:
                for chunk in chunks:
                    chunk.lines = list(range(number + 1, number + 1 + len(chunk.rows)))
                    number += len(chunk.rows)
                    yield chunk

    def _split(self, parts: tuple[Part, ...], start: int, stop: int | None) -> Chunks:
        """Rows of one split; lines are filled in by the caller."""
        before = 0
        for part in parts:
            if stop is not None and before >= stop:
                return
            if start > before and (count := self._rows_of(part)) + before <= start:
                before += count
                continue
            entry = self._cache.open(part)
            low = max(0, start - before)
            high = entry.rows if stop is None else min(entry.rows, stop - before)
            yield from self._entry(entry, low, high)
            before += entry.rows

    def _entry(self, entry: Entry, start: int, stop: int) -> Chunks:
        at, troubles = start, [(after, bad) for after, bad in entry.troubles if start <= after]
        for rows in self._stored_rows(entry, start, stop):
            end = at + len(rows)
            inside = [(after - at, bad) for after, bad in troubles if after < end]
            troubles = troubles[len(inside) :]
            yield Chunk(rows, [], inside)
            at = end
        if stop == entry.rows and troubles:
            yield Chunk([], [], [(0, bad) for _, bad in troubles])

    def _stored_rows(self, entry: Entry, start: int, stop: int) -> Iterator[list[Row]]:
        import pyarrow as pa

        if stop <= start:
            return
        stored = StoredFile(entry.path, self.resolved.written)
        try:
            with entry.path.open("rb") as raw:
                file = parquet_file(raw)
                if entry.style == "published":
                    yield from table_rows(stored, file, start, stop)
                else:
                    yield from read_rows(file, start, stop, exact=entry.style == "exact")
        except (pa.ArrowException, OSError) as exc:
            raise stored.error(f"cached rows cannot be read ({entry.path}): {exc}") from exc

    def _bounds(self, term: Term, parts: tuple[Part, ...]) -> tuple[int, int]:
        rows = sum(map(self._rows_of, parts))
        start, stop = term.bounds(rows)
        start = min(start, rows)
        return start, max(start, rows if stop is None else min(stop, rows))

    def _rows_of(self, part: Part) -> int:
        """Rows of a part: from the cache, from the index of its file, or counted after fetching it."""
        if id(part) not in self._counts:
            entry = self._cache.peek(part)
            announced = part.rows_announced() if entry is None else None
            if entry is None and announced is None:
                entry = self._cache.open(part)
            self._counts[id(part)] = entry.rows if entry else announced or 0
        return self._counts[id(part)]

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)
