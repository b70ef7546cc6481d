"""The commit of a revision and the files of a commit: from our records, else from the hub."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct

from benchwright.core import DatasetError, JsonObject
from benchwright.datasets._hf.card import CARD, front_matter
from benchwright.datasets._hf.download import hasher_for
from benchwright.datasets._hf.errors import HubError, HubRefusedError, HubUnreachableError, RepoRef
from benchwright.datasets._hf.hub import COMMIT, Hub, HubFile
from benchwright.datasets._hf.pins import pinned_commits
from benchwright.datasets._hf.records import Records, snapshot, snapshot_commits, snapshot_files, snapshot_ref


class PinnedRepo(Struct, frozen=True):
    """A repository at one commit."""

    ref: RepoRef
    """What the user named, under the repository's present name."""
    commit: str
    """The commit."""
    note: str | None = None
    """A note about how the commit was found."""


class Listing(Struct, frozen=True):
    """What a commit holds."""

    repo: str
    """The repository's present name."""
    files: tuple[HubFile, ...]
    """All its files, by path."""
    front: str
    """The YAML of its card."""
    note: str | None = None
    """A note about where this comes from."""


def pin(hub: Hub, records: Records, ref: RepoRef) -> PinnedRepo:
    """The commit to read. Raises DatasetError when it is unknown; never returns another one instead."""
    if ref.revision is not None and COMMIT.fullmatch(ref.revision):
        return PinnedRepo(ref, ref.revision)
    key = ref.repo if ref.revision is None else f"{ref.repo}@{ref.revision}"
    shared = pinned_commits.get()
    if shared is not None and (commit := shared.get(key)):
        return PinnedRepo(ref, commit)
    pinned = _stored(hub, records, ref) if hub.settings.offline else _looked_up_now(hub, records, ref)
    if shared is not None:
        shared.keep(key, pinned.commit)
    return pinned


def listing(hub: Hub, records: Records, pinned: PinnedRepo) -> Listing:
    """The files and the card of a commit: as recorded, else from the hub."""
    record = records.commit(pinned.commit, "files")
    known = _from_record(record) if record else None
    offline = hub.settings.offline
    if known and record and (offline or record.get("endpoint") == hub.settings.endpoint):
        return known
    if offline:
        return _from_snapshot(hub, records, pinned)
    try:
        fresh = _from_hub(hub, pinned)
    except HubUnreachableError as failure:
        if known:
            return known  # learned elsewhere, but a commit's content is the same everywhere
        raise _absent(
            hub, records, pinned.ref, pinned.commit, hub.complaint(failure, pinned.ref)
        ) from failure
    body: JsonObject = {
        "repo": fresh.repo,
        "endpoint": hub.settings.endpoint,
        "files": [file.to_json() for file in fresh.files],
        "card": fresh.front,
    }
    records.keep_commit(pinned.commit, "files", body)
    return fresh


def _looked_up_now(hub: Hub, records: Records, ref: RepoRef) -> PinnedRepo:
    try:
        info = hub.info(ref)
    except HubUnreachableError as failure:
        stored = records.ref(ref.revision)
        if stored is None:
            raise _absent(hub, records, ref, None, hub.complaint(failure, ref)) from failure
        return PinnedRepo(
            ref,
            stored.commit,
            f"the hub could not be reached ({failure}): {ref.revision or 'main'} is taken to be commit "
            f"{stored.commit}, as looked up on {stored.at}",
        )
    records.keep_ref(ref.revision, info.commit)
    note = None if info.repo == ref.repo else f"{ref.repo} is now called {info.repo}"
    return PinnedRepo(replace(ref, repo=info.repo), info.commit, note)


def _stored(hub: Hub, records: Records, ref: RepoRef) -> PinnedRepo:
    stored = records.ref(ref.revision)
    commit = stored.commit if stored else snapshot_ref(hub.settings.hub_cache, ref.repo, ref.revision)
    if commit is None:
        raise _absent(hub, records, ref, None)
    when = f"looked up on {stored.at}" if stored else "the hub client's cache has it"
    return PinnedRepo(
        ref,
        commit,
        f"offline ({hub.settings.offline}): {ref.revision or 'main'} is taken to be commit {commit}, as {when}",
    )


def _from_hub(hub: Hub, pinned: PinnedRepo) -> Listing:
    ref = pinned.ref
    if ref.revision is not None and COMMIT.fullmatch(ref.revision):
        info = hub.info(ref)  # whether dataset and commit exist, and its present name
        ref = replace(ref, repo=info.repo)
    files = hub.files(ref, pinned.commit)
    card = next((file for file in files if file.path == CARD), None)
    return Listing(ref.repo, tuple(files), _front(hub, ref, pinned.commit, card) if card else "")


def _front(hub: Hub, ref: RepoRef, commit: str, card: HubFile) -> str:
    for _ in range(2):
        try:
            body = hub.client.whole(hub.address(ref.repo, commit, card.path)).body
        except HubRefusedError as failure:
            raise hub.complaint(failure, ref) from None
        digest = hasher_for(card)
        digest.update(body)
        if digest.hexdigest() == card.digest.partition(":")[2]:
            return front_matter(body.decode("utf-8", "replace"))
    raise DatasetError(
        f"{ref.uri}: {card.path} at commit {commit} arrived twice with content that is not its own"
    )


def _from_record(record: JsonObject) -> Listing | None:
    repo, files, card = record.get("repo"), record.get("files"), record.get("card")
    if not isinstance(repo, str) or not isinstance(files, list) or not isinstance(card, str):
        return None
    try:
        return Listing(repo, tuple(map(HubFile.from_json, files)), card)
    except ValueError:
        return None


def _from_snapshot(hub: Hub, records: Records, pinned: PinnedRepo) -> Listing:
    """What the cache of `huggingface_hub` has of exactly that commit. Files may be missing, so a note says so."""
    repo = pinned.ref.repo
    folder = snapshot(hub.settings.hub_cache, repo, pinned.commit)
    files = snapshot_files(folder) if folder else []
    if folder is None or not files:
        raise _absent(hub, records, pinned.ref, pinned.commit)
    card = folder / CARD
    front = front_matter(card.read_text(encoding="utf-8", errors="replace")) if card.is_file() else ""
    note = f"only the {len(files)} files in {folder} are known, since {hub.settings.offline} is set"
    return Listing(repo, tuple(files), front, note)


def _absent(
    hub: Hub, records: Records, ref: RepoRef, commit: str | None, why: HubError | None = None
) -> DatasetError:
    """The error for a commit that is not in the cache. Lists those that are; none is used instead."""
    here = sorted({*records.commits(), *snapshot_commits(hub.settings.hub_cache, ref.repo)})
    shown = f"The cache has these commits of it: {', '.join(here)} (choose one with revision=<commit>)"
    present = shown if here else "The cache has no commit of it"
    if why is not None:
        return HubError(f"{why}. {present}", why.kind) if here else why
    what = f"commit {commit}" if commit else f"what {ref.revision or 'main'} stands for"
    return DatasetError(
        f"{ref.uri}: {hub.settings.offline} is set, and {what} is not in the cache. {present}. "
        f"Unset {hub.settings.offline} to fetch it"
    )
