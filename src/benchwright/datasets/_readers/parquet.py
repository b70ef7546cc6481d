"""Reads Parquet: streams row groups in small batches, and converts values to JSON values, equally on every machine."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, BinaryIO

from benchwright.core import Row
from benchwright.datasets._stored import StoredFile, compression_of
from benchwright.datasets._values import Chunk, Chunks

CHUNK_BYTES = 4 * 1024 * 1024
"""Target size of a chunk in uncompressed bytes."""
CHUNK_ROWS = 1024
"""Most rows per chunk."""
STREAM_BYTES = 1024 * 1024
"""Read-ahead per column. Without it the columns of a row group are kept whole, however large it is."""

Convert = Callable[[Any], Any]


def read_parquet(file: StoredFile) -> Chunks:
    """Rows of a Parquet file; their line is the row number.

    Dates and times become ISO 8601 text, decimals become text with all their digits, durations become seconds, binary
    values become text if they are UTF-8, else base64, and JSON columns become their values.
    """
    import pyarrow as pa

    try:
        with closing(opened(file)) as raw:
            done = 0
            for found in table_rows(file, parquet_file(raw)):
                yield Chunk(found, list(range(done + 1, done + 1 + len(found))))
                done += len(found)
    except (pa.ArrowException, OSError) as exc:
        raise file.error(f"is not a Parquet file that can be read: {exc}") from exc


def parquet_file(raw: BinaryIO) -> Any:
    """A file for reading in order: column chunks are streamed, not loaded whole."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(raw, pre_buffer=False, buffer_size=STREAM_BYTES)


def table_rows(file: StoredFile, table: Any, start: int = 0, stop: int | None = None) -> Iterator[list[Row]]:
    """Rows `start` to `stop` of an open file, some at a time; only the row groups they are in are read."""
    names = table.schema_arrow.names
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise file.error(f"more than one column is called {', '.join(map(repr, twice))}. Rename them")
    stop = table.metadata.num_rows if stop is None else stop
    for batch in record_batches(table, start, stop, rows_per_chunk(table.metadata)):
        yield batch_rows(batch)


def batch_rows(batch: Any) -> list[Row]:
    """The rows of a record batch."""
    names = batch.schema.names
    columns = [_values(column) for column in batch.columns]
    if not columns:
        return [{} for _ in range(batch.num_rows)]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def record_batches(table: Any, start: int, stop: int, size: int) -> Iterator[Any]:
    """The record batches that contain rows `start` to `stop`, cut to them."""
    groups: list[int] = []
    at = before = 0
    for number in range(table.metadata.num_row_groups):
        rows = table.metadata.row_group(number).num_rows
        if before < stop and before + rows > start:
            at = at if groups else before
            groups.append(number)
        before += rows
    # Threads off: with them, small reads have been seen to abort the interpreter at exit.
    for batch in table.iter_batches(batch_size=size, row_groups=groups, use_threads=False) if groups else ():
        end = at + batch.num_rows
        if end > start:
            skip = max(0, start - at)
            yield batch.slice(skip, min(end, stop) - at - skip)
        at = end
        if at >= stop:
            return


def opened(file: StoredFile) -> BinaryIO:
    """The file, or a temporary copy if it is compressed as a whole, because Parquet is read from its end."""
    raw = file.path.open("rb")
    packed = compression_of(raw.read(4))
    raw.seek(0)
    if packed is None:
        return raw
    raw.close()

    import tempfile

    copy = tempfile.TemporaryFile()  # noqa: SIM115  # the caller closes it
    with closing(file.blocks()) as blocks:
        copy.writelines(blocks)
    copy.seek(0)
    return copy


def rows_per_chunk(metadata: Any) -> int:
    """How many rows to read at a time; fewer if they are large."""
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    per_row = max(1, size // max(1, metadata.num_rows))
    return int(max(1, min(CHUNK_ROWS, CHUNK_BYTES // per_row)))


def _values(column: Any) -> list[Any]:
    """The values of one column as JSON values."""
    column = _without_nanoseconds(column)
    convert = _conversion(column.type)
    values: list[Any] = column.to_pylist()
    if convert is None:
        return values
    return [None if value is None else convert(value) for value in values]


def _without_nanoseconds(column: Any) -> Any:
    """Convert nanoseconds, because Python's times have microseconds. Values without a finer part lose nothing; the others
    become text with all nine digits, for which pyarrow would need pandas."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        coarse = pa.timestamp("us", kind.tz)
    elif pa.types.is_time64(kind) and kind.unit == "ns":
        coarse = pa.time64("us")
    elif pa.types.is_duration(kind) and kind.unit == "ns":
        return column.cast(pa.duration("us"), safe=False)  # a float of seconds has no more digits anyway
    else:
        return column
    try:
        return column.cast(coarse)
    except pa.ArrowInvalid:
        texts = column.cast(pa.string()).to_pylist()
        return pa.array([None if text is None else text.replace(" ", "T", 1) for text in texts], pa.string())


def _conversion(kind: Any) -> Convert | None:
    """The conversion of an Arrow type to JSON values; None if none is needed."""
    import pyarrow as pa

    types = pa.types
    if types.is_temporal(kind):
        return _seconds if types.is_duration(kind) else _iso if not types.is_interval(kind) else str
    if types.is_decimal(kind):
        return str
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return _text_or_base64
    if types.is_dictionary(kind):
        return _conversion(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.json":
            return json.loads
        return _conversion(kind.storage_type) or _jsonable
    if types.is_map(kind):
        return _map_conversion(_conversion(kind.item_type))
    if types.is_struct(kind):
        return _struct_conversion({field.name: _conversion(field.type) for field in kind})
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        inner = _conversion(kind.value_type)
        return None if inner is None else _list_conversion(inner)
    plain = (
        types.is_null(kind) or types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)
        or types.is_string(kind) or types.is_large_string(kind)
    )  # fmt: skip
    return None if plain else _jsonable


def _list_conversion(inner: Convert) -> Convert:
    return lambda values: [None if value is None else inner(value) for value in values]


def _struct_conversion(inner: dict[str, Convert | None]) -> Convert | None:
    changed = {name: convert for name, convert in inner.items() if convert is not None}
    if not changed:
        return None

    def convert_struct(value: dict[str, Any]) -> dict[str, Any]:
        return {
            name: changed[name](item) if name in changed and item is not None else item
            for name, item in value.items()
        }

    return convert_struct


def _map_conversion(inner: Convert | None) -> Convert:
    def convert_map(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
        return {str(key): item if inner is None or item is None else inner(item) for key, item in pairs}

    return convert_map


def _jsonable(value: Any) -> Any:
    """Convert a value whose type has no rule above, by the value itself."""
    if isinstance(value, bytes):
        return _text_or_base64(value)
    if isinstance(value, list):
        return [_jsonable(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _iso(value: Any) -> str:
    return str(value.isoformat())


def _seconds(value: Any) -> float:
    return float(value.total_seconds())


def _text_or_base64(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(value).decode("ascii")
