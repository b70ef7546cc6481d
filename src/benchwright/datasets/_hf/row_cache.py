"""Rows kept as immutable Parquet files with checksums, shared by all workspaces and processes.

    <cache>/hf/<org>--<name>/rows/<key>/rows.parquet    the rows
                                        meta.json       hash, size, number of rows, bad rows, where they came from
    <cache>/hf/quarantine/                              what was found damaged, each with a note

A process writes an entry under another name, flushes it to the disk and renames it, so it is complete or absent. Only one
process writes at a time. Entries are verified before they are read: a file that is damaged, cut short, empty or foreign
goes to quarantine, and the rows are fetched again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import BadRow, DatasetError, JsonObject, JsonValue, content_hash


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes, as 64 hexadecimal digits."""
    with path.open("rb", buffering=0) as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def write_whole(path: Path, content: bytes) -> None:
    """Write a small file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = aside_of(path)
    try:
        with aside.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def aside_of(path: Path) -> Path:
    """A name in the same folder that no other process uses."""
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")


def flush_file(path: Path) -> None:
    """Wait until a file's content is on the disk."""
    _flush(path, os.O_RDONLY)


def flush_folder(path: Path) -> None:
    """Wait until a folder's names are on the disk."""
    _flush(path, os.O_RDONLY | os.O_DIRECTORY)


def set_aside(path: Path, quarantine: Path, why: str) -> Path:
    """Move a damaged file or folder to quarantine, with a note. Returns its new path."""
    quarantine.mkdir(parents=True, exist_ok=True)
    target = quarantine / f"{path.parent.name}-{path.name}-{secrets.token_hex(4)}"
    path.rename(target)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    (quarantine / f"{target.name}.why.txt").write_text(f"{now} {path}\n{why}\n", encoding="utf-8")
    return target


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that excludes all other processes and threads. The system releases it if the process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def what_failed(exc: OSError) -> str:
    """Why a folder could not be written, in words."""
    return "the disk is full" if exc.errno in (errno.ENOSPC, errno.EDQUOT) else exc.strerror or str(exc)


@contextmanager
def cache_errors(uri: str, cache: Path) -> Iterator[None]:
    """Turn errors of the cache folder into messages. Writers remove unfinished files."""
    try:
        yield
    except OSError as exc:
        raise DatasetError(
            f"{uri}: the rows cannot be kept in {cache}: {what_failed(exc)}. Make room, or name another folder with "
            "BENCHWRIGHT_CACHE. Nothing half-written was left there"
        ) from exc


def _flush(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


FORMAT = 1
"""Format version of the entries; part of every key."""
ROWS, META = "rows.parquet", "meta.json"
"""The two files of an entry."""

Style: TypeAlias = Literal["published", "json", "exact"]
"""How rows are stored: the hub's Parquet file, JSON texts, or JSON texts with numbers that need exact parsing."""

_verified: dict[Path, tuple[int, int, int, int]] = {}
"""Files whose hash this process has checked, with their inode, size and both times at that moment."""


class Entry(Struct, frozen=True):
    """A file of rows, as a part wrote it or as the cache has it, verified."""

    path: Path
    """The Parquet file."""
    rows: int
    """Good rows in it."""
    style: Style
    """How they are stored."""
    troubles: tuple[tuple[int, BadRow], ...] = ()
    """Bad rows that were left out of it, each with the number of good rows before it."""


class Part(Struct, frozen=True):
    """Consecutive rows that are fetched and kept together."""

    def identity(self) -> JsonObject:
        """Everything that decides which rows these are; the key is its hash."""
        raise NotImplementedError

    def content(self) -> list[JsonObject]:
        """The identities of its pieces, independent of how they are grouped into parts."""
        return [self.identity()]

    def published(self) -> list[JsonObject]:
        """The files of the repository that it reads, as a run records them; empty if it reads none."""
        return []

    def about(self) -> JsonObject:
        """Where the rows come from, for people who look into the cache."""
        raise NotImplementedError

    def is_local(self) -> bool:
        """Whether the rows are available without network."""
        return False

    def rows_announced(self) -> int | None:
        """The number of rows, without fetching them all; None if that is not possible."""
        return None

    def fill(self, rows: Path, partial: Path) -> Entry:
        """Write the rows to a new Parquet file; `partial` is the folder for unfinished downloads. Raises DatasetError if they
        cannot be fetched, OSError if they cannot be written."""
        raise NotImplementedError


class RowCache:
    """The kept rows of one dataset."""

    def __init__(
        self, uri: str, folder: Path, quarantine: Path, offline: str | None, note: Callable[[str], None]
    ) -> None:
        self._uri = uri
        self._folder = folder
        self._quarantine = quarantine
        self._offline = offline
        self._note = note
        self._spare: RowCache | None = None

    def peek(self, part: Part) -> Entry | None:
        """A good entry if there is one; nothing is fetched."""
        place = self._place(part)
        found = self._good(place, part) if place.is_dir() else None
        return self._spare.peek(part) if found is None and self._spare is not None else found

    def open(self, part: Part) -> Entry:
        """A verified entry, fetched if it is not there. Raises DatasetError if that fails.

        If the folder cannot be written, or the disk is full, the rows are kept in a temporary folder until the last reader is
        done.
        """
        if entry := self.peek(part):
            return entry
        with cache_errors(self._uri, self._folder):
            if self._spare is None:
                try:
                    return self._fetched(part)
                except OSError as exc:
                    self._spare = self._temporary(exc)
            return self._spare._fetched(part)

    def _temporary(self, why: OSError) -> RowCache:
        folder = Path(tempfile.mkdtemp(prefix="benchwright-rows-"))
        spare = RowCache(self._uri, folder, self._quarantine, self._offline, self._note)
        weakref.finalize(spare, shutil.rmtree, folder, ignore_errors=True)
        self._note(
            f"the rows cannot be kept in {self._folder} ({what_failed(why)}): they are in a temporary folder for "
            "now, and will be fetched again next time"
        )
        return spare

    def _fetched(self, part: Part) -> Entry:
        place = self._place(part)
        with locked(self._folder / "locks" / place.name):
            if place.is_dir():  # another process was faster, or it is damaged
                if entry := self._good(place, part):
                    return entry
                why = _fault(place, part) or "damaged"
                gone = set_aside(place, self._quarantine, why)
                self._note(f"a cached copy was damaged ({why}); it was moved to {gone}")
                if self._offline and not part.is_local():
                    raise DatasetError(
                        f"{self._uri}: the cached rows of {self._what(part)} are damaged ({why}) and were moved to {gone}. "
                        f"They cannot be fetched again because {self._offline} is set; unset it once"
                    )
            if self._offline and not part.is_local():
                raise DatasetError(
                    f"{self._uri}: {self._what(part)} is not in the cache ({self._folder}), and {self._offline} is set. "
                    "Unset it and read the dataset once"
                )
            return self._make(place, part)

    def _make(self, place: Path, part: Part) -> Entry:
        place.parent.mkdir(parents=True, exist_ok=True)
        aside = place.parent / f".{place.name}.{os.getpid()}.{secrets.token_hex(4)}"
        aside.mkdir()
        try:
            filled = part.fill(aside / ROWS, self._folder / "partial")
            flush_file(aside / ROWS)
            meta: JsonObject = {
                "format": FORMAT,
                "identity": part.identity(),
                "about": part.about(),
                "rows": filled.rows,
                "style": filled.style,
                "sha256": sha256_of(aside / ROWS),
                "bytes": (aside / ROWS).stat().st_size,
                "troubles": [[after, bad.line, bad.reason, bad.field] for after, bad in filled.troubles],
                "written": datetime.now(UTC).isoformat(timespec="seconds"),
            }
            write_whole(aside / META, json.dumps(meta, ensure_ascii=False, indent=1).encode())
            for name in (ROWS, META):
                (aside / name).chmod(0o444)
            flush_folder(aside)
            aside.rename(place)
            flush_folder(place.parent)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        _verified[place / ROWS] = _signature(place / ROWS)
        return replace(filled, path=place / ROWS)

    def _good(self, place: Path, part: Part) -> Entry | None:
        return None if _fault(place, part) else _entry(place)

    def _place(self, part: Part) -> Path:
        return self._folder / "rows" / entry_name(FORMAT, part.identity())

    def _what(self, part: Part) -> str:
        found = part.about().get("files")
        names = [str(name) for name in found] if isinstance(found, list) else []
        return (
            ", ".join(names[:3]) + (f" and {len(names) - 3} more files" if len(names) > 3 else "")
            or "the data"
        )


def entry_name(format_: JsonValue, identity: JsonValue) -> str:
    """The name of an entry's folder, derived from the identity of its rows."""
    return content_hash([format_, identity])[:40]


def _fault(place: Path, part: Part) -> str | None:
    """What is wrong with an entry, or None."""
    try:
        meta = json.loads((place / META).read_bytes())
        size = (place / ROWS).stat().st_size
    except FileNotFoundError as exc:
        return f"{Path(exc.filename).name} is missing"
    except (OSError, ValueError, RecursionError) as exc:
        return f"{META} cannot be read: {exc}"
    if not isinstance(meta, dict) or meta.get("identity") != part.identity():
        return f"{META} belongs to other rows"
    if size != meta.get("bytes"):
        return f"{ROWS} has {size} bytes, expected {meta.get('bytes')}"
    signature = _signature(place / ROWS)
    if _verified.get(place / ROWS) != signature:
        try:
            checksum = sha256_of(place / ROWS)
        except OSError as exc:
            return f"{ROWS} cannot be read: {exc.strerror}"
        if checksum != meta.get("sha256"):
            return f"{ROWS} does not match its checksum"
        try:
            _entry(place)
        except (TypeError, ValueError, KeyError) as exc:
            return f"{META} cannot be used: {exc}"
        _verified[place / ROWS] = signature
    return None


def _entry(place: Path) -> Entry:
    meta = json.loads((place / META).read_bytes())
    if meta["style"] not in ("published", "json", "exact") or not isinstance(meta["rows"], int):
        raise ValueError("unknown style")
    return Entry(place / ROWS, meta["rows"], meta["style"], _troubles(meta["troubles"]))


def _troubles(found: Sequence[Sequence[Any]]) -> tuple[tuple[int, BadRow], ...]:
    return tuple((after, BadRow("", *rest)) for after, *rest in found)


def _signature(path: Path) -> tuple[int, int, int, int]:
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
