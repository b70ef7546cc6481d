"""Maintains the cache of hub rows: lists, verifies and prunes it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchwright.datasets._hf.row_cache import META, ROWS, entry_name, locked, set_aside, sha256_of
from benchwright.datasets._hf.settings import hub_settings


class CacheEntry(Struct, frozen=True):
    """One kept file of rows."""

    dataset: str
    """`org/name`."""
    path: Path
    """Folder of the entry."""
    rows: int | None
    """Rows in it; None: its description cannot be read."""
    bytes: int
    """Size on disk."""
    used: float
    """When it was last read or written, in seconds since the epoch."""


class HubCache:
    """The cache of hub rows of this machine."""

    def __init__(self) -> None:
        self.folder = hub_settings().cache / "hf"
        """Where it is."""
        self.entries = tuple(_entries(self.folder))
        """Kept rows, by dataset."""

    def other_bytes(self) -> tuple[int, int]:
        """The size of lists of files, commits and locks, and that of damaged files in quarantine."""
        quarantine = _size(self.folder / "quarantine")
        rest = _size(self.folder) - quarantine - sum(entry.bytes for entry in self.entries)
        return max(0, rest), quarantine

    def verify(self) -> list[tuple[CacheEntry, str]]:
        """Check every entry against its checksum. Damaged entries go to quarantine and are fetched again when needed."""
        damaged = []
        for entry in self.entries:
            with _alone(entry):
                if not entry.path.is_dir():
                    continue
                why = _fault(entry.path)
                if why is not None:
                    set_aside(entry.path, self.folder / "quarantine", why)
                    damaged.append((entry, why))
        return damaged

    def prune(self, *, before: float | None = None, max_bytes: int | None = None) -> list[CacheEntry]:
        """Delete entries not used since `before`, then the least recently used ones until the rest is small enough.

        Quarantined files are deleted too.
        """
        by_age = sorted(self.entries, key=lambda entry: entry.used)
        gone = [entry for entry in by_age if before is not None and entry.used < before]
        kept = [entry for entry in by_age if entry not in gone]
        left = sum(entry.bytes for entry in kept)
        for entry in kept:
            if max_bytes is None or left <= max_bytes:
                break
            gone.append(entry)
            left -= entry.bytes
        _delete(gone)
        shutil.rmtree(self.folder / "quarantine", ignore_errors=True)
        return gone

    def clear(self) -> None:
        """Delete everything."""
        _delete(self.entries)
        shutil.rmtree(self.folder, ignore_errors=True)


def _entries(folder: Path) -> Iterator[CacheEntry]:
    if not folder.is_dir():
        return
    for rows in sorted(folder.glob("*/rows")):
        for place in sorted(rows.iterdir()):
            if place.is_dir() and not place.name.startswith("."):
                yield _entry(place)


def _entry(place: Path) -> CacheEntry:
    meta = _meta(place)
    count = meta.get("rows")
    used = 0.0
    with suppress(OSError):
        found = (place / ROWS).stat()
        used = max(found.st_atime, found.st_mtime)
    dataset = place.parent.parent.name.replace("--", "/", 1)
    return CacheEntry(dataset, place, count if isinstance(count, int) else None, _size(place), used)


def _fault(place: Path) -> str | None:
    meta = _meta(place)
    if not meta:
        return f"{META} cannot be read"
    if place.name != entry_name(meta.get("format"), meta.get("identity")):
        return f"{META} describes other rows than those of this place"
    try:
        before = (place / ROWS).stat()
        if before.st_size != meta.get("bytes"):
            return f"{ROWS} has another size than was written"
        if sha256_of(place / ROWS) != meta.get("sha256"):
            return f"{ROWS} does not match its checksum"
        with suppress(OSError):  # checking rows does not count as using them
            os.utime(place / ROWS, ns=(before.st_atime_ns, before.st_mtime_ns))
    except OSError as error:
        return f"{ROWS} cannot be read: {error.strerror}"
    return None


def _meta(place: Path) -> dict[str, Any]:
    try:
        found = json.loads((place / META).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _delete(entries: Iterable[CacheEntry]) -> None:
    """Delete entries. Each is renamed first, so that another process finds it complete or not at all."""
    for entry in entries:
        with _alone(entry), suppress(FileNotFoundError):
            aside = entry.path.with_name(f".{entry.path.name}.gone")
            shutil.rmtree(aside, ignore_errors=True)
            entry.path.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)


def _alone(entry: CacheEntry) -> Any:
    return locked(entry.path.parent.parent / "locks" / entry.path.name)


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*") if folder.is_dir() else ():
        with suppress(OSError):
            if path.is_file() and not path.is_symlink():
                total += path.stat().st_size
    return total
