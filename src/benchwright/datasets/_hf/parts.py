"""Files of a repository as parts of the row cache: downloaded, checked, converted once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from benchwright.core import DatasetError, JsonObject, content_hash, hub_format
from benchwright.datasets._hf.download import download_all, file_end, holds
from benchwright.datasets._hf.errors import HubUnreachableError, RepoRef
from benchwright.datasets._hf.hub import Hub, HubFile
from benchwright.datasets._hf.row_cache import Filled
from benchwright.datasets._hf.row_files import Reading, convert

PART_BYTES = 16 * 1024 * 1024
"""Small files share a part up to this size: a part costs a lock and four flushes."""
PART_FILES = 256
"""Most files of a part."""
FOOTER_BYTES = 64 * 1024
"""Read from the end of a Parquet file to learn its number of rows."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where files are read from."""

    hub: Hub
    ref: RepoRef
    """What the user named, under the repository's present name."""
    commit: str
    """The commit the files are read at."""
    snapshot: Path | None = None
    """The same commit in the cache of the `huggingface_hub` library, if it is there."""


class FilePart(Struct, frozen=True):
    """One or more files, in order."""

    origin: Origin
    """Where they are."""
    files: tuple[HubFile, ...]
    reading: Reading
    """How to read them."""

    @property
    def published_as_is(self) -> bool:
        """Whether the hub's own file serves as ours: a single Parquet file."""
        return len(self.files) == 1 and self.files[0].path.lower().endswith(".parquet")

    def identity(self) -> JsonObject:
        """The content of the files and how to read it. Neither commit nor name is part of it, so that an unchanged file
        is kept once."""
        return {
            "kind": "files",
            "content": [[file.digest, file.size, _format_name(file)] for file in self.files],
            "field": self.reading.field,
            "delimiter": self.reading.delimiter,
        }

    def about(self) -> JsonObject:
        """Names, for people."""
        return {
            "repo": self.origin.ref.repo,
            "commit": self.origin.commit,
            "files": [file.path for file in self.files],
        }

    def is_local(self) -> bool:
        """Whether the hub's own library has all the files."""
        return all(self._local(file) for file in self.files)

    def fill(self, rows: Path, partial: Path) -> Filled:
        """Downloads the files, then takes them over or converts them."""
        folder = partial / content_hash(self.identity())[:16]
        places = [self._local(file) or folder / file.digest.replace(":", "-") for file in self.files]
        missing = {
            place: file for file, place in zip(self.files, places, strict=True) if place.parent == folder
        }
        try:
            if missing:
                folder.mkdir(parents=True, exist_ok=True)
                # What has arrived stays when this fails: the next attempt resumes after it.
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
            shutil.rmtree(folder, ignore_errors=True)  # a full disk is not left full
            raise

    def rows_announced(self) -> int | None:
        """The number of rows as the file's own index has it, without fetching the file; None when that is not
        possible."""
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
        # A file made of the index alone is a Parquet file as far as its index goes.
        index = b"PAR1" + end[-length - 8 :]
        try:
            return int(pq.read_metadata(pa.BufferReader(index)).num_rows)
        except (pa.ArrowException, OSError):
            return None

    def _local(self, file: HubFile) -> Path | None:
        """The file in the cache of the hub's own library, if it is there and as published."""
        if self.origin.snapshot is None:
            return None
        place = self.origin.snapshot / file.path
        return place if place.is_file() and holds(place, file) else None

    def _taken_over(self, place: Path, rows: Path, *, ours: bool) -> Filled:
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
        return Filled(count, "published")

    def _converted(self, places: list[Path], rows: Path) -> Filled:
        paths = [file.path for file in self.files]
        return convert(list(zip(places, paths, strict=True)), self.reading, rows)

    def _named(self, exc: DatasetError) -> DatasetError:
        uri = self.origin.ref.uri
        return exc if str(exc).startswith(uri) else DatasetError(f"{uri}: {exc}", exc.bad_rows)


def _format_name(file: HubFile) -> str | None:
    found = hub_format(file.path)
    return None if found is None else found.name


def file_parts(origin: Origin, files: Sequence[HubFile], reading: Reading) -> tuple[FilePart, ...]:
    """Files in parts of a sensible size, in order."""
    return tuple(FilePart(origin, group, reading) for group in _grouped(files))


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
