"""The commit of a revision and the files of a commit: from the records of this machine, else from the hub.

The records keep the commit of each branch or tag with the time of its look-up, and the files of each commit, so that a
dataset can be read again without network. Every record has a hash of itself: a damaged record goes to quarantine, and is
fetched again. The cache of the `huggingface_hub` library is read for files that it has already, and never written:

    <hub cache>/datasets--<org>--<name>/refs/<revision>             text: the commit
                                       /snapshots/<commit>/<path>   links to ../blobs/<hash>
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

from msgspec import Struct

from benchwright.core import DatasetError, JsonObject, content_hash
from benchwright.datasets._hf.errors import HubError, HubRefusedError, HubUnreachableError, RepoRef
from benchwright.datasets._hf.hub import COMMIT, Hub, HubFile, hasher_for
from benchwright.datasets._hf.layout import CARD, front_matter
from benchwright.datasets._hf.row_cache import set_aside, write_whole
from benchwright.datasets._hf_uri import pinned_commits

VERSION = 1
"""Version of the records; records of other versions are not read."""


class Records:
    """The records of one dataset."""

    def __init__(self, cache: Path, repo: str) -> None:
        self.folder = cache / "hf" / folder_name(repo)
        """The folder with everything kept of the dataset."""
        self.quarantine = cache / "hf" / "quarantine"
        """Where damaged files go."""

    def ref(self, revision: str | None) -> tuple[str, str] | None:
        """The commit of a revision at its last look-up, and when that was, in UTC; None if there was none."""
        found = self._read(self._ref_path(revision))
        commit, at = (found or {}).get("commit"), (found or {}).get("at")
        return (commit, at) if isinstance(commit, str) and isinstance(at, str) else None

    def keep_ref(self, revision: str | None, commit: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(self._ref_path(revision), {"commit": commit, "at": now})

    def commit(self, commit: str, what: str) -> JsonObject | None:
        """A record about a commit: its `files`, its `export`, …"""
        return self._read(self.folder / "commits" / f"{commit}.{what}.json")

    def keep_commit(self, commit: str, what: str, body: JsonObject) -> None:
        """Record a fact about a commit."""
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


class Listing(Struct, frozen=True):
    """The content of a commit."""

    repo: str
    """The repository's present name."""
    files: tuple[HubFile, ...]
    """All its files, by path."""
    front: str
    """The YAML of its card."""
    note: str | None = None
    """A note about where this comes from."""


Pinned: TypeAlias = tuple[RepoRef, str, str | None]
"""A repository under its present name, the commit to read, and a note about how the commit was found."""


def pin(hub: Hub, records: Records, ref: RepoRef) -> Pinned:
    """The commit to read. Raises DatasetError if it is unknown; never returns another one instead."""
    if ref.revision is not None and COMMIT.fullmatch(ref.revision):
        return ref, ref.revision, None
    key = ref.repo if ref.revision is None else f"{ref.repo}@{ref.revision}"
    shared = pinned_commits.get()
    if shared is not None and (commit := shared.get(key)):
        return ref, commit, None
    pinned = _stored(hub, records, ref) if hub.settings.offline else _looked_up_now(hub, records, ref)
    if shared is not None:
        shared.keep(key, pinned[1])
    return pinned


def listing(hub: Hub, records: Records, ref: RepoRef, commit: str) -> Listing:
    """The files and the card of a commit: as recorded, else from the hub."""
    record = records.commit(commit, "files")
    known = _from_record(record) if record else None
    offline = hub.settings.offline
    if known and record and (offline or record.get("endpoint") == hub.settings.endpoint):
        return known
    if offline:
        return _from_snapshot(hub, records, ref, commit)
    try:
        fresh = _from_hub(hub, ref, commit)
    except HubUnreachableError as failure:
        if known:
            return known  # learned elsewhere, but a commit's content is the same everywhere
        raise _absent(hub, records, ref, commit, hub.complaint(failure, ref)) from failure
    body: JsonObject = {
        "repo": fresh.repo,
        "endpoint": hub.settings.endpoint,
        "files": [file.to_json() for file in fresh.files],
        "card": fresh.front,
    }
    records.keep_commit(commit, "files", body)
    return fresh


def _looked_up_now(hub: Hub, records: Records, ref: RepoRef) -> Pinned:
    try:
        present, commit = hub.info(ref)
    except HubUnreachableError as failure:
        stored = records.ref(ref.revision)
        if stored is None:
            raise _absent(hub, records, ref, None, hub.complaint(failure, ref)) from failure
        commit, at = stored
        return (
            ref,
            commit,
            f"the hub could not be reached ({failure}): {ref.revision or 'main'} is taken to be commit {commit}, as looked up on {at}",
        )
    records.keep_ref(ref.revision, commit)
    note = None if present == ref else f"{ref.repo} is now called {present.repo}"
    return present, commit, note


def _stored(hub: Hub, records: Records, ref: RepoRef) -> Pinned:
    stored = records.ref(ref.revision)
    commit = stored[0] if stored else snapshot_ref(hub.settings.hub_cache, ref.repo, ref.revision)
    if commit is None:
        raise _absent(hub, records, ref, None)
    when = f"looked up on {stored[1]}" if stored else "the hub client's cache has it"
    return (
        ref,
        commit,
        f"offline ({hub.settings.offline}): {ref.revision or 'main'} is taken to be commit {commit}, as {when}",
    )


def _from_hub(hub: Hub, ref: RepoRef, commit: str) -> Listing:
    if ref.revision is not None and COMMIT.fullmatch(ref.revision):
        ref, _ = hub.info(ref)  # whether dataset and commit exist, and its present name
    files = hub.files(ref, commit)
    card = next((file for file in files if file.path == CARD), None)
    return Listing(ref.repo, tuple(files), _front(hub, ref, commit, card) if card else "")


def _front(hub: Hub, ref: RepoRef, commit: str, card: HubFile) -> str:
    for _ in range(2):
        try:
            body, _ = hub.client.whole(hub.address(ref.repo, commit, card.path))
        except HubRefusedError as failure:
            raise hub.complaint(failure, ref) from None
        digest = hasher_for(card)
        digest.update(body)
        if digest.hexdigest() == card.digest.partition(":")[2]:
            return front_matter(body.decode("utf-8", "replace"))
    raise DatasetError(
        f"{ref.uri}: {card.path} at commit {commit} was downloaded twice with content that does not match it"
    )


def _from_record(record: JsonObject) -> Listing | None:
    repo, files, card = record.get("repo"), record.get("files"), record.get("card")
    if not isinstance(repo, str) or not isinstance(files, list) or not isinstance(card, str):
        return None
    try:
        return Listing(repo, tuple(map(HubFile.from_json, files)), card)
    except ValueError:
        return None


def _from_snapshot(hub: Hub, records: Records, ref: RepoRef, commit: str) -> Listing:
    """The files of exactly that commit in the cache of `huggingface_hub`. Some may be missing, so a note says so."""
    folder = snapshot(hub.settings.hub_cache, ref.repo, commit)
    files = snapshot_files(folder) if folder else []
    if folder is None or not files:
        raise _absent(hub, records, ref, commit)
    card = folder / CARD
    front = front_matter(card.read_text(encoding="utf-8", errors="replace")) if card.is_file() else ""
    note = f"only the {len(files)} files in {folder} are known, since {hub.settings.offline} is set"
    return Listing(ref.repo, tuple(files), front, note)


def _absent(
    hub: Hub, records: Records, ref: RepoRef, commit: str | None, why: HubError | None = None
) -> DatasetError:
    """The error for a commit that is not in the cache. Lists those that are; none is used instead."""
    here = sorted({*records.commits(), *snapshot_commits(hub.settings.hub_cache, ref.repo)})
    shown = (
        f"The cache has these commits of the dataset: {', '.join(here)} (choose one with revision=<commit>)"
    )
    present = shown if here else "The cache has no commit of this dataset"
    if why is not None:
        return HubError(f"{why}. {present}", why.kind) if here else why
    what = f"commit {commit}" if commit else f"the commit of {ref.revision or 'main'}"
    return DatasetError(
        f"{ref.uri}: {hub.settings.offline} is set, and {what} is not in the cache. {present}. "
        f"Unset {hub.settings.offline} to fetch it"
    )
