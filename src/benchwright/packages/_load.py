"""Loads the module inside a package and passes its benchmarks to the entry points; called by the package's `__init__.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec, load_benchmarks
from benchwright.core import BenchmarkError, ready

MANIFEST = "package.json"
"""The description of a package, next to its `__init__.py`."""
CONTENT = "content"
"""The folder with the module and its files, next to it."""
FORMAT = 1
"""Version of the description."""


class PackagedBenchmark(msgspec.Struct, frozen=True):
    key: str
    """Its name for commands."""
    name: str
    """Its display name."""
    model_type: str
    """The type of model that it declares."""
    dataset: str
    """Its dataset, as the module writes it."""
    records: int | None = None
    """Rows of its dataset; None if they were not counted, because the data is on other machines."""
    requirements: tuple[str, ...] = ()
    """Packages that its scorer needs."""
    replaced: dict[str, str] = {}
    """Fields whose files are not at the path in the module: places in the package, or absolute paths."""

    def command(self, name: str) -> str:
        """The `run_eval` command of the benchmark under a name, with the type of model that it needs."""
        return (
            f"benchwright run_eval --eval_type {name} --model_id MODEL --model_url URL "
            f"--model_type {self.model_type} --output_dir results"
        )


class Manifest(msgspec.Struct, frozen=True):
    """The content of a package."""

    package: str
    """Its name, as Python imports it."""
    target: str
    """The file or module in its folder that defines the benchmarks."""
    benchmarks: tuple[PackagedBenchmark, ...]
    """Its benchmarks, in order of definition."""
    benchwright: str = ""
    """The version that wrote it."""
    format: int = FORMAT
    """Version of this description."""

    def encoded(self) -> bytes:
        """The content of the file."""
        return msgspec.json.format(msgspec.json.encode(self, order="deterministic"), indent=2) + b"\n"


def read_manifest(content: bytes) -> Manifest | None:
    """A description of a package; None for any other file."""
    try:
        return msgspec.json.decode(content, type=ready(Manifest))
    except msgspec.MsgspecError:
        return None


def load_package(file: str) -> dict[str, BenchmarkSpec]:
    """The benchmarks of the package whose `__init__.py` is `file`, by name."""
    folder = Path(file).resolve().parent
    manifest = read_manifest((folder / MANIFEST).read_bytes())
    if manifest is None or manifest.format != FORMAT:
        raise BenchmarkError(
            f"{folder.name} was packaged by another version of benchwright; update benchwright, or compile it again"
        )
    content = folder / CONTENT
    specs = {spec.key: spec for spec in load_benchmarks(manifest.target, cwd=content)}
    found = {}
    for packaged in manifest.benchmarks:
        if packaged.key not in specs:
            raise BenchmarkError(
                f"{manifest.target} defined {packaged.key} when it was packaged, and does not define it here; its "
                "definition depends on the machine"
            )
        spec = specs[packaged.key]
        places: dict[str, Any] = {
            name: _path(place, content, spec) for name, place in packaged.replaced.items()
        }
        found[spec.key] = replace(spec, **places) if places else spec
    return found


def _path(place: str, content: Path, spec: BenchmarkSpec) -> str:
    """The path, relative to the module if it is in the package, so that reports show no path of this installation."""
    return place if os.path.isabs(place) else os.path.relpath(content / place, spec.base_dir)
