"""Reads one column of numbers from `samples.parquet`. A file of a few rows is read without pyarrow, as it was written.

Only the form that `small_parquet` writes is read here: one page per column, plain values, no compression. Any other file is
left to the library.
"""

from __future__ import annotations

import struct
from io import SEEK_END
from typing import Any, BinaryIO

SMALL_BYTES = 4_000_000
"""The largest file that is written and read without pyarrow."""
WRITER = b"benchwright"
"""The program that wrote such a file, as its footer names it."""

_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
"""Types of fields in Thrift's compact protocol."""


def number_column(data: BinaryIO, name: str) -> list[float]:
    """The values of a column of numbers, without the missing ones."""
    size = data.seek(0, SEEK_END)
    data.seek(0)
    if size <= SMALL_BYTES and (found := small_numbers(data.read(), name)) is not None:
        return found
    import pyarrow.parquet as pq

    with pq.ParquetFile(data) as file:  # `read_table` would import pandas if it is installed
        values: list[float] = (
            file.read(columns=[name], use_threads=False).column(name).drop_null().to_pylist()
        )
    return values


def small_numbers(content: bytes, name: str) -> list[float] | None:
    """The values of a column of a file that `small_parquet` wrote, without the missing ones; None for any other file."""
    if not content.endswith(b"PAR1") or WRITER not in content[-len(WRITER) - 16 :]:
        return None
    (size,) = struct.unpack("<I", content[-8:-4])
    footer = _ThriftReader(content, len(content) - 8 - size).struct()
    (group,) = footer[4]
    places = {chunk[3][3][0]: chunk[2] for chunk in group[1]}
    if name.encode() not in places:
        return None
    page = _ThriftReader(content, places[name.encode()])
    head = page.struct()
    end = page.at + head[3]
    (levels,) = struct.unpack_from("<I", content, page.at)
    start = page.at + 4 + levels
    return list(struct.unpack(f"<{(end - start) // 8}d", content[start:end]))


class _ThriftReader:
    """Reads the structs that `small_parquet` writes, as tables from the number of a field to its value."""

    def __init__(self, content: bytes, at: int) -> None:
        self._content = content
        self.at = at
        """Where the next byte is."""

    def struct(self) -> dict[int, Any]:
        """Read one struct."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number += head >> 4
            fields[number] = self._value(head & 15)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (_I32, _I64):
            coded = self._varint()
            return coded >> 1 ^ -(coded & 1)
        if kind == _BINARY:
            size = self._varint()
            self.at += size
            return self._content[self.at - size : self.at]
        if kind == _STRUCT:
            return self.struct()
        if kind != _LIST:
            raise ValueError(f"a field of type {kind}, which is never written")
        head = self._byte()
        count = self._varint() if head >> 4 == 15 else head >> 4
        return [self._value(head & 15) for _ in range(count)]

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._byte()) > 127:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]
