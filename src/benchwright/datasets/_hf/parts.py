"""Files of a repository as parts of the row cache: downloaded, checked, converted once into Parquet and read back exactly.

Each row is one JSON text. Typed columns would lose information that evaluation data must keep: whether a field is absent
or null, numbers and texts in one column, integers beyond 64 bits, the order of fields. Reading one text per row is also
faster (0.6 µs per row, against 0.9 for four typed columns).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import BadRow, DatasetError, JsonObject, Row, content_hash, data_format
from benchwright.datasets._formats import reader_of
from benchwright.datasets._hf.errors import HubUnreachableError, RepoRef
from benchwright.datasets._hf.hub import Hub, HubFile, download_all, file_end, holds
from benchwright.datasets._hf.row_cache import Entry, Part
from benchwright.datasets._readers.delimited import read_separated
from benchwright.datasets._readers.json_array import list_keys, read_json, read_json_field
from benchwright.datasets._readers.json_lines import parse_exact
from benchwright.datasets._readers.parquet import record_batches, rows_per_chunk
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunks

GROUP_ROWS = 4096
"""Most rows per row group, which must be unpacked to read one row."""
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
        """Whether any row contains numbers that the fast parser would round or refuse."""

    def add(self, rows: list[Row]) -> None:
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
        """Write the remaining rows and the index."""
        if self._texts:
            self._write()
        self._file.close()

    def abandon(self) -> None:
        """Close the file in its present state."""
        self._texts = []
        with suppress(OSError):
            self._file.close()

    def _text(self, row: Row) -> bytes:
        try:
            return orjson.dumps(row)
        except TypeError:  # an integer beyond 64 bits, or nesting too deep for the quick writer
            self.exact = True
            return json.dumps(row, ensure_ascii=False).encode()

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


MOST_BAD_ROWS = 1000
"""Most bad rows of a part. More of them suggest that the file has another format."""


def rows_of(path: Path, published: str, field: str | None, delimiter: str | None) -> Chunks:
    """The rows of a downloaded file. `published` is its path in the repository, which messages name."""
    file = StoredFile(path, published)
    format = data_format(published, hub=True)
    name = "jsonl" if format is None else format.name
    if field is not None and name in ("json", "jsonl"):
        return read_json_field(file, field)
    if name == "json":
        return _json(file)
    if name == "csv" and delimiter not in (None, ","):
        return read_separated(file, delimiter or ",")
    return reader_of(name)(file)


def convert(
    files: list[tuple[Path, str]], target: Path, field: str | None = None, delimiter: str | None = None
) -> Entry:
    """Write all rows of some files to a new Parquet file. Raises DatasetError if one cannot be read to its end."""
    out = RowWriter(target)
    troubles: list[tuple[int, BadRow]] = []
    try:
        for path, published in files:
            with closing(rows_of(path, published, field, delimiter)) as chunks:
                for chunk in chunks:
                    for after, bad in chunk.troubles:
                        told = replace(bad, reason=f"in {published}: {bad.reason}")
                        troubles.append((out.added + after, told))
                    if len(troubles) > MOST_BAD_ROWS:
                        _, first = troubles[0]
                        raise DatasetError(
                            f"{published}: more than {MOST_BAD_ROWS} bad rows. The first, line {first.line}: {first.reason}"
                        )
                    out.add(chunk.rows)
        out.close()
    except BaseException:
        out.abandon()
        raise
    return Entry(target, out.rows, "exact" if out.exact else "json", tuple(troubles))


def _json(file: StoredFile) -> Chunks:
    """Read a `.json` file. If its rows are under a key, the error names the key."""
    try:
        yield from read_json(file, keyed=False)
    except DatasetError as exc:
        if keys := list_keys(file):
            raise file.error(f"keeps its rows under a key: add &field={keys[0]} to the URI") from exc
        raise


PART_BYTES = 16 * 1024 * 1024
"""Small files share a part up to this size: a part costs a lock and four flushes."""
PART_FILES = 256
"""Most files of a part."""
FOOTER_BYTES = 64 * 1024
"""Bytes read from the end of a Parquet file to learn its number of rows."""


class FileOrigin(Struct, frozen=True):
    """Where files are read from."""

    hub: Hub
    ref: RepoRef
    """What the user named, under the repository's present name."""
    commit: str
    """The commit the files are read at."""
    snapshot: Path | None = None
    """The same commit in the cache of the `huggingface_hub` library, if it is there."""


class FilePart(Part, frozen=True):
    """One or more files, in order."""

    origin: FileOrigin
    """Where they are."""
    files: tuple[HubFile, ...]
    field: str | None
    """Top-level key under which JSON files keep the rows."""
    delimiter: str | None
    """What separates cells in CSV files."""

    @property
    def published_as_is(self) -> bool:
        """Whether the file is used as the hub publishes it: a single Parquet file."""
        return len(self.files) == 1 and self.files[0].path.lower().endswith(".parquet")

    def identity(self) -> JsonObject:
        """The content of the files and how to read it. Neither commit nor name is part of it, so that an unchanged file
        is kept once."""
        return {
            "kind": "files",
            "content": [
                [file.digest, file.size, _format_name(file, typed=not self.published_as_is)]
                for file in self.files
            ],
            "field": self.field,
            "delimiter": self.delimiter,
        }

    def content(self) -> list[JsonObject]:
        """The hashes of all files, and how to read them."""
        reading: JsonObject = {"field": self.field, "delimiter": self.delimiter}
        return [{"digest": file.digest, **reading} for file in self.files]

    def published(self) -> list[JsonObject]:
        return [file.to_json() for file in self.files]

    def about(self) -> JsonObject:
        """Names, for people who look into the cache."""
        return {
            "repo": self.origin.ref.repo,
            "commit": self.origin.commit,
            "files": [file.path for file in self.files],
        }

    def is_local(self) -> bool:
        """Whether the cache of the hub's library has all the files."""
        return all(self._local(file) for file in self.files)

    def fill(self, rows: Path, partial: Path) -> Entry:
        """Download the files, then use them as they are or convert them."""
        folder = partial / content_hash(self.identity())[:16]
        places = [self._local(file) or folder / file.digest.replace(":", "-") for file in self.files]
        missing = {
            place: file for file, place in zip(self.files, places, strict=True) if place.parent == folder
        }
        try:
            if missing:
                folder.mkdir(parents=True, exist_ok=True)
                # If this fails, the downloaded bytes stay, and the next attempt resumes after them.
                needed = [(file, place) for place, file in missing.items()]
                download_all(self.origin.hub, self.origin.ref, self.origin.commit, needed)
            try:
                if self.published_as_is:
                    return self._taken_over(places[0], rows, ours=bool(missing))
                return self._converted(places, rows)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        except DatasetError as exc:
            raise self._named(exc) from exc
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)  # free the space, in case the disk is full
            raise

    def rows_announced(self) -> int | None:
        """The number of rows from the index of the file, without fetching the whole file; None if that is not possible."""
        if not self.published_as_is or self.origin.hub.settings.offline:
            return None
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = self.files[0]
        try:
            end = file_end(self.origin.hub, self.origin.ref, self.origin.commit, file, FOOTER_BYTES)
        except (DatasetError, HubUnreachableError):
            return None
        length = int.from_bytes(end[-8:-4], "little") if end[-4:] == b"PAR1" else 0
        if not 0 < length <= len(end) - 8:
            return None
        # The index alone is enough to open it as a Parquet file.
        index = b"PAR1" + end[-length - 8 :]
        try:
            return int(pq.read_metadata(pa.BufferReader(index)).num_rows)
        except (pa.ArrowException, OSError):
            return None

    def _local(self, file: HubFile) -> Path | None:
        """The file in the cache of the hub's library, if it is there and unchanged."""
        if self.origin.snapshot is None:
            return None
        place = self.origin.snapshot / file.path
        return place if place.is_file() and holds(place, file) else None

    def _taken_over(self, place: Path, rows: Path, *, ours: bool) -> Entry:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            count = pq.read_metadata(place).num_rows
        except (pa.ArrowException, OSError) as exc:
            raise DatasetError(
                f"{self.files[0].path}: is not a Parquet file that can be read: {exc}"
            ) from exc
        if ours:
            place.rename(rows)
        else:
            shutil.copyfile(place, rows)
        return Entry(rows, count, "published")

    def _converted(self, places: list[Path], rows: Path) -> Entry:
        paths = [file.path for file in self.files]
        return convert(list(zip(places, paths, strict=True)), rows, self.field, self.delimiter)

    def _named(self, exc: DatasetError) -> DatasetError:
        uri = self.origin.ref.uri
        return exc if str(exc).startswith(uri) else DatasetError(f"{uri}: {exc}", exc.bad_rows)


def _format_name(file: HubFile, *, typed: bool) -> str | None:
    """The format, and for typed values that are stored as JSON the version of the rules in `_readers/parquet.py`."""
    found = data_format(file.path, hub=True)
    if found is None:
        return None
    return f"{found.name} 2" if typed and found.name in ("parquet", "arrow") else found.name


def file_parts(
    origin: FileOrigin, files: Sequence[HubFile], field: str | None = None, delimiter: str | None = None
) -> tuple[FilePart, ...]:
    """Group files into parts of a sensible size, in order."""
    return tuple(FilePart(origin, group, field, delimiter) for group in _grouped(files))


def _grouped(files: Sequence[HubFile]) -> Iterator[tuple[HubFile, ...]]:
    group: list[HubFile] = []
    size = 0
    for file in files:
        if group and (size + file.size > PART_BYTES or len(group) >= PART_FILES):
            yield tuple(group)
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield tuple(group)
