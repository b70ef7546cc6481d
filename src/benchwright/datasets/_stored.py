"""A file as it is stored: its bytes, decompressed as a stream, and its hash. Knows nothing of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from benchwright.core import BadRow, DatasetError

BLOCK_BYTES = 256 * 1024
"""How much is read at a time: large enough that per-block work vanishes, small enough that rows parsed
from one block stay within a few megabytes."""

Compression: TypeAlias = Literal["gzip", "zstd"]
Blocks: TypeAlias = Generator[bytes, None, None]

_ZSTD_MARK = b"\xff" * 64
_UTF8_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_SKIPPABLE = b"\x2a\x4d\x18"  # bytes 2-4 of a zstd skippable frame, which parallel compressors write first


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A local data file."""

    path: Path
    """Where it is."""
    name: str
    """How messages call it."""

    def blocks(self) -> Blocks:
        """The content, decompressed, in blocks. Whether it is compressed is told by its first bytes, not by
        its name: some downloaders unpack a `.gz` without renaming it."""
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
        """The content of a text file in blocks that end at the end of a line (the last may not), without
        its byte-order mark."""
        ahead: list[bytes] = []
        newline = b""
        with closing(self._checked_text()) as blocks:
            for block in blocks:
                # A file may use lone carriage returns; one that ends the block may be half of a CRLF.
                newline = newline or (b"\n" if b"\n" in block else b"\r" if b"\r" in block[:-1] else b"")
                cut = block.rfind(newline) + 1 if newline else 0
                if not cut:
                    ahead.append(block)  # a line longer than a block: joined once, when its end is found
                    continue
                ahead.append(block[:cut])
                yield b"".join(ahead)
                ahead = [block[cut:]]
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
        """Trouble that ends the reading, since what follows cannot be made out."""
        if line is None:
            return DatasetError(f"{self.name}: {reason}")
        bad = BadRow(self.name, line, reason)
        return DatasetError(str(bad), [bad])

    def _checked_text(self) -> Blocks:
        with closing(self.blocks()) as blocks:
            first = next(blocks, b"")
            if first.startswith(_WIDE_BOMS):
                raise self.error(
                    "is UTF-16 or UTF-32 text, expected UTF-8. Convert it: iconv -f UTF-16 -t UTF-8 IN > OUT"
                )
            if first.startswith(b"PAR1"):
                raise self.error("is a Parquet file under another name. Rename it to end in .parquet")
            if first.startswith(b"PK\x03\x04"):
                raise self.error(
                    "is a zip archive or spreadsheet. Unpack it, or export the sheet as CSV in UTF-8"
                )
            yield first.removeprefix(_UTF8_BOM)
            yield from blocks

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

        # The reader takes a file that was cut short for a complete one. So a frame of our own is put behind
        # the file: it comes out at the end exactly when the frame before it was complete. One repeated byte,
        # which zstd stores as such: the mark must not stand in its own frame to be copied out of it.
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
    """A file with some bytes behind it, joined to its last block: on their own, behind a header that was cut,
    zstd would take them for the whole of that frame."""

    def __init__(self, raw: BinaryIO, behind: bytes) -> None:
        self._raw = raw
        self._behind = behind
        self._next = raw.read(BLOCK_BYTES)

    def read(self, size: int = -1) -> bytes:
        block, self._next = self._next, self._raw.read(BLOCK_BYTES)
        if self._next:
            return block
        block, self._behind = block + self._behind, b""
        return block


def compression_of(head: bytes) -> Compression | None:
    """How a file is compressed, by its first four bytes."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head == b"\x28\xb5\x2f\xfd" or (head[1:] == _SKIPPABLE and head[0] & 0xF0 == 0x50):
        return "zstd"
    return None
