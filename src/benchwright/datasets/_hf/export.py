"""The hub's own Parquet export: branch `refs/convert/parquet`, made for datasets in any form, scripts included.

It follows the default branch and does not say which commit it was made from; the viewer does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchwright.core import DatasetError, JsonObject
from benchwright.datasets._hf.complaints import Asked
from benchwright.datasets._hf.failures import HubUnreachableError
from benchwright.datasets._hf.hub import Hub, HubFile
from benchwright.datasets._hf.layout import Config, exported_configs
from benchwright.datasets._hf.records import Records
from benchwright.datasets._hf.viewer import Viewer

BRANCH = "refs/convert/parquet"
"""Where it is."""


@dataclass(frozen=True, slots=True)
class Export:
    """The export of one commit."""

    commit: str
    """The export branch's own commit, which the files are read at."""
    files: tuple[HubFile, ...]
    """Its files."""

    def configs(self) -> list[Config]:
        """Configurations and splits. A split that is exported in part is left out."""
        found = exported_configs(file.path for file in self.files)
        return [
            replace(
                config, splits={name: paths for name, paths in config.splits.items() if not _is_part(name)}
            )
            for config in found
        ]

    def in_part(self, config: str, split: str) -> bool:
        """Whether only the first rows of a split were exported."""
        return any(file.path.startswith(f"{config}/partial-{split}/") for file in self.files)


def find_export(hub: Hub, records: Records, asked: Asked, commit: str) -> Export:
    """The export that was made from a commit. Raises DatasetError when there is none, or it cannot be proven."""
    record = records.commit(commit, "export")
    if record is not None and (known := _from_record(record)):
        return known
    if hub.settings.offline:
        raise DatasetError(f"{asked.uri}: the export of commit {commit} is not in the cache")
    viewer = Viewer(hub, asked, commit)
    viewer.ask("parquet")
    branch = replace(asked, revision=BRANCH)
    try:
        info = hub.info(branch)
        files = hub.files(branch, info.commit)
    except HubUnreachableError as failure:
        raise hub.complaint(failure, asked) from failure
    viewer.ask("parquet")  # still of the same commit, so the files between the two questions are
    body: JsonObject = {"commit": info.commit, "files": [file.to_json() for file in files]}
    records.keep_commit(commit, "export", body)
    return Export(info.commit, tuple(files))


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
