"""The `datasets` library as a loader, on request: `loader=datasets`.

It runs in a separate process because it takes seconds to import, reads its variables only then, and may abort at exit.
Each load gets a separate cache folder, because from a shared one the library would serve any revision if the hub cannot
be reached.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchwright.core import DatasetError, JsonObject, redact
from benchwright.datasets._hf.client import quiet_variables
from benchwright.datasets._hf.layout import Config
from benchwright.datasets._hf.loaders import Loader, PinnedDataset
from benchwright.datasets._hf.row_cache import Entry, Part
from benchwright.datasets._hf.splits import split_identity

INSTALL = "pip install 'benchwright[hf]'"
"""How to install it."""


def library_version() -> str | None:
    """The installed version, without importing it."""
    try:
        return version("datasets")
    except PackageNotFoundError:
        return None


def what_library_does() -> str:
    """What the installed library does with `trust_remote_code=true`."""
    installed = library_version()
    if installed is None:
        return "the `datasets` library is not installed, and since its version 4 it runs no scripts either"
    if int(installed.partition(".")[0]) >= 4:
        return f"the installed `datasets` {installed} ignores it too, since loading scripts were removed in version 4"
    return f"the installed `datasets` {installed} would run the script, and does so with loader=datasets"


class LibraryPart(Part, frozen=True):
    """A split, loaded by the library."""

    dataset: PinnedDataset
    installed: str
    """The library's version."""
    config: str
    """The configuration."""
    split: str

    def identity(self) -> JsonObject:
        """Dataset, commit, split and loader."""
        uri = self.dataset.uri
        return {
            "kind": "datasets",
            "version": self.installed,
            **split_identity(self.dataset.listing.repo, self.dataset.commit, self.config, self.split),
            "data_files": uri.data_files,
            "field": uri.field,
        }

    def about(self) -> JsonObject:
        """The identity and the split, for people."""
        return {**self.identity(), "files": [f"split {self.split}"]}

    def fill(self, rows: Path, partial: Path) -> Entry:
        """Let the library write the split."""
        answer = _child(
            self.dataset, {"do": "load", "config": self.config, "split": self.split, "target": str(rows)}
        )
        return Entry(rows, int(str(answer["rows"])), "published")


def library_loader(dataset: PinnedDataset) -> Loader:
    """The loader for a dataset. Raises DatasetError if the library is not installed, or refuses the dataset."""
    installed = library_version()
    uri, text = dataset.uri, dataset.ref.uri
    if installed is None:
        raise DatasetError(f"{text}: loader=datasets needs the `datasets` library. Install it: {INSTALL}")

    def parts(config: Config, split: str) -> tuple[Part, ...]:
        return (LibraryPart(dataset, installed, config.name, split),)

    facts: JsonObject = {"datasets_version": installed}  # other versions may return other values
    if uri.data_files is not None:
        return Loader("datasets", [Config(uri.config or "default", {"": ("data_files",)})], parts, facts)
    record = dataset.records.commit(dataset.commit, f"datasets-{uri.config or ''}".replace("/", "-"))
    if record is None:
        if dataset.hub.settings.offline:
            raise DatasetError(f"{text}: what loader=datasets offers is not in the cache")
        record = _child(dataset, {"do": "list", "config": uri.config})
        dataset.records.keep_commit(dataset.commit, f"datasets-{uri.config or ''}".replace("/", "-"), record)
    name, splits = record.get("config"), record.get("splits")
    if not isinstance(name, str) or not isinstance(splits, list):
        raise DatasetError(f"{text}: the `datasets` library gave no configuration")
    return Loader("datasets", [Config(name, {str(split): ("",) for split in splits})], parts, facts)


def _child(dataset: PinnedDataset, order: dict[str, Any]) -> JsonObject:
    """Run the library in a separate process. Its exit status is ignored, because it may abort at exit after its answer."""
    settings, uri = dataset.hub.settings, dataset.uri
    text = dataset.ref.uri
    with tempfile.TemporaryDirectory(prefix="benchwright-datasets-") as folder:
        answer = Path(folder) / "answer.json"
        order |= {
            "repo": dataset.listing.repo,
            "commit": dataset.commit,
            "data_files": uri.data_files,
            "field": uri.field,
            "trust_remote_code": uri.trust_remote_code,
            "cache": folder,
            "answer": str(answer),
        }
        env = os.environ | {
            "HF_ENDPOINT": settings.endpoint,
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
            **quiet_variables(settings),
        }
        if settings.token:
            env["HF_TOKEN"] = settings.token
        done = subprocess.run(
            [sys.executable, "-m", "benchwright.datasets._hf.library_child"],
            input=json.dumps(order), text=True, env=env, capture_output=True, check=False,
        )  # fmt: skip
        try:
            found = json.loads(answer.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no reason given"]
            found = {"error": f"ended with status {done.returncode}: {lines[-1]}"}
    if "error" in found:
        message = redact(str(found["error"]))
        raise DatasetError(f"{text}: the `datasets` library {library_version()} cannot load it: {message}")
    return dict(found)
