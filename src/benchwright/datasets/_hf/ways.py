"""The ways to a dataset's rows, all giving the same: configurations, their splits, and parts to fetch.

In order of preference: the repository's own files, the hub's Parquet export of the same commit, the dataset viewer. The
`datasets` library is a further way, taken only on request because it alters values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from benchwright.core import DatasetError, JsonObject
from benchwright.datasets._hf.card import card_configs
from benchwright.datasets._hf.commits import Listing, Pinned
from benchwright.datasets._hf.export import Export, find_export
from benchwright.datasets._hf.hub import Hub
from benchwright.datasets._hf.layout import Config, format_of, named_files, repo_configs
from benchwright.datasets._hf.parsers import Reading
from benchwright.datasets._hf.parts import Origin, file_parts
from benchwright.datasets._hf.records import Records
from benchwright.datasets._hf.row_cache import Part
from benchwright.datasets._hf.snapshots import snapshot
from benchwright.datasets._hf.viewer import Viewer, viewer_parts
from benchwright.datasets._hf_uri import HfUri, Loader


class Way(Protocol):
    """One way to the rows of a commit."""

    @property
    def loader(self) -> Loader:
        """Its name in URIs."""

    @property
    def configs(self) -> Sequence[Config]:
        """What there is."""

    def parts(self, config: Config, split: str) -> tuple[Part, ...]:
        """A split in parts, in order."""

    def facts(self) -> JsonObject:
        """What the record should hold besides commit, configuration and split."""


@dataclass(frozen=True, slots=True)
class FilesWay:
    """The repository's own files."""

    origin: Origin
    """Where they are."""
    listing: Listing
    """All of them."""
    configs: tuple[Config, ...]
    """What they make up."""
    field: str | None
    """The URI's own `field`."""
    loader: Loader = "files"
    """This way."""

    def parts(self, config: Config, split: str) -> tuple[Part, ...]:
        """The files of a split."""
        by_path = {file.path: file for file in self.listing.files}
        files = [by_path[path] for path in config.splits[split]]
        if self.field is not None and not any(format_of(file.path) in ("json", "jsonl") for file in files):
            raise DatasetError(
                f"{self.origin.asked.uri}: field={self.field} is for JSON files; split {split!r} is made of "
                f"{files[0].path}. Leave it out"
            )
        return file_parts(self.origin, files, Reading(self.field or config.field, config.delimiter))

    def facts(self) -> JsonObject:
        """Nothing more."""
        return {}


@dataclass(frozen=True, slots=True)
class ExportWay:
    """The hub's Parquet export."""

    origin: Origin
    """Where it is."""
    export: Export
    """What it holds."""
    loader: Loader = "export"
    """This way."""

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


@dataclass(frozen=True, slots=True)
class ViewerWay:
    """The dataset viewer."""

    viewer: Viewer
    """Who is asked."""
    records: Records
    """Where numbers of rows are kept for offline use."""
    configs: tuple[Config, ...]
    """What it shows."""
    loader: Loader = "viewer"
    """This way."""

    def parts(self, config: Config, split: str) -> tuple[Part, ...]:
        """A split, in runs of rows."""
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


@dataclass(frozen=True, slots=True)
class Place:
    """A pinned dataset and all that ways need."""

    uri: HfUri
    """What was asked for."""
    hub: Hub
    """The hub."""
    records: Records
    """What is known already."""
    pinned: Pinned
    """The commit."""
    listing: Listing
    """Its files."""

    def origin(self, commit: str | None = None) -> Origin:
        """Where files are read, at the pinned commit or at that of the export."""
        asked = replace(self.pinned.asked, repo=self.listing.repo)
        at = commit or self.pinned.commit
        theirs = snapshot(self.hub.settings.hub_cache, self.listing.repo, at)
        return Origin(self.hub, asked, at, theirs)


def files_way(place: Place) -> FilesWay:
    """The repository's own files; `data_files` of the URI goes before all that card and paths say."""
    uri, listing = place.uri, place.listing
    paths = [file.path for file in listing.files]
    text = place.pinned.asked.uri
    if uri.data_files is not None:
        found = named_files(text, uri.data_files, paths)
        configs = [Config(uri.config or "default", {"": found})]
    else:
        configs = repo_configs(card_configs(text, listing.front), paths)
    return FilesWay(place.origin(), listing, tuple(configs), uri.field)


def export_way(place: Place) -> ExportWay:
    """The export of the pinned commit. Raises DatasetError when there is none."""
    origin = place.origin()
    found = find_export(place.hub, place.records, origin.asked, place.pinned.commit)
    if not found.configs():
        raise DatasetError(f"{origin.asked.uri}: the Parquet export of the hub is empty")
    return ExportWay(place.origin(found.commit), found)


def viewer_way(place: Place) -> ViewerWay:
    """What the viewer shows of the pinned commit. Raises DatasetError when it shows nothing or another commit."""
    commit = place.pinned.commit
    viewer = Viewer(place.hub, place.origin().asked, commit)
    record = place.records.commit(commit, "viewer")
    known = record.get("splits") if record else None
    if not isinstance(known, dict):
        if place.hub.settings.offline:
            raise DatasetError(f"{place.pinned.asked.uri}: what the viewer shows is not in the cache")
        known = {config: list(splits) for config, splits in viewer.splits().items()}
        place.records.keep_commit(commit, "viewer", {"splits": known})
    configs = [
        Config(str(config), {str(split): () for split in splits})
        for config, splits in known.items()
        if isinstance(splits, list)
    ]
    return ViewerWay(viewer, place.records, tuple(configs))
