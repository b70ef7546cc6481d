"""Loaders: the sources of the rows of a commit. Each offers configurations, their splits, and parts to fetch.

In order of preference: the repository's files, the hub's Parquet export of the same commit, the dataset viewer. The
`datasets` library is used only on request, because it alters values.

The export is the branch `refs/convert/parquet`, made for datasets in any form, scripts included. It follows the default
branch and does not say from which commit it was made; the viewer does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import DatasetError, JsonObject, data_format
from benchwright.datasets._hf.commits import Listing, Records, snapshot
from benchwright.datasets._hf.errors import HubUnreachableError, RepoRef
from benchwright.datasets._hf.hub import Hub, HubFile
from benchwright.datasets._hf.layout import Config, card_configs, exported_configs, named_files, repo_configs
from benchwright.datasets._hf.parts import FileOrigin, file_parts
from benchwright.datasets._hf.row_cache import Part
from benchwright.datasets._hf.viewer import Viewer, viewer_parts
from benchwright.datasets._hf_uri import HfUri, LoaderName


class Loader(Struct, frozen=True):
    """A source of the rows of a commit."""

    name: LoaderName
    """Its name in URIs."""
    configs: Sequence[Config]
    """The configurations that it offers."""
    parts: Callable[[Config, str], tuple[Part, ...]]
    """Returns a split in parts, in order."""
    facts: JsonObject = {}
    """Facts to record in addition to commit, configuration and split."""


class PinnedDataset(Struct, frozen=True):
    """A dataset at one commit, with everything that loaders need."""

    uri: HfUri
    hub: Hub
    records: Records
    """The records of this machine about it."""
    ref: RepoRef
    """What the user named, under the repository's present name."""
    commit: str
    """The commit to read."""
    listing: Listing
    """Its files."""
    note: str | None
    """A note about how the commit was found."""

    def origin(self, commit: str | None = None) -> FileOrigin:
        """Where files are read, at the pinned commit or at that of the export."""
        ref = replace(self.ref, repo=self.listing.repo)
        at = commit or self.commit
        theirs = snapshot(self.hub.settings.hub_cache, self.listing.repo, at)
        return FileOrigin(self.hub, ref, at, theirs)


def files_loader(dataset: PinnedDataset) -> Loader:
    """The loader for the repository's files; `data_files` of the URI overrides card and paths."""
    uri, listing, origin = dataset.uri, dataset.listing, dataset.origin()
    by_path = {file.path: file for file in listing.files}
    text = dataset.ref.uri
    if uri.data_files is not None:
        found = named_files(text, uri.data_files, list(by_path))
        configs = [Config(uri.config or "default", {"": found})]
    else:
        configs = repo_configs(card_configs(text, listing.front), list(by_path))

    def parts(config: Config, split: str) -> tuple[Part, ...]:
        files = [by_path[path] for path in config.splits[split]]
        if uri.field is not None and not any(_is_json(file) for file in files):
            raise DatasetError(
                f"{origin.ref.uri}: field={uri.field} is for JSON files; split {split!r} is made of {files[0].path}. Leave it out"
            )
        return file_parts(origin, files, uri.field or config.field, config.delimiter)

    return Loader("files", configs, parts)


def _is_json(file: HubFile) -> bool:
    found = data_format(file.path, hub=True)
    return found is not None and found.name in ("json", "jsonl")


def export_loader(dataset: PinnedDataset) -> Loader:
    """The loader for the hub's Parquet export of the pinned commit. Raises DatasetError when there is none."""
    ref = dataset.origin().ref
    commit, files = find_export(dataset.hub, dataset.records, ref, dataset.commit)
    by_path = {file.path: file for file in files}
    found = exported_configs(by_path)
    if not found:
        raise DatasetError(f"{ref.uri}: the Parquet export of the hub is empty")
    origin = dataset.origin(commit)

    def parts(config: Config, split: str) -> tuple[Part, ...]:
        return file_parts(origin, [by_path[path] for path in config.splits[split]])

    whole = [
        replace(config, splits={name: paths for name, paths in config.splits.items() if not _is_part(name)})
        for config in found
    ]
    return Loader("export", whole, parts, {"export_commit": commit})


def viewer_loader(dataset: PinnedDataset) -> Loader:
    """The loader for the viewer. Raises DatasetError if it shows nothing or another commit than the pinned one."""
    commit, records = dataset.commit, dataset.records
    viewer = Viewer(dataset.hub, dataset.origin().ref, commit)
    record = records.commit(commit, "viewer")
    known = record.get("splits") if record else None
    if not isinstance(known, dict):
        if dataset.hub.settings.offline:
            raise DatasetError(f"{dataset.ref.uri}: what the viewer shows is not in the cache")
        known = {config: list(splits) for config, splits in viewer.splits().items()}
        records.keep_commit(commit, "viewer", {"splits": known})
    configs = [
        Config(str(config), {str(split): () for split in splits})
        for config, splits in known.items()
        if isinstance(splits, list)
    ]

    def parts(config: Config, split: str) -> tuple[Part, ...]:
        """A split, in blocks of rows. Their number is recorded for offline use."""
        key = f"viewer-rows-{config.name}-{split}".replace("/", "-")
        record = records.commit(commit, key)
        rows = record.get("rows") if record else None
        if not isinstance(rows, int):
            rows = viewer.rows(config.name, split)
            records.keep_commit(commit, key, {"rows": rows})
        return viewer_parts(viewer, config.name, split, rows)

    return Loader("viewer", configs, parts, {"viewer": dataset.hub.settings.viewer})


BRANCH = "refs/convert/parquet"
"""The branch of the export."""


def find_export(hub: Hub, records: Records, ref: RepoRef, commit: str) -> tuple[str, tuple[HubFile, ...]]:
    """The export that was made from a commit: the commit of the export branch, and its files. Raises DatasetError when there is none, or when nothing confirms its commit."""
    record = records.commit(commit, "export")
    if record is not None and (known := _from_record(record)):
        return known
    if hub.settings.offline:
        raise DatasetError(f"{ref.uri}: the export of commit {commit} is not in the cache")
    viewer = Viewer(hub, ref, commit)
    viewer.get("parquet")
    branch = replace(ref, revision=BRANCH)
    try:
        _, listed = hub.info(branch)
        files = hub.files(branch, listed)
    except HubUnreachableError as failure:
        raise hub.complaint(failure, ref) from failure
    viewer.get("parquet")  # still of the same commit, so the files listed in between are too
    body: JsonObject = {"commit": listed, "files": [file.to_json() for file in files]}
    records.keep_commit(commit, "export", body)
    return listed, tuple(files)


def _is_part(split: str) -> bool:
    return split.startswith("partial-")


def _from_record(record: JsonObject) -> tuple[str, tuple[HubFile, ...]] | None:
    commit, files = record.get("commit"), record.get("files")
    if not isinstance(commit, str) or not isinstance(files, list):
        return None
    try:
        return commit, tuple(map(HubFile.from_json, files))
    except ValueError:
        return None
