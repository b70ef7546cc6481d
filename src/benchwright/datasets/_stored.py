"""Reads stored files: bytes, decompressed as a stream, and their hash. Knows nothing of rows."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from msgspec import Struct, field

from benchwright.core import BadRow, DatasetError

BLOCK_BYTES = 256 * 1024
"""Bytes read at a time: enough to make the work per block negligible, and few enough that the rows of one block stay
within a few megabytes."""

MEGABYTE = 1_000_000
MAX_ROW_VARIABLE = "BENCHWRIGHT_MAX_ROW_MB"
_MAX_ROW_MB = 64.0

Compression: TypeAlias = Literal["gzip", "zstd"]
Blocks: TypeAlias = Generator[bytes, None, None]

_ZSTD_MARK = b"\xff" * 64
_UTF8_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_SKIPPABLE = b"\x2a\x4d\x18"  # bytes 2-4 of a zstd skippable frame, which parallel compressors write first


class StoredFile(Struct, frozen=True):
    """A local data file."""

    path: Path
    """Where it is."""
    name: str
    """How messages call it."""
    encoding: str | None = None
    """How the text of the file is encoded; None for UTF-8."""
    sheet: str | None = None
    """Sheets of a workbook: a name, several separated by commas, or `all`; None for the first with a table."""
    header_row: int | None = None
    """Row of a sheet that names the columns; None: the first, or the first below a title."""
    notes: list[str] = field(default_factory=list)
    """Notes for readers of the rows; grows while the file is read."""

    def note(self, text: str) -> None:
        """Add a note for readers of the rows, once."""
        if text not in self.notes:
            self.notes.append(text)

    def blocks(self) -> Blocks:
        """The content, decompressed, in blocks. The first bytes show whether it is compressed, because some downloaders
        unpack a `.gz` without renaming it."""
        try:
            with self.path.open("rb", buffering=0) as raw:
                head = raw.read(4)
                raw.seek(0)
                packed = compression_of(head)
                if packed is None:
                    while block := raw.read(BLOCK_BYTES):
                        yield block
                elif packed == "gzip":
                    yield from self._gunzip(raw)
                else:
                    yield from self._unzstd(raw)
        except OSError as exc:
            raise self.error(f"cannot be read: {exc.strerror or exc}") from exc

    def text_blocks(self) -> Blocks:
        """The content of a text file, without its byte-order mark, in blocks that end at the end of a line (the last may
        not)."""
        ahead: list[bytes] = []
        newline, lines, held, most = b"", 1, 0, max_row_bytes()
        with closing(self._checked_text()) as blocks:
            for block in blocks:
                # A file may use lone carriage returns; one that ends the block may be half of a CRLF.
                newline = newline or (b"\n" if b"\n" in block else b"\r" if b"\r" in block[:-1] else b"")
                cut = block.rfind(newline) + 1 if newline else 0
                held += len(block)
                if not cut:
                    ahead.append(block)  # a line longer than a block is joined once its end is found
                    if held > most:
                        raise self.too_long(lines)
                    continue
                ahead.append(block[:cut])
                yield b"".join(ahead)
                lines += block.count(newline)
                ahead, held = [block[cut:]], len(block) - cut
        if rest := b"".join(ahead):
            yield rest

    def fingerprint(self) -> str:
        """SHA-256 of the bytes as stored, compressed or not."""
        try:
            with self.path.open("rb") as raw:
                return "sha256:" + hashlib.file_digest(raw, "sha256").hexdigest()
        except OSError as exc:
            raise self.error(f"cannot be read: {exc.strerror or exc}") from exc

    def error(self, reason: str, line: int | None = None) -> DatasetError:
        """The error for damage after which the file cannot be read."""
        if line is None:
            return DatasetError(f"{self.name}: {reason}")
        bad = BadRow(self.name, line, reason)
        return DatasetError(str(bad), [bad])

    def too_long(self, line: int) -> DatasetError:
        """The error for a row that would fill the memory."""
        return self.error(
            f"a row of more than {max_row_bytes() / MEGABYTE:,.0f} MB. Is this one row per line? If it is, allow more: "
            f"{MAX_ROW_VARIABLE}=MEGABYTES",
            line,
        )

    def _checked_text(self) -> Blocks:
        with closing(self.blocks()) as blocks:
            first = next(blocks, b"")
            if self.encoding is not None and not first.startswith(_UTF8_BOM):
                yield from self._decoded(first, blocks)
                return
            if first.startswith(_WIDE_BOMS):
                raise self.error(
                    "is UTF-16 or UTF-32 text, expected UTF-8. Name the encoding: --encoding utf-16 (in a benchmark: "
                    '"FILE?encoding=utf-16"), or save the file as UTF-8'
                )
            if first.startswith(b"PAR1"):
                raise self.error("is a Parquet file under another name. Rename it to end in .parquet")
            if first.startswith(b"PK\x03\x04"):
                raise self.error(
                    "is a zip archive or a workbook. Unpack it, or rename the workbook to end in .xlsx"
                )
            yield first.removeprefix(_UTF8_BOM)
            yield from blocks

    def _decoded(self, first: bytes, blocks: Blocks) -> Blocks:
        """Text of the named encoding as UTF-8."""
        assert self.encoding is not None
        decoder = codecs.getincrementaldecoder(self.encoding)()
        line = 1
        try:
            for block in chain((first,), blocks):
                text = decoder.decode(block)
                line += text.count("\n")
                yield text.removeprefix("\ufeff").encode()
            yield decoder.decode(b"", final=True).encode()
        except UnicodeError as exc:
            raise self.error(
                f"is not {self.encoding} text: {exc}. Name another encoding, or none", line
            ) from exc

    def _gunzip(self, raw: BinaryIO) -> Blocks:
        import gzip
        import zlib

        try:
            with gzip.GzipFile(fileobj=raw, mode="rb") as stream:
                while block := stream.read(BLOCK_BYTES):
                    yield block
        except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
            raise self._damaged("gzip", exc) from exc

    def _unzstd(self, raw: BinaryIO) -> Blocks:
        import zstandard

        # The library accepts a file that was cut short as complete. So another frame is added after the file: it comes
        # out at the end only if the frame before it was complete. It is one repeated byte, which zstd stores as such, so
        # that the frame does not contain the mark literally.
        frame = zstandard.ZstdCompressor().compress(_ZSTD_MARK)
        held = b""
        try:
            with zstandard.ZstdDecompressor().stream_reader(
                _Followed(raw, frame),  # type: ignore[arg-type]  # only read() is called
                read_across_frames=True,
                closefd=False,
            ) as stream:
                while block := stream.read(BLOCK_BYTES):
                    held += block
                    if len(held) > len(_ZSTD_MARK):
                        yield held[: -len(_ZSTD_MARK)]
                        held = held[-len(_ZSTD_MARK) :]
        except zstandard.ZstdError as exc:
            raise self._damaged("zstd", exc) from exc
        if held != _ZSTD_MARK:
            raise self._damaged("zstd", EOFError("the file ends within a frame"))

    def _damaged(self, kind: str, exc: Exception) -> DatasetError:
        return self.error(f"the {kind} data is damaged or cut short ({exc}). Copy or download it again")


class _Followed:
    """A file followed by more bytes, which are joined to its last block. If they came separately after a header that was
    cut short, zstd would take them for the content of that frame."""

    def __init__(self, raw: BinaryIO, more: bytes) -> None:
        self._raw = raw
        self._more = more
        self._next = raw.read(BLOCK_BYTES)

    def read(self, size: int = -1) -> bytes:
        block, self._next = self._next, self._raw.read(BLOCK_BYTES)
        if self._next:
            return block
        block, self._more = block + self._more, b""
        return block


def max_row_bytes() -> int:
    """The longest allowed row. Without a limit, a few hundred kilobytes of compressed data could fill the memory."""
    given = os.environ.get(MAX_ROW_VARIABLE, "").strip()
    try:
        megabytes = float(given) if given else _MAX_ROW_MB
    except ValueError:
        megabytes = -1.0
    if not megabytes > 0:
        raise DatasetError(f"{MAX_ROW_VARIABLE} is {given!r}; expected a number of megabytes, such as 64")
    return int(megabytes * MEGABYTE)


def check_columns(file: StoredFile, cells: list[str], line: int) -> list[str]:
    """The names of the columns, without surrounding white space and without the empty columns at the end that spreadsheets
    leave. Names that differ only in white space keep it."""
    while len(cells) > 1 and not cells[-1].strip():
        cells = cells[:-1]
    bare = [name.strip() for name in cells]
    if len(set(bare)) == len(set(cells)):
        cells = bare
    unnamed = [str(number) for number, name in enumerate(cells, 1) if not name.strip()]
    if unnamed:
        raise file.error(
            f"header column {', '.join(unnamed)} has no name. Give it one, or remove the column "
            "(an index written by pandas: to_csv(..., index=False))",
            line,
        )
    twice = [name for name, count in Counter(cells).items() if count > 1]
    if twice:
        raise file.error(
            f"header names {', '.join(map(repr, twice))} more than once; rows could keep only one of the "
            "cells. Rename or remove the others",
            line,
        )
    return cells


def compression_of(head: bytes) -> Compression | None:
    """How a file is compressed, by its first four bytes."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head == b"\x28\xb5\x2f\xfd" or (head[1:] == _SKIPPABLE and head[0] & 0xF0 == 0x50):
        return "zstd"
    return None
