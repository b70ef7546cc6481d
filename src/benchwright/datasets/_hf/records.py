"""What this machine knows of a dataset's commits, so that it can be read again without network.

Our own records keep the commit of each branch or tag with the time of its look-up, and the files of each commit. Every
record has a hash of itself: a damaged record goes to quarantine, and is fetched again. The cache of the
`huggingface_hub` library is read for files that it has already, and never written:

    <hub cache>/datasets--<org>--<name>/refs/<revision>             text: the commit
                                       /snapshots/<commit>/<path>   links to ../blobs/<hash>
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from benchwright.core import JsonObject, content_hash
from benchwright.datasets._hf.disk import set_aside, write_whole
from benchwright.datasets._hf.hub import COMMIT, HubFile

VERSION = 1
"""Of the records; others are not read."""


class StoredRef(Struct, frozen=True):
    """The commit of a branch or tag at its last look-up."""

    commit: str
    """The commit."""
    at: str
    """When, in UTC."""


class Records:
    """The records of one dataset."""

    def __init__(self, cache: Path, repo: str) -> None:
        self.folder = cache / "hf" / folder_name(repo)
        """Everything kept of the dataset."""
        self.quarantine = cache / "hf" / "quarantine"
        """Where damaged files go."""

    def ref(self, revision: str | None) -> StoredRef | None:
        """The commit of a revision at its last look-up, if there was one."""
        found = self._read(self._ref_path(revision))
        commit, at = (found or {}).get("commit"), (found or {}).get("at")
        return StoredRef(commit, at) if isinstance(commit, str) and isinstance(at, str) else None

    def keep_ref(self, revision: str | None, commit: str) -> None:
        """Keeps the commit of a revision."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(self._ref_path(revision), {"commit": commit, "at": now})

    def commit(self, commit: str, what: str) -> JsonObject | None:
        """What is known of a commit: its `files`, its `export`, …"""
        return self._read(self.folder / "commits" / f"{commit}.{what}.json")

    def keep_commit(self, commit: str, what: str, body: JsonObject) -> None:
        """Keeps something about a commit."""
        self._write(self.folder / "commits" / f"{commit}.{what}.json", body)

    def commits(self) -> list[str]:
        """The commits whose files are known."""
        found = (self.folder / "commits").glob("*.files.json")
        return sorted(name for path in found if COMMIT.fullmatch(name := path.name.partition(".")[0]))

    def _ref_path(self, revision: str | None) -> Path:
        return self.folder / "refs" / f"{quote(revision or 'main', safe='')}.json"

    def _write(self, path: Path, body: JsonObject) -> None:
        record = {"version": VERSION, "hash": content_hash(body), "body": body}
        with suppress(
            OSError
        ):  # a missing record costs one request; a full disk is reported when rows are written
            write_whole(path, json.dumps(record, ensure_ascii=False, indent=1).encode())

    def _read(self, path: Path) -> JsonObject | None:
        try:
            text = path.read_bytes()
        except OSError:
            return None
        with suppress(ValueError, RecursionError):
            record = json.loads(text)
            if isinstance(record, dict) and isinstance(body := record.get("body"), dict):
                if record.get("version") != VERSION:
                    return None
                if record.get("hash") == content_hash(body):
                    return body
        with suppress(OSError):
            set_aside(path, self.quarantine, "the record does not match its own hash")
        return None


def folder_name(repo: str) -> str:
    """`org--name`, safe as the name of a folder.

    >>> folder_name("org/name")
    'org--name'
    """
    return quote(repo.replace("/", "--"), safe="")


def _home(hub_cache: Path, repo: str) -> Path:
    return hub_cache / f"datasets--{repo.replace('/', '--')}"


def snapshot(hub_cache: Path, repo: str, commit: str) -> Path | None:
    """The folder of exactly that commit, if any of its files are there."""
    folder = _home(hub_cache, repo) / "snapshots" / commit
    return folder if folder.is_dir() else None


def snapshot_commits(hub_cache: Path, repo: str) -> list[str]:
    """The commits of which files are there."""
    try:
        names = os.listdir(_home(hub_cache, repo) / "snapshots")
    except OSError:
        return []
    return sorted(name for name in names if COMMIT.fullmatch(name))


def snapshot_ref(hub_cache: Path, repo: str, revision: str | None) -> str | None:
    """The commit that the library last saw for a revision."""
    try:
        text = (_home(hub_cache, repo) / "refs" / (revision or "main")).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return text if COMMIT.fullmatch(text) else None


def snapshot_files(folder: Path) -> list[HubFile]:
    """The files of a snapshot. Each is a link to a blob named by the hash the hub announced."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = os.path.basename(os.path.realpath(path))
        kind = {40: "git", 64: "sha256"}.get(len(name))
        if kind and all(char in "0123456789abcdef" for char in name):
            found.append(HubFile(path.relative_to(folder).as_posix(), path.stat().st_size, f"{kind}:{name}"))
    return found
