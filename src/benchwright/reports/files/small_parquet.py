"""Writes a Parquet file of a few rows without pyarrow, because loading it takes longer than the rest of a short run's end.

The file has one row group, one page per column, plain values and no compression. Columns contain texts, whole numbers or
numbers; any value may be missing. The footer is written in Thrift's compact protocol, as the format requires.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from benchwright.results import SMALL_BYTES, WRITER

MOST_ROWS = 2_000
"""Files with more rows are written by the library, which compresses them."""
MOST_BYTES = SMALL_BYTES
"""So are files with more bytes."""

Kind = Literal["text", "integer", "number"]
"""The type of a column."""

_MAGIC = b"PAR1"
_INT64, _DOUBLE, _BYTE_ARRAY = 2, 5, 6
_TYPES: Mapping[Kind, int] = {"integer": _INT64, "number": _DOUBLE, "text": _BYTE_ARRAY}
_OPTIONAL, _UTF8, _PLAIN, _RLE = 1, 0, 0, 3
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
"""Types of fields in the compact protocol."""


def small_parquet(columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, Kind]) -> bytes:
    """The whole file. Raises TypeError, ValueError or struct.error if a value does not fit its column."""
    rows = len(next(iter(columns.values())))
    # Joined once at the end, because a file that grows column by column is copied again and again.
    parts, offset = [_MAGIC], len(_MAGIC)
    chunks = []
    for name, values in columns.items():
        page = _page(values, kinds[name])
        head = _struct(
            (1, _I32, 0),  # a data page
            (2, _I32, len(page)),
            (3, _I32, len(page)),
            (5, _STRUCT, _struct((1, _I32, rows), (2, _I32, _PLAIN), (3, _I32, _RLE), (4, _I32, _RLE))),
        )
        chunks.append((name.encode(), _TYPES[kinds[name]], offset, len(head) + len(page)))
        parts += head, page
        offset += len(head) + len(page)
    footer = _footer(chunks, rows)
    return b"".join((*parts, footer, struct.pack("<I", len(footer)), _MAGIC))


def _page(values: Sequence[Any], kind: Kind) -> bytes:
    """One bit per value that says whether it is present, and the values."""
    rows, missing = len(values), list(values).count(None)
    groups = (rows + 7) // 8
    # Lists, not generators, because a run of 2,000 samples has 40,000 values.
    bits = (
        int("".join(["0" if value is None else "1" for value in reversed(values)]), 2)
        if missing
        else (1 << rows) - 1
    )
    levels = _varint(groups << 1 | 1) + bits.to_bytes(groups, "little")
    known = [value for value in values if value is not None] if missing else values
    plain = _texts(known) if kind == "text" else [_numbers(known, kind)]
    return b"".join([struct.pack("<I", len(levels)), levels, *plain])


def _numbers(values: Sequence[Any], kind: Kind) -> bytes:
    return struct.pack(f"<{len(values)}{'q' if kind == 'integer' else 'd'}", *values)


def _texts(values: Sequence[Any]) -> list[bytes]:
    """The length of each text, and the text. A value that is not a text raises here, not when the file is read."""
    texts = list(map(_encoded, values)) if bytes in set(map(type, values)) else list(map(str.encode, values))
    sizes = struct.pack(f"<{len(texts)}I", *map(len, texts))
    pieces = [b""] * (2 * len(texts))
    pieces[::2] = [sizes[at : at + 4] for at in range(0, len(sizes), 4)]
    pieces[1::2] = texts
    return pieces


def _encoded(text: str | bytes) -> bytes:
    if not isinstance(text, bytes):
        return str.encode(text)
    if not text.isascii():
        text.decode()
    return text


def _footer(chunks: Sequence[tuple[bytes, int, int, int]], rows: int) -> bytes:
    """What is in the file: the name, type, offset and size of each column."""
    schema = [_struct((4, _BINARY, b"schema"), (5, _I32, len(chunks)))]
    written = []
    for name, kind, offset, size in chunks:
        text = ((6, _I32, _UTF8), (10, _STRUCT, _struct((1, _STRUCT, _struct())))) if kind == _BYTE_ARRAY else ()  # fmt: skip
        schema.append(_struct((1, _I32, kind), (3, _I32, _OPTIONAL), (4, _BINARY, name), *text))
        known = _struct(
            (1, _I32, kind),
            (2, _LIST, _list(_I32, [_zigzag(_PLAIN), _zigzag(_RLE)])),
            (3, _LIST, _list(_BINARY, [_varint(len(name)) + name])),
            (4, _I32, 0),  # not compressed
            (5, _I64, rows),
            (6, _I64, size),
            (7, _I64, size),
            (9, _I64, offset),
        )
        written.append(_struct((2, _I64, offset), (3, _STRUCT, known)))
    whole = sum(size for *_, size in chunks)
    group = _struct((1, _LIST, _list(_STRUCT, written)), (2, _I64, whole), (3, _I64, rows))
    return _struct(
        (1, _I32, 2),
        (2, _LIST, _list(_STRUCT, schema)),
        (3, _I64, rows),
        (4, _LIST, _list(_STRUCT, [group])),
        (6, _BINARY, WRITER),
    )


def _struct(*fields: tuple[int, int, Any]) -> bytes:
    """Encode fields in the order of their numbers; lists and structs are already encoded."""
    out = bytearray()
    last = 0
    for number, kind, value in fields:
        out.append(number - last << 4 | kind)
        last = number
        if kind in (_I32, _I64):
            out += _zigzag(value)
        else:
            out += _varint(len(value)) + value if kind == _BINARY else value
    return bytes(out + b"\0")


def _list(kind: int, items: Sequence[bytes]) -> bytes:
    count = len(items)
    head = bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + _varint(count)
    return head + b"".join(items)


def _zigzag(number: int) -> bytes:
    return _varint(number << 1 if number >= 0 else -number * 2 - 1)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)
