"""Packages in Python environments and folders: lists them, finds collisions, tries a wheel, and installs it."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from benchwright.benchmarks import BENCHMARK_PLUGINS, BenchmarkSpec
from benchwright.core import BenchwrightError, is_hub_uri
from benchwright.datasets import open_dataset
from benchwright.packages._load import MANIFEST, Manifest, read_manifest
from benchwright.packages._package import Package

_TRIAL = "import sys; from benchwright.packages._installed import try_package; try_package(*sys.argv[1:])"
_TRIAL_S = 600
_PIP = ("install", "--no-deps", "--no-index", "--no-input", "--disable-pip-version-check", "--quiet")


class PackageError(BenchwrightError):
    """A package that cannot be made or installed."""


class ListedPackage(Struct, frozen=True):
    """A package that `compile` made."""

    name: str
    """Name of the distribution."""
    version: str
    place: str
    """The folder that it is installed in, or its wheel."""
    installed: bool
    """Whether this environment has it, in this version."""
    manifest: Manifest
    """Its benchmarks."""


def list_packages(folder: Path | None = None) -> list[ListedPackage]:
    """Packages of this environment; with a folder, the wheels in it."""
    installed = list(_installed())
    if folder is None:
        return installed
    there = {(package.name, package.version) for package in installed}
    found = []
    for wheel in sorted(folder.glob("*.whl")):
        manifest = _manifest_of(wheel)
        if manifest is not None:
            stem, version = wheel.name.split("-")[:2]
            name = stem.replace("_", "-")
            found.append(ListedPackage(name, version, str(wheel), (name, version) in there, manifest))
    return found


def _installed() -> Iterator[ListedPackage]:
    from importlib.metadata import distributions

    seen = set()
    for dist in distributions():
        targets = {
            point.module for point in dist.entry_points if point.group == BENCHMARK_PLUGINS.point.group
        }
        for module in sorted(targets):
            path = Path(str(dist.locate_file(f"{module}/{MANIFEST}")))
            manifest = read_manifest(path.read_bytes()) if path.is_file() else None
            if manifest is not None and dist.name not in seen:
                seen.add(dist.name)
                yield ListedPackage(dist.name, dist.version, str(path.parent.parent), True, manifest)


def _manifest_of(wheel: Path) -> Manifest | None:
    try:
        with zipfile.ZipFile(wheel) as file:
            return read_manifest(file.read(f"{wheel.name.split('-')[0]}/{MANIFEST}"))
    except (OSError, KeyError, zipfile.BadZipFile):
        return None


def refuse_collisions(package: Package, source: Path, *, force: bool = False) -> None:
    """Raise PackageError if installing the package would replace another one, or make a name ambiguous. A package with one of
    these benchmarks is an earlier version of it. The folder of `source`, the module, does not count.
    With `force`, only packages that `compile` has not made are protected."""
    name, module = package.metadata.name, package.manifest.package
    keys = {benchmark.key for benchmark in package.manifest.benchmarks}
    earlier = next((one for one in _installed() if one.name == name), None)
    if earlier is None and (place := _imported_from(module, source)) is not None:
        raise PackageError(
            f"Python already has a package {module} ({place}); give this one another name with --name NAME"
        )
    if force:
        return
    if earlier is not None:
        others = {benchmark.key for benchmark in earlier.manifest.benchmarks}
        if not keys & others:
            raise PackageError(
                f"{name} is installed with other benchmarks ({', '.join(sorted(others))}); give this one another name "
                "with --name NAME, or replace the other with --force"
            )
    for key in sorted(keys):
        entry = BENCHMARK_PLUGINS.entry(key)
        if entry is not None and entry.package != name:
            raise PackageError(
                f"{entry.package} already offers a benchmark {key}; rename yours, uninstall the other (pip uninstall "
                f"{entry.package}), or install both with --force and type the longer name: {module}.{key}"
            )


def _imported_from(module: str, source: Path) -> str | None:
    from importlib.machinery import PathFinder

    places = [place for place in sys.path if not source.is_relative_to(Path(place).resolve())]
    found = PathFinder.find_spec(module, places)
    return None if found is None else found.origin or "a folder without __init__.py"


def try_wheel(wheel: Path, package: Package, source: Path) -> None:
    """Load the benchmarks of a wheel in a new process that does not see the folder of `source`, and read a row of each local
    dataset. Raises PackageError with the cause if that fails."""
    paths = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    kept = os.pathsep.join(one for one in paths if not source.is_relative_to(Path(one).resolve()))
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as file:
            file.extractall(folder)
        done = subprocess.run(
            [sys.executable, "-B", "-c", _TRIAL, package.manifest.package, os.path.realpath(folder)],
            cwd=folder, env={**os.environ, "PYTHONPATH": kept}, capture_output=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, timeout=_TRIAL_S, check=False,
        )  # fmt: skip
    if done.returncode != 0:
        said = done.stderr.replace(f"{os.path.realpath(folder)}/", "").strip().splitlines()
        raise PackageError(
            f"{package.manifest.target} works in its folder, and not in its package: {said[-1] if said else 'no message'}; "
            "open files as Path(__file__).parent / NAME, and add those, and modules imported by a computed name, with "
            "--include PATH"
        )


def try_package(package: str, folder: str) -> None:
    """Run in the process of `try_wheel`. Exits with 1 and one line on standard error if a benchmark cannot be used."""
    sys.path.insert(0, folder)
    try:
        module = importlib.import_module(package)
        for spec in [value for value in vars(module).values() if isinstance(value, BenchmarkSpec)]:
            for ref in (spec.dataset, spec.fewshot_dataset):
                remote = is_hub_uri(ref) or (isinstance(ref, str) and "://" in ref)
                if ref is not None and not remote:
                    open_dataset(ref, base_dir=spec.base_dir).head(1)
    except (BenchwrightError, OSError, ImportError, ValueError) as error:
        print(f"{type(error).__name__}: {error}".replace("\n", " "), file=sys.stderr)
        raise SystemExit(1) from None


def pip_command(wheel: Path) -> str:
    """The command that installs a wheel here."""
    return shlex.join(["pip", "install", _as_requirement(wheel)])


def _as_requirement(wheel: Path) -> str:
    """The wheel as an argument of pip, which takes a path with `;` or brackets for a requirement with a marker or extras."""
    return wheel.resolve().as_uri() if re.search(r"[;\[\]@#]", str(wheel)) else str(wheel)


def install_wheel(wheel: Path, *, force: bool = False) -> None:
    """Install a wheel into this environment with pip, without its requirements and without network."""
    if importlib.util.find_spec("pip") is None:
        raise PackageError(
            f"this Python ({sys.executable}) has no pip; keep the wheel with --no-install, and install it with: uv pip install "
            f"--python {shlex.quote(sys.executable)} WHEEL"
        )
    forced = ("--force-reinstall",) if force else ()
    done = subprocess.run(
        [sys.executable, "-m", "pip", *_PIP, *forced, _as_requirement(wheel)],
        capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise PackageError(
            f"pip could not install {wheel.name}: {' '.join(said[:3])}; keep the wheel with --no-install"
        )
