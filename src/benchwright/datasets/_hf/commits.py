"""Which commit a revision stands for, and which files it holds: as recorded, else as the hub says."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchwright.core import DatasetError, JsonObject
from benchwright.datasets._hf.card import CARD, front_matter
from benchwright.datasets._hf.complaints import Asked, HubError
from benchwright.datasets._hf.download import hasher_for
from benchwright.datasets._hf.failures import HubRefusedError, HubUnreachableError
from benchwright.datasets._hf.hub import COMMIT, Hub, HubFile
from benchwright.datasets._hf.records import Records
from benchwright.datasets._hf.shared import looked_up
from benchwright.datasets._hf.snapshots import snapshot, snapshot_commits, snapshot_files, snapshot_ref


@dataclass(frozen=True, slots=True)
class Pinned:
    """A dataset at one commit."""

    asked: Asked
    """What was asked for, under the repository's present name."""
    commit: str
    """The commit."""
    note: str | None = None
    """What must be said about how the commit was found."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a commit holds."""

    repo: str
    """The repository's present name."""
    files: tuple[HubFile, ...]
    """All its files, by path."""
    front: str
    """The YAML of its card."""
    note: str | None = None
    """What must be said about where this was learned."""


def pin(hub: Hub, records: Records, asked: Asked) -> Pinned:
    """The commit to read. Raises DatasetError when it cannot be told, and never takes another in its place."""
    if asked.revision is not None and COMMIT.fullmatch(asked.revision):
        return Pinned(asked, asked.revision)
    key = asked.repo if asked.revision is None else f"{asked.repo}@{asked.revision}"
    shared = looked_up.get()
    if shared is not None and (commit := shared.get(key)):
        return Pinned(asked, commit)
    pinned = _stored(hub, records, asked) if hub.settings.offline else _looked_up_now(hub, records, asked)
    if shared is not None:
        shared.keep(key, pinned.commit)
    return pinned


def listing(hub: Hub, records: Records, pinned: Pinned) -> Listing:
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
            hub, records, pinned.asked, pinned.commit, hub.complaint(failure, pinned.asked)
        ) from failure
    body: JsonObject = {
        "repo": fresh.repo,
        "endpoint": hub.settings.endpoint,
        "files": [file.to_json() for file in fresh.files],
        "card": fresh.front,
    }
    records.keep_commit(pinned.commit, "files", body)
    return fresh


def _looked_up_now(hub: Hub, records: Records, asked: Asked) -> Pinned:
    try:
        info = hub.info(asked)
    except HubUnreachableError as failure:
        stored = records.ref(asked.revision)
        if stored is None:
            raise _absent(hub, records, asked, None, hub.complaint(failure, asked)) from failure
        return Pinned(
            asked,
            stored.commit,
            f"the hub could not be reached ({failure}): {asked.revision or 'main'} is taken to be commit "
            f"{stored.commit}, as looked up on {stored.at}",
        )
    records.keep_ref(asked.revision, info.commit)
    note = None if info.repo == asked.repo else f"{asked.repo} is now called {info.repo}"
    return Pinned(replace(asked, repo=info.repo), info.commit, note)


def _stored(hub: Hub, records: Records, asked: Asked) -> Pinned:
    stored = records.ref(asked.revision)
    commit = stored.commit if stored else snapshot_ref(hub.settings.hub_cache, asked.repo, asked.revision)
    if commit is None:
        raise _absent(hub, records, asked, None)
    when = f"looked up on {stored.at}" if stored else "the hub client's cache has it"
    return Pinned(
        asked,
        commit,
        f"offline ({hub.settings.offline}): {asked.revision or 'main'} is taken to be commit {commit}, as {when}",
    )


def _from_hub(hub: Hub, pinned: Pinned) -> Listing:
    asked = pinned.asked
    if asked.revision is not None and COMMIT.fullmatch(asked.revision):
        info = hub.info(asked)  # says whether dataset and commit exist, and the name it has now
        asked = replace(asked, repo=info.repo)
    files = hub.files(asked, pinned.commit)
    card = next((file for file in files if file.path == CARD), None)
    return Listing(asked.repo, tuple(files), _front(hub, asked, pinned.commit, card) if card else "")


def _front(hub: Hub, asked: Asked, commit: str, card: HubFile) -> str:
    for _ in range(2):
        try:
            body = hub.client.whole(hub.address(asked.repo, commit, card.path)).body
        except HubRefusedError as failure:
            raise hub.complaint(failure, asked) from None
        digest = hasher_for(card)
        digest.update(body)
        if digest.hexdigest() == card.digest.partition(":")[2]:
            return front_matter(body.decode("utf-8", "replace"))
    raise DatasetError(
        f"{asked.uri}: {card.path} at commit {commit} arrived twice with content that is not its own"
    )


def _from_record(record: JsonObject) -> Listing | None:
    repo, files, card = record.get("repo"), record.get("files"), record.get("card")
    if not isinstance(repo, str) or not isinstance(files, list) or not isinstance(card, str):
        return None
    try:
        return Listing(repo, tuple(map(HubFile.from_json, files)), card)
    except ValueError:
        return None


def _from_snapshot(hub: Hub, records: Records, pinned: Pinned) -> Listing:
    """What the hub's own library has of exactly that commit. It may lack files, so that is said."""
    repo = pinned.asked.repo
    folder = snapshot(hub.settings.hub_cache, repo, pinned.commit)
    files = snapshot_files(folder) if folder else []
    if folder is None or not files:
        raise _absent(hub, records, pinned.asked, pinned.commit)
    card = folder / CARD
    front = front_matter(card.read_text(encoding="utf-8", errors="replace")) if card.is_file() else ""
    note = f"only the {len(files)} files in {folder} are known, since {hub.settings.offline} is set"
    return Listing(repo, tuple(files), front, note)


def _absent(
    hub: Hub, records: Records, asked: Asked, commit: str | None, why: HubError | None = None
) -> DatasetError:
    """Nothing that was asked for is here; what is here is named, and not taken in its place."""
    here = sorted({*records.commits(), *snapshot_commits(hub.settings.hub_cache, asked.repo)})
    shown = f"The cache has these commits of it: {', '.join(here)} (choose one with revision=<commit>)"
    present = shown if here else "The cache has no commit of it"
    if why is not None:
        return HubError(f"{why}. {present}", why.kind) if here else why
    what = f"commit {commit}" if commit else f"what {asked.revision or 'main'} stands for"
    return DatasetError(
        f"{asked.uri}: {hub.settings.offline} is set, and {what} is not in the cache. {present}. "
        f"Unset {hub.settings.offline} to fetch it"
    )
