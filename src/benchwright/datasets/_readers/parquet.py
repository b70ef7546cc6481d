"""Reads Parquet: streams row groups in small batches, and converts values to JSON values, equally on every machine."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from decimal import Decimal
from itertools import pairwise
from math import isfinite
from struct import pack, unpack
from typing import Any, BinaryIO

from benchwright.core import Row, load_exact_json
from benchwright.datasets._stored import StoredFile, compression_of
from benchwright.datasets._values import Chunk, Chunks

CHUNK_BYTES = 4 * 1024 * 1024
"""Target size of a chunk in uncompressed bytes."""
CHUNK_ROWS = 1024
"""Most rows per chunk."""
STREAM_BYTES = 1024 * 1024
"""Read-ahead per column. Without it the columns of a row group are kept whole, however large it is."""


def read_parquet(file: StoredFile) -> Chunks:
    """Rows of a Parquet file; their line is the row number.

    Floats become the shortest decimal of their stored type, NaN and infinities become null, dates, times and intervals
    become ISO 8601 text, decimals become text with all their digits, durations become seconds, binary values become text
    if they are UTF-8, else base64, and JSON columns become their values.
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
    """The values of an array as JSON values: rules for leaves, applied at any depth of lists, structs and maps."""
    import pyarrow as pa

    types, kind = pa.types, column.type
    if isinstance(kind, pa.BaseExtensionType):
        values = _values(column.storage)
        if kind.extension_name != "arrow.json":
            return values
        return [None if value is None else load_exact_json(value) for value in values]
    if types.is_dictionary(kind):
        known = _values(column.dictionary)
        return [None if at is None else known[at] for at in column.indices.to_pylist()]
    if types.is_struct(kind):
        return _structs(column)
    if types.is_run_end_encoded(kind):
        return _runs(column)
    if types.is_nested(kind) and not types.is_union(kind):
        return _lists(column)  # maps too
    return _leaves(column)


def _structs(column: Any) -> list[Any]:
    names = [field.name for field in column.type]
    fields = [_values(field) for field in column.flatten()]
    rows = zip(*fields, strict=True) if fields else [()] * len(column)
    return [
        dict(zip(names, cells, strict=True)) if there else None
        for there, cells in zip(_there(column), rows, strict=True)
    ]


def _lists(column: Any) -> list[Any]:
    """Lists of any kind. A map becomes an object, whose keys are texts."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_fixed_size_list(kind):
        size = kind.list_size
        spans = [(at * size, (at + 1) * size) for at in range(column.offset, column.offset + len(column))]
    elif hasattr(column, "sizes"):
        sizes = column.sizes.to_pylist()
        spans = [(at, at + size) for at, size in zip(column.offsets.to_pylist(), sizes, strict=True)]
    else:
        spans = list(pairwise(column.offsets.to_pylist()))
    kept = [span if there else None for span, there in zip(spans, _there(column), strict=True)]
    first = min((span[0] for span in kept if span), default=0)
    last = max((span[1] for span in kept if span), default=0)

    def inner(child: Any) -> list[Any]:
        return _values(child.slice(first, last - first))

    if pa.types.is_map(kind):
        pairs = list(zip(map(str, inner(column.keys)), inner(column.items), strict=True))
        return [span and dict(pairs[span[0] - first : span[1] - first]) for span in kept]
    values = inner(column.values)
    return [span and values[span[0] - first : span[1] - first] for span in kept]


def _runs(column: Any) -> list[Any]:
    """The values of an array that contains each run of equal ones once."""
    found: list[Any] = []
    first, last = column.offset, column.offset + len(column)
    for stop, value in zip(column.run_ends.to_pylist(), _values(column.values), strict=True):
        found += [value] * (min(stop, last) - first - len(found))
    return found


def _there(column: Any) -> list[bool]:
    return [True] * len(column) if not column.null_count else list(column.is_valid().to_pylist())


def _leaves(column: Any) -> list[Any]:
    """The values of an array without inner arrays."""
    import pyarrow as pa

    types, kind = pa.types, column.type
    if types.is_float32(kind):
        # As text, which is the shortest that is this float32, and back. Widened, 0.1 would be 0.10000000149011612.
        column = column.cast(pa.string()).cast(pa.float64())
    if types.is_floating(kind):
        read: Callable[[Any], Any] = _half if types.is_float16(kind) else _finite
    elif types.is_duration(kind):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        column, read = column.cast(pa.int64()), lambda value: value / per_second
    elif types.is_interval(kind):
        read = _iso_interval
    elif types.is_temporal(kind):
        return _times(column)
    elif types.is_decimal(kind):
        read = _digits
    elif types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        read = _text_or_base64
    elif (
        types.is_null(kind)
        or types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
    ):
        return list(column.to_pylist())
    else:
        read = _jsonable
    return [None if value is None else read(value) for value in column.to_pylist()]


_ZONE = re.compile(r"([+-]\d\d)(\d\d)$")


def _times(column: Any) -> list[Any]:
    """Dates and times as ISO 8601 text. Python's times have microseconds and years up to 9999; times beyond that become
    text with all their digits, for which pyarrow would need pandas."""
    import pyarrow as pa

    kind = column.type
    try:
        if pa.types.is_timestamp(kind) and kind.unit == "ns":
            column = column.cast(pa.timestamp("us", kind.tz))
        elif pa.types.is_time64(kind) and kind.unit == "ns":
            column = column.cast(pa.time64("us"))
        return [None if value is None else value.isoformat() for value in column.to_pylist()]
    except (pa.ArrowInvalid, OverflowError, ValueError):
        texts = column.cast(pa.string()).to_pylist()
        return [None if text is None else _iso_time(text) for text in texts]


def _iso_time(text: str) -> str:
    """A time as Arrow writes it in ISO 8601.

    >>> _iso_time("2023-11-14 23:13:20.123456789+0100"), _iso_time("10000-01-01 00:00:10Z")
    ('2023-11-14T23:13:20.123456789+01:00', '10000-01-01T00:00:10+00:00')
    """
    text = text.replace(" ", "T", 1)
    return f"{text[:-1]}+00:00" if text.endswith("Z") else _ZONE.sub(r"\1:\2", text)


def _iso_interval(value: Any) -> str:
    """Months, days and nanoseconds in ISO 8601."""
    return f"P{value.months}M{value.days}DT{Decimal(value.nanoseconds).scaleb(-9).normalize():f}S"


def _finite(value: float) -> float | None:
    """A number; None for NaN and infinities, which JSON does not have: pandas writes NaN for a missing value."""
    return value if isfinite(value) else None


def _half(value: Any) -> float | None:
    """The shortest decimal that is this float16.

    >>> _half(0.0999755859375), _half(65504.0)
    (0.1, 65500.0)
    """
    number = float(value)
    if not isfinite(number):
        return None
    for digits in range(1, 5):
        shorter = float(f"{number:.{digits}g}")
        with suppress(OverflowError):
            if unpack("e", pack("e", shorter))[0] == number:
                return shorter
    return float(f"{number:.5g}")


def _digits(value: Decimal) -> str:
    return f"{value:f}"


def _jsonable(value: Any) -> Any:
    """Convert a value whose type has no rule above, by the value itself."""
    if isinstance(value, bytes):
        return _text_or_base64(value)
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, list):
        return [_jsonable(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    return value if value is None or isinstance(value, str | int) else str(value)


def _text_or_base64(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(value).decode("ascii")
