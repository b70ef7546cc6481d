"""A file's bytes on disk, complete and as published: resumed where a connection broke, checked by hash.

The bytes come through `huggingface_hub`, by HTTP or Xet. Its `hf_hub_download` is not used: since version 1 it deletes
what has arrived when a download fails, so that a second attempt starts from nothing; and it checks no hash.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Protocol

from benchwright.core import DatasetError
from benchwright.datasets._hf.errors import HubRefusedError, HubUnreachableError, RepoRef
from benchwright.datasets._hf.hub import Hub, HubFile
from benchwright.datasets._hf.session import no_progress_bars

AT_ONCE = 8
"""Small files fetched side by side."""
MOST_RESUMES = 200
"""Of one file, however much progress each makes."""

_BLOCK = 1024 * 1024


class Hasher(Protocol):
    """What `hashlib` gives."""

    def update(self, data: bytes, /) -> None:
        """More bytes."""

    def hexdigest(self) -> str:
        """The hash of all of them."""


def hasher_for(file: HubFile) -> Hasher:
    """The hash by which the hub names the file's content."""
    if file.digest.startswith("sha256:"):
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)


def holds(path: Path, file: HubFile) -> bool:
    """Whether a local file is, byte for byte, the one the hub lists."""
    digest = hasher_for(file)
    try:
        if path.stat().st_size != file.size:
            return False
        with path.open("rb") as raw:
            while block := raw.read(_BLOCK):
                digest.update(block)
    except OSError:
        return False
    return digest.hexdigest() == file.digest.partition(":")[2]


def download_all(hub: Hub, ref: RepoRef, commit: str, needed: list[tuple[HubFile, Path]]) -> None:
    """Several files, a few at a time. The first failure ends the rest."""
    with no_progress_bars():
        if len(needed) == 1:
            download(hub, ref, commit, *needed[0])
            return
        stop = Event()
        pool = ThreadPoolExecutor(min(AT_ONCE, len(needed)), thread_name_prefix="hub")
        try:
            jobs = [pool.submit(download, hub, ref, commit, file, path, stop) for file, path in needed]
            done, _ = wait(jobs, return_when=FIRST_EXCEPTION)
            for job in done:
                job.result()
        finally:  # also when the user interrupts: downloads under way end at their next block
            stop.set()
            pool.shutdown(cancel_futures=True)


def download(
    hub: Hub, ref: RepoRef, commit: str, file: HubFile, target: Path, stop: Event | None = None
) -> None:
    """Brings one file to `target`, after the bytes that are there already.

    Raises:
        DatasetError: refused, unreachable, or the content is twice not what the hub announced.
        OSError: the disk is full or cannot be written.
    """
    for last_try in (False, True):
        try:
            _complete(hub, ref, commit, file, target, stop)
        except HubRefusedError as failure:
            raise hub.complaint(failure, ref) from None
        except HubUnreachableError as failure:
            raise hub.complaint(failure, ref) from failure
        if holds(target, file):
            return
        target.unlink(missing_ok=True)
        if last_try:
            raise DatasetError(
                f"{ref.uri}: {file.path} at commit {commit} arrived twice with content that does not match its hash "
                f"({file.digest}). Something between here and {hub.settings.endpoint} alters the data; nothing was kept"
            )


def file_end(hub: Hub, ref: RepoRef, commit: str, file: HubFile, count: int) -> bytes:
    """The last `count` bytes of a file, for formats that keep their index there. Empty where the hub would send it all."""
    url = hub.address(ref.repo, commit, file.path)
    span = f"bytes={max(0, file.size - count)}-{file.size - 1}"

    def once() -> bytes:
        with hub.client.stream(url, span) as (status, blocks):
            return b"".join(blocks) if status == 206 else b""

    try:
        return hub.client.retried(once)
    except HubRefusedError as failure:
        raise hub.complaint(failure, ref) from None


def _complete(hub: Hub, ref: RepoRef, commit: str, file: HubFile, target: Path, stop: Event | None) -> None:
    """All bytes of a file, unchecked."""
    url = hub.address(ref.repo, commit, file.path)
    patience = hub.client.patience()
    for _ in range(MOST_RESUMES):
        have = target.stat().st_size if target.exists() else 0
        if have > file.size:
            target.unlink()
            continue
        if have == file.size and target.exists():
            return
        try:
            if have or not _by_xet(hub, url, file, target):
                _append(hub, url, have, file.size, stop, target)
        except (HubRefusedError, HubUnreachableError) as failure:
            if isinstance(failure, HubRefusedError) and failure.status == 416:
                target.unlink(missing_ok=True)  # what is here does not fit what is there
            elif target.exists() and target.stat().st_size > have:
                patience.progressed()
            patience.wait(failure)
    raise HubUnreachableError(f"{file.path} broke off {MOST_RESUMES} times")


def _by_xet(hub: Hub, url: str, file: HubFile, target: Path) -> bool:
    """Whether the file came by the Xet protocol."""
    data = hub.client.xet_file(url) if file.xet else None
    if data is None:
        return False
    try:
        hub.client.fetch_xet(url, data, target, file.size)
    except Exception:
        # Where the hub, or a mirror of it, can be reached, the storage of Xet may be out of reach.
        target.unlink(missing_ok=True)
        return False
    return True


def _append(hub: Hub, url: str, have: int, size: int, stop: Event | None, target: Path) -> None:
    with hub.client.stream(url, f"bytes={have}-" if have else "") as (status, blocks):
        resumes = have > 0 and status == 206
        arrived = have if resumes else 0
        with target.open("ab" if resumes else "wb") as out:
            for block in blocks:
                if stop is not None and stop.is_set():
                    raise DatasetError("the download was stopped")
                out.write(block)
                arrived += len(block)
                if arrived > size:
                    return  # not the file that was listed; the hash will say so
    if arrived < size:
        raise HubUnreachableError(f"the body broke off after {arrived} of {size} bytes")
