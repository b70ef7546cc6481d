"""Writes and reads `requests.parquet`: every request of a load test with its times and the value of each metric."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO

import orjson

from benchwright.perf._columns import compute as pc
from benchwright.perf._faults import faults_of
from benchwright.perf._metrics import PER_REQUEST
from benchwright.perf._requests import Requests, column_name
from benchwright.perf._values import RequestOutcome, RequestRecord

FAULT = "fault"
"""The column with the reason why a request is excluded from averages."""


def file_table(requests: Requests) -> Any:
    """The columns of the file: those of the records, the fault, and a column for each metric that has one value per request."""
    import pyarrow as pa

    table = requests.table.append_column(FAULT, faults_of(requests))
    for metric in PER_REQUEST:
        if metric.values is not None and not metric.pooled and metric.key not in table.column_names:
            values = metric.values(requests).cast(pa.float64())
            table = table.append_column(metric.key, pc.multiply(values, metric.scale))
    micros = pc.round(pc.multiply(table["sent_at"], 1e6)).cast(pa.int64())
    stamps = micros.cast(pa.timestamp("us", "UTC"))
    return table.set_column(table.column_names.index("sent_at"), "sent_at", stamps)


def write_request_file(requests: Requests, file: BinaryIO) -> None:
    """Write the file, with every digit of every time."""
    import pyarrow.parquet as pq

    # Dictionaries help for repeated texts. Times do not repeat, and compress better with their bytes side by side.
    table = file_table(requests)
    texts = [field.name for field in table.schema if str(field.type) == "string"]
    pq.write_table(table, file, compression="zstd", use_dictionary=texts, row_group_size=50_000)


def read_request_file(data: BinaryIO) -> Iterator[RequestRecord]:
    """The requests in a file that `write_request_file` wrote."""
    import pyarrow.parquet as pq
    from msgspec import structs

    fields = {column_name(field.name): field.name for field in structs.fields(RequestRecord)}
    with pq.ParquetFile(data) as file:
        names = [name for name in file.schema_arrow.names if name in fields]
        for batch in file.iter_batches(batch_size=_READ_AT_ONCE, columns=names):
            for row in batch.to_pylist():
                found: dict[str, Any] = {
                    fields[name]: _value(value) for name, value in row.items() if value is not None
                }
                if "scores" in found:
                    found["scores"] = orjson.loads(found["scores"])
                yield RequestRecord(**found | {"outcome": RequestOutcome(found["outcome"])})


_READ_AT_ONCE = 1_000


def _value(cell: Any) -> Any:
    """The value of a field, from its cell."""
    if isinstance(cell, list):
        return tuple(cell)
    return cell.timestamp() if isinstance(cell, datetime) else cell
