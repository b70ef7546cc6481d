"""Loaders: the sources of the rows of a commit. Each offers configurations, their splits, and parts to fetch.

In order of preference: the repository's files, the hub's Parquet export of the same commit, the dataset viewer. The
`datasets` library is used only on request, because it alters values.

The export is the branch `refs/convert/parquet`, made for datasets in any form, scripts included. It follows the default
branch and does not say from which commit it was made; the viewer does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import DatasetError, JsonObject, hub_format
from benchwright.datasets._hf.commits import Listing, PinnedRepo, Records, snapshot
from benchwright.datasets._hf.errors import HubUnreachableError, RepoRef
from benchwright.datasets._hf.hub import Hub, HubFile
from benchwright.datasets._hf.layout import Config, card_configs, exported_configs, named_files, repo_configs
from benchwright.datasets._hf.parts import FileOrigin, Reading, file_parts
from benchwright.datasets._hf.row_cache import Part
from benchwright.datasets._hf.viewer import Viewer, viewer_parts
from benchwright.datasets._hf_uri import HfUri, LoaderName


class Loader(Protocol):
    """A source of the rows of a commit."""

    @property
    def loader(self) -> LoaderName:
        """Its name in URIs."""

    @property
    def configs(self) -> Sequence[Config]:
        """The configurations."""

    def parts(self, config: Config, split: str) -> tuple[Part, ...]:
        """A split in parts, in order."""

    def facts(self) -> JsonObject:
        """Further facts to record in addition to commit, configuration and split."""


class FilesLoader(Struct, frozen=True):
    """The files of the repository."""

    origin: FileOrigin
    """Where they are."""
    listing: Listing
    """All of them."""
    configs: tuple[Config, ...]
    """The configurations that they form."""
    field: str | None
    """The `field` of the URI."""
    loader: LoaderName = "files"

    def parts(self, config: Config, split: str) -> tuple[Part, ...]:
        """The files of a split."""
        by_path = {file.path: file for file in self.listing.files}
        files = [by_path[path] for path in config.splits[split]]
        if self.field is not None and not any(_is_json(file) for file in files):
            raise DatasetError(
                f"{self.origin.ref.uri}: field={self.field} is for JSON files; split {split!r} is made of "
                f"{files[0].path}. Leave it out"
            )
        return file_parts(self.origin, files, Reading(self.field or config.field, config.delimiter))

    def facts(self) -> JsonObject:
        """Nothing more."""
        return {}


def _is_json(file: HubFile) -> bool:
    found = hub_format(file.path)
    return found is not None and found.name in ("json", "jsonl")


class ExportLoader(Struct, frozen=True):
    """The hub's Parquet export."""

    origin: FileOrigin
    """Where it is."""
    export: Export
    """Its content."""
    loader: LoaderName = "export"

    @property
    def configs(self) -> Sequence[Config]:
        """Configurations and splits that are exported whole."""
        return self.export.configs()

    def parts(self, config: Config, split: str) -> tuple[Part, ...]:
        """The files of a split."""
        by_path = {file.path: file for file in self.export.files}
        return file_parts(self.origin, [by_path[path] for path in config.splits[split]], Reading())

    def facts(self) -> JsonObject:
        """The commit of the export branch."""
        return {"export_commit": self.export.commit}


class ViewerLoader(Struct, frozen=True):
    """The dataset viewer."""

    viewer: Viewer
    records: Records
    """Where row counts are kept for offline use."""
    configs: tuple[Config, ...]
    """The configurations that it shows."""
    loader: LoaderName = "viewer"

    def parts(self, config: Config, split: str) -> tuple[Part, ...]:
        """A split, in blocks of rows."""
        key = f"viewer-rows-{config.name}-{split}".replace("/", "-")
        record = self.records.commit(self.viewer.commit, key)
        rows = record.get("rows") if record else None
        if not isinstance(rows, int):
            rows = self.viewer.rows(config.name, split)
            self.records.keep_commit(self.viewer.commit, key, {"rows": rows})
        return viewer_parts(self.viewer, config.name, split, rows)

    def facts(self) -> JsonObject:
        """The viewer's address."""
        return {"viewer": self.viewer.hub.settings.viewer}


class PinnedDataset(Struct, frozen=True):
    """A dataset at one commit, with everything that loaders need."""

    uri: HfUri
    hub: Hub
    records: Records
    """The records of this machine about it."""
    pinned: PinnedRepo
    """The commit."""
    listing: Listing
    """Its files."""

    def origin(self, commit: str | None = None) -> FileOrigin:
        """Where files are read, at the pinned commit or at that of the export."""
        ref = replace(self.pinned.ref, repo=self.listing.repo)
        at = commit or self.pinned.commit
        theirs = snapshot(self.hub.settings.hub_cache, self.listing.repo, at)
        return FileOrigin(self.hub, ref, at, theirs)


def files_loader(dataset: PinnedDataset) -> FilesLoader:
    """The loader for the repository's files; `data_files` of the URI overrides card and paths."""
    uri, listing = dataset.uri, dataset.listing
    paths = [file.path for file in listing.files]
    text = dataset.pinned.ref.uri
    if uri.data_files is not None:
        found = named_files(text, uri.data_files, paths)
        configs = [Config(uri.config or "default", {"": found})]
    else:
        configs = repo_configs(card_configs(text, listing.front), paths)
    return FilesLoader(dataset.origin(), listing, tuple(configs), uri.field)


def export_loader(dataset: PinnedDataset) -> ExportLoader:
    """The export of the pinned commit. Raises DatasetError when there is none."""
    origin = dataset.origin()
    found = find_export(dataset.hub, dataset.records, origin.ref, dataset.pinned.commit)
    if not found.configs():
        raise DatasetError(f"{origin.ref.uri}: the Parquet export of the hub is empty")
    return ExportLoader(dataset.origin(found.commit), found)


def viewer_loader(dataset: PinnedDataset) -> ViewerLoader:
    """The loader for the viewer. Raises DatasetError if it shows nothing or another commit than the pinned one."""
    commit = dataset.pinned.commit
    viewer = Viewer(dataset.hub, dataset.origin().ref, commit)
    record = dataset.records.commit(commit, "viewer")
    known = record.get("splits") if record else None
    if not isinstance(known, dict):
        if dataset.hub.settings.offline:
            raise DatasetError(f"{dataset.pinned.ref.uri}: what the viewer shows is not in the cache")
        known = {config: list(splits) for config, splits in viewer.splits().items()}
        dataset.records.keep_commit(commit, "viewer", {"splits": known})
    configs = [
        Config(str(config), {str(split): () for split in splits})
        for config, splits in known.items()
        if isinstance(splits, list)
    ]
    return ViewerLoader(viewer, dataset.records, tuple(configs))


BRANCH = "refs/convert/parquet"
"""The branch of the export."""


class Export(Struct, frozen=True):
    """The export of one commit."""

    commit: str
    """The commit of the export branch, at which the files are read."""
    files: tuple[HubFile, ...]

    def configs(self) -> list[Config]:
        """Configurations and splits. A split that is exported in part is left out."""
        found = exported_configs(file.path for file in self.files)
        return [
            replace(
                config, splits={name: paths for name, paths in config.splits.items() if not _is_part(name)}
            )
            for config in found
        ]


def find_export(hub: Hub, records: Records, ref: RepoRef, commit: str) -> Export:
    """The export that was made from a commit. Raises DatasetError when there is none, or when nothing confirms its commit."""
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
    return Export(listed, tuple(files))


def _is_part(split: str) -> bool:
    return split.startswith("partial-")


def _from_record(record: JsonObject) -> Export | None:
    commit, files = record.get("commit"), record.get("files")
    if not isinstance(commit, str) or not isinstance(files, list):
        return None
    try:
        return Export(commit, tuple(map(HubFile.from_json, files)))
    except ValueError:
        return None
