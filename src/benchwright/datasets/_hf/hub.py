"""Reads repositories of the hub: the commit of a revision, branches and tags, the files of a commit and their bytes.

A download resumes where a connection broke, and is checked by hash. The bytes come through `huggingface_hub`, by HTTP or
Xet. Its `hf_hub_download` is not used: since version 1 it deletes the bytes of a failed download, so that a second
attempt starts from nothing, and it checks no hash.
"""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Protocol
from urllib.parse import quote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import BenchwrightError, DatasetError, JsonObject, JsonValue, load_json
from benchwright.datasets._hf.client import Client, no_progress_bars
from benchwright.datasets._hf.errors import HubError, HubRefusedError, HubUnreachableError, RepoRef, complaint
from benchwright.datasets._hf.settings import HubSettings

COMMIT = re.compile(r"[0-9a-f]{40}")
"""A full commit id."""
MOST_PAGES = 20_000
"""Most pages of a listing; at 1000 entries each, more than any repository has."""

_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')


class HubFile(Struct, frozen=True):
    """A file of a repository at one commit."""

    path: str
    """Where it is in the repository."""
    size: int
    """Bytes."""
    digest: str
    """`sha256:…` of the content for files in large-file storage, `git:…` (the blob id) for the others."""
    xet: bool = False
    """Whether the hub offers it by the Xet protocol."""

    def to_json(self) -> JsonObject:
        """For the records."""
        known: JsonObject = {"path": self.path, "size": self.size, "digest": self.digest}
        return {**known, "xet": True} if self.xet else known

    @classmethod
    def from_json(cls, value: JsonValue) -> HubFile:
        """Read from a record. Raises ValueError for anything else."""
        if isinstance(value, dict):
            path, size, digest = value.get("path"), value.get("size"), value.get("digest")
            if isinstance(path, str) and isinstance(size, int) and isinstance(digest, str):
                return cls(path, size, digest, value.get("xet") is True)
        raise ValueError("not a file")


class Hub:
    """Answers questions about repositories. Refusals are raised as DatasetError with the cure."""

    def __init__(self, settings: HubSettings) -> None:
        self.client = Client(settings)

    @property
    def settings(self) -> HubSettings:
        """The settings of all requests."""
        return self.client.settings

    def info(self, ref: RepoRef) -> tuple[RepoRef, str]:
        """The dataset under its present name, and the commit of the revision. Raises HubUnreachableError if there is
        no answer at all."""
        limit = self.settings.timeout_s
        try:
            found = self.client.api(
                lambda hub: hub.dataset_info(ref.repo, revision=ref.revision, timeout=limit)
            )
        except HubRefusedError as failure:
            raise self.complaint(failure, ref) from None
        except BenchwrightError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as exc:  # an invalid name or answer
            raise self._strange(self.settings.endpoint, ref, f"no dataset ({exc})") from exc
        if not isinstance(found.sha, str) or not COMMIT.fullmatch(found.sha):
            raise self._strange(self.settings.endpoint, ref, "no commit id")
        return replace(ref, repo=found.id or ref.repo), found.sha

    def files(self, ref: RepoRef, commit: str) -> list[HubFile]:
        """All files of a commit, by path."""
        # Not `HfApi.list_repo_tree`: it follows the address of the next page to any host, with the token, and from the
        # second page on it waits as long as the hub demands.
        base = f"{self.settings.endpoint}/api/datasets/{quote(ref.repo)}/tree"
        url: str | None = f"{base}/{quote(commit, safe='')}?recursive=true&expand=false"
        found: list[HubFile] = []
        seen: set[str] = set()
        while url is not None:
            if url in seen or len(seen) >= MOST_PAGES:
                raise self._strange(url, ref, "a listing that never ends")
            seen.add(url)
            try:
                body, headers = self.client.whole(url)
                page = load_json(body)
            except HubRefusedError as failure:
                raise self.complaint(failure, ref) from None
            except ValueError:
                raise self._strange(url, ref, "no JSON") from None
            if not isinstance(page, list):
                raise self._strange(url, ref, "no list of files")
            found += [file for entry in page if (file := _file(entry)) is not None]
            url = self._next_page(headers.get("link", ""))
        return sorted(found, key=lambda file: file.path)

    def refs(self, ref: RepoRef) -> list[str]:
        """Names of branches and tags; empty when the hub does not name them."""
        try:
            found = self.client.api(lambda hub: hub.list_repo_refs(ref.repo, repo_type="dataset"))
        except (HubRefusedError, HubUnreachableError, ValueError, TypeError, KeyError, AttributeError):
            return []
        return [branch.name for branch in (*found.branches, *found.tags)]

    def address(self, repo: str, commit: str, path: str) -> str:
        """Where a file's bytes are."""
        return (
            f"{self.settings.endpoint}/datasets/{quote(repo)}/resolve/{quote(commit, safe='')}/{quote(path)}"
        )

    def complaint(self, failure: HubRefusedError | HubUnreachableError, ref: RepoRef) -> HubError:
        """A failure in words."""
        known: tuple[str, ...] = ()
        if isinstance(failure, HubRefusedError) and failure.code == "RevisionNotFound":
            known = tuple(self.refs(ref))
        return complaint(failure, ref, self.settings, known)

    def _next_page(self, links: str) -> str | None:
        match = _NEXT.search(links)
        if match is None:
            return None
        # A mirror may pass on the address that its own hub wrote; the pages are the mirror's all the same.
        link, base = urlsplit(match[1]), urlsplit(self.settings.endpoint)
        prefix = "" if link.netloc == base.netloc else base.path
        return f"{base.scheme}://{base.netloc}{prefix}{link.path}?{link.query}"

    def _strange(self, url: str, ref: RepoRef, what: str) -> DatasetError:
        return DatasetError(
            f"{ref.uri}: {url} gave {what}. Is HF_ENDPOINT ({self.settings.endpoint}) the address of a hub?"
        )


def _file(entry: JsonValue) -> HubFile | None:
    if not isinstance(entry, dict) or entry.get("type") != "file":
        return None
    path, size, digest = entry.get("path"), entry.get("size"), entry.get("oid")
    large = entry.get("lfs")
    if isinstance(large, dict):
        size, digest = large.get("size", size), large.get("oid") or large.get("sha256")
    if not isinstance(path, str) or not isinstance(size, int) or not isinstance(digest, str):
        return None
    digest = digest.removeprefix("sha256:").lower()
    kind = "sha256" if isinstance(large, dict) else "git"
    return HubFile(path, size, f"{kind}:{digest}", bool(entry.get("xetHash")))


AT_ONCE = 8
"""Small files fetched at the same time."""
MOST_RESUMES = 200
"""Most times that the download of one file is resumed, even if each makes progress."""

_BLOCK = 1024 * 1024


class Hasher(Protocol):
    """A hash object of `hashlib`."""

    def update(self, data: bytes, /) -> None:
        """Add bytes."""

    def hexdigest(self) -> str:
        """The hash of all of them."""


def hasher_for(file: HubFile) -> Hasher:
    """The hash function that the hub uses for the file's content."""
    if file.digest.startswith("sha256:"):
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)


def holds(path: Path, file: HubFile) -> bool:
    """Whether a local file is, byte for byte, the one that the hub lists."""
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
    """Download several files, a few at a time. The first failure stops the others."""
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
        finally:  # also if the user interrupts: running downloads end at their next block
            stop.set()
            pool.shutdown(cancel_futures=True)


def download(
    hub: Hub, ref: RepoRef, commit: str, file: HubFile, target: Path, stop: Event | None = None
) -> None:
    """Download one file to `target`, continuing after the bytes that are already there.

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
                f"{ref.uri}: {file.path} at commit {commit} was downloaded twice with content that does not match its hash "
                f"({file.digest}). Something between here and {hub.settings.endpoint} alters the data; nothing was kept"
            )


def file_end(hub: Hub, ref: RepoRef, commit: str, file: HubFile, count: int) -> bytes:
    """The last `count` bytes of a file, for formats that keep their index there. Empty if the hub would send it all."""
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
    """Download all bytes of a file, without checking them."""
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
                target.unlink(missing_ok=True)  # the local bytes do not match the file on the hub
            elif target.exists() and target.stat().st_size > have:
                patience.progressed()
            patience.wait(failure)
    raise HubUnreachableError(f"{file.path} broke off {MOST_RESUMES} times")


def _by_xet(hub: Hub, url: str, file: HubFile, target: Path) -> bool:
    """Download a file by the Xet protocol, if possible. Returns whether it was."""
    data = hub.client.xet_file(url) if file.xet else None
    if data is None:
        return False
    try:
        hub.client.fetch_xet(url, data, target, file.size)
    except Exception:
        # Even if the hub, or a mirror of it, can be reached, the storage of Xet may be out of reach.
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
                    return  # not the file that was listed; the hash check will fail
    if arrived < size:
        raise HubUnreachableError(f"the body broke off after {arrived} of {size} bytes")
