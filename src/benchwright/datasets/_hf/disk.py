"""Files that are complete or absent: written under another name, flushed to the disk, renamed. One writer at a time."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchwright.core import DatasetError


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes, as 64 hexadecimal digits."""
    with path.open("rb", buffering=0) as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def write_whole(path: Path, content: bytes) -> None:
    """A small file, there completely or not at all."""
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
    """Waits until a file's content is on the disk."""
    _flush(path, os.O_RDONLY)


def flush_folder(path: Path) -> None:
    """Waits until a folder's names are on the disk."""
    _flush(path, os.O_RDONLY | os.O_DIRECTORY)


def set_aside(path: Path, quarantine: Path, why: str) -> Path:
    """Moves a damaged file or folder to quarantine, with a note. Returns its new path."""
    quarantine.mkdir(parents=True, exist_ok=True)
    target = quarantine / f"{path.parent.name}-{path.name}-{secrets.token_hex(4)}"
    path.rename(target)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    (quarantine / f"{target.name}.why.txt").write_text(f"{now} {path}\n{why}\n", encoding="utf-8")
    return target


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock that excludes all other processes and threads. The system releases it when the process dies."""
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
    """Turns errors of the cache folder into messages. Writers remove what they have half written."""
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
