"""Rows in a Parquet file and back, exactly, and the conversion of downloaded files: each row is one JSON text.

Columns of their own types would lose what evaluation data must keep: a field that is absent and one that is null,
numbers and texts in one column, integers beyond 64 bits, the order of fields. Reading a text per row is also the
faster (0.6 µs a row against 0.9 for four typed columns).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from benchwright.core import DatasetError, Row, hub_format
from benchwright.datasets._formats import reader_of
from benchwright.datasets._hf.row_cache import Filled
from benchwright.datasets._readers.delimited import read_separated
from benchwright.datasets._readers.json_array import list_keys, read_json_field
from benchwright.datasets._readers.json_lines import parse_exact
from benchwright.datasets._readers.parquet import record_batches, rows_per_chunk
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunks, Trouble

GROUP_ROWS = 4096
"""Most rows per row group: what a jump to one row has to unpack."""
GROUP_BYTES = 4 * 1024 * 1024
"""Bytes of text per row group."""

COLUMN = "row"
"""The only column."""


class RowWriter:
    """Writes rows to a new file."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._schema = pa.schema([(COLUMN, pa.binary())], metadata={b"benchwright.rows": b"json"})
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd", use_dictionary=False)
        self._texts: list[bytes] = []
        self._bytes = 0
        self.rows = 0
        """Rows written."""
        self.exact = False
        """Whether any row holds numbers that the quick parser would round or refuse."""

    def add(self, rows: list[Row]) -> None:
        """More rows."""
        for row in rows:
            text = self._text(row)
            self._texts.append(text)
            self._bytes += len(text)
            if len(self._texts) >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
                self._write()

    @property
    def added(self) -> int:
        """Rows added so far, written or waiting."""
        return self.rows + len(self._texts)

    def close(self) -> None:
        """Writes what is left and the index."""
        if self._texts:
            self._write()
        self._file.close()

    def abandon(self) -> None:
        """Lets go of the file, whatever state it is in."""
        self._texts = []
        with suppress(OSError):
            self._file.close()

    def _text(self, row: Row) -> bytes:
        try:
            text = orjson.dumps(row)
        except TypeError:  # an integer beyond 64 bits, or nesting too deep for the quick writer
            self.exact = True
            return json.dumps(row, ensure_ascii=False).encode()
        if b"null" in text and _has_odd_float(row):  # NaN and infinities are written as null
            self.exact = True
            return json.dumps(row, ensure_ascii=False).encode()
        return text

    def _write(self) -> None:
        import pyarrow as pa

        column = pa.array(self._texts, pa.binary())
        self._file.write_batch(pa.record_batch([column], schema=self._schema))
        self.rows += len(self._texts)
        self._texts, self._bytes = [], 0


def read_rows(file: Any, start: int, stop: int, exact: bool) -> Iterator[list[Row]]:
    """Rows `start` to `stop` of an open `ParquetFile`, some at a time; only the row groups they are in are read."""
    parse = parse_exact if exact else orjson.loads
    for batch in record_batches(file, start, stop, rows_per_chunk(file.metadata)):
        yield list(map(parse, batch.column(0).to_pylist()))


def _has_odd_float(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_has_odd_float, value.values()))
    return isinstance(value, list) and any(map(_has_odd_float, value))


MOST_BAD_ROWS = 1000
"""Most bad rows of a part. With more, the format is probably another one."""


class Reading(Struct, frozen=True):
    """How to read files, where their names do not show it."""

    field: str | None = None
    """Top-level key under which JSON files keep the rows."""
    delimiter: str | None = None
    """What separates cells in CSV files."""


def rows_of(path: Path, published: str, reading: Reading) -> Chunks:
    """The rows of a downloaded file. `published` is its path in the repository, which messages name."""
    file = StoredFile(path, published)
    format = hub_format(published)
    name = "jsonl" if format is None else format.name
    if reading.field is not None and name in ("json", "jsonl"):
        return read_json_field(file, reading.field)
    if name == "json":
        return _json(file)
    if name == "csv" and reading.delimiter not in (None, ","):
        return read_separated(file, reading.delimiter or ",")
    return reader_of(name)(file)


def convert(files: list[tuple[Path, str]], reading: Reading, target: Path) -> Filled:
    """All rows of some files in a new Parquet file. Raises DatasetError where one cannot be read to its end."""
    out = RowWriter(target)
    troubles: list[Trouble] = []
    try:
        for path, published in files:
            with closing(rows_of(path, published, reading)) as chunks:
                for chunk in chunks:
                    for bad in chunk.troubles:
                        reason = f"in {published}: {bad.reason}"
                        troubles.append(Trouble(out.added + bad.after, bad.line, reason, bad.field))
                    if len(troubles) > MOST_BAD_ROWS:
                        first = troubles[0]
                        raise DatasetError(
                            f"{published}: more than {MOST_BAD_ROWS} bad rows. The first, line {first.line}: {first.reason}"
                        )
                    out.add(chunk.rows)
        out.close()
    except BaseException:
        out.abandon()
        raise
    return Filled(out.rows, "exact" if out.exact else "json", tuple(troubles))


def _json(file: StoredFile) -> Chunks:
    """A `.json` file. Where its rows are under a key, the error names the key."""
    try:
        yield from reader_of("json")(file)
    except DatasetError as exc:
        if keys := list_keys(file):
            raise file.error(f"keeps its rows under a key: add &field={keys[0]} to the URI") from exc
        raise
