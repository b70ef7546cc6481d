"""A package: names, version, requirements and files of the wheel that contains a module of benchmarks."""

from __future__ import annotations

import keyword
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from benchwright.benchmarks import BUILTIN_EVALUATIONS, BenchmarkSpec
from benchwright.bfcl import evaluation_of
from benchwright.core import VERSION, BenchmarkError, UsageError, known_secrets, normalise_name
from benchwright.packages._content import DATA_FIELDS, Content
from benchwright.packages._load import CONTENT, MANIFEST, Manifest, PackagedBenchmark
from benchwright.packages._wheel import WheelMetadata, content_version, write_wheel

_INIT = '''"""Benchmarks of {target}, packaged by `benchwright compile`."""

from benchwright.packages import load_package

globals().update(load_package(__file__))
'''
_PYTHON = ">=3.11"
MEGABYTE = 1_000_000


class Package(Struct, frozen=True):
    """A package that can be written as a wheel."""

    metadata: WheelMetadata
    """The metadata for pip."""
    manifest: Manifest
    """The description for benchwright."""
    files: dict[str, Path | bytes]
    """All its files by their names in the wheel."""

    def write(self, folder: Path) -> Path:
        """Write the wheel into a folder."""
        return write_wheel(folder, self.metadata, self.files)


def make_package(
    content: Content,
    *,
    name: str | None = None,
    records: Mapping[str, int] | None = None,
    data_at: str | None = None,
    max_data: int | None = None,
) -> Package:
    """The package of a module.

    Args:
        content: The module and its files.
        name: Name of the package; None: `byob_` and the name of the file.
        records: Rows of each benchmark's data, as far as they were counted.
        data_at: Absolute path of the folder of the data; an empty text: its current place. None: in the package.
        max_data: The most bytes of data in the package.

    Raises UsageError or BenchmarkError for names that cannot be used, requirements that pip cannot read, too much data, and
    files that contain a key.
    """
    package = _package_name(content, name)
    _refuse_built_in(content.specs)
    if data_at is None and max_data is not None and content.size > max_data:
        raise BenchmarkError(
            f"{content.source.name} has {content.size / MEGABYTE:,.1f} MB of data and code, and a package contains at most "
            f"{max_data / MEGABYTE:,.1f} MB; leave the data where it is with --reference-data, raise the limit with "
            "--max-data MB, or name a dataset that is fetched (hf://…)"
        )
    manifest = Manifest(
        package,
        content.target,
        tuple(_packaged(spec, content, data_at, records or {}) for spec in content.specs),
        VERSION,
    )
    inside = {**content.files, **(content.data if data_at is None else {})}
    _refuse_secrets(inside.values())
    files: dict[str, Path | bytes] = {f"{package}/{CONTENT}/{place}": path for place, path in inside.items()}
    files[f"{package}/__init__.py"] = _INIT.format(target=ascii(content.target)[1:-1]).encode()
    files[f"{package}/{MANIFEST}"] = manifest.encoded()
    requires = (f"benchwright>={VERSION}", *_requirements(content.specs))
    keys = [spec.key for spec in content.specs]
    metadata = WheelMetadata(
        package.replace("_", "-"),
        content_version(files, requires),
        f"Benchmarks for benchwright: {', '.join(keys)}",
        requires,
        _PYTHON,
        f"benchwright {VERSION}",
        {"benchwright.benchmarks": {key: f"{package}:{key}" for key in keys}},
    )
    return Package(metadata, manifest, files)


def _package_name(content: Content, name: str | None) -> str:
    if name is not None:
        key = _base(name)
        if not key.isidentifier() or keyword.iskeyword(key) or key in sys.stdlib_module_names:
            raise UsageError(
                f"--name {name}: Python cannot import a package of this name; such as --name byob_{key or 'quiz'}"
            )
        return key
    return f"byob_{_base(content.source.stem) or _base(content.specs[0].key)}"


def _base(name: str) -> str:
    """A name that pip accepts, of a-z, 0-9 and `_`; a long one may be cut after an underscore."""
    return normalise_name(name).rstrip("_")


def _refuse_built_in(specs: Iterable[BenchmarkSpec]) -> None:
    for spec in specs:
        if spec.key in BUILTIN_EVALUATIONS or evaluation_of(spec.key) is not None:
            raise BenchmarkError(
                f"{spec.where}: {spec.key} is the name of a built-in evaluation, which an installed one never replaces; "
                "rename the benchmark"
            )


def _refuse_secrets(paths: Iterable[Path]) -> None:
    """Raise for keys in files, because packages are passed on."""
    redactor = known_secrets()
    for path in paths if redactor.guards else ():
        number = 0
        with path.open("rb") as file:
            while lines := file.readlines(MEGABYTE):
                if redactor.found_in(b"".join(lines)):
                    for place, line in enumerate(lines, number + 1):
                        if redactor.clean_json(line) != line:
                            raise BenchmarkError(
                                f"{path}:{place}: this line contains the value of an environment variable that looks like a key, "
                                "and packages are handed on; take it out"
                            )
                number += len(lines)


def _packaged(
    spec: BenchmarkSpec, content: Content, data_at: str | None, records: Mapping[str, int]
) -> PackagedBenchmark:
    replaced = {}
    for name, (place, options) in content.named.get(spec.key, {}).items():
        if name in DATA_FIELDS and data_at is not None:
            replaced[name] = (f"{data_at}/{place}" if data_at else str(content.data[place])) + options
        elif (spec.key, name) in content.moved:
            replaced[name] = place + options
    dataset = spec.dataset
    shown = (
        str(dataset)
        if isinstance(dataset, str | Path)
        else f"rows from {getattr(dataset, '__name__', 'Python')}"
    )
    return PackagedBenchmark(
        spec.key, spec.name, spec.endpoint_type, shown, records.get(spec.key), spec.requirements, replaced
    )


def _requirements(specs: Iterable[BenchmarkSpec]) -> Iterable[str]:
    """The requirements of all benchmarks, each once, in the form of metadata."""
    from packaging.requirements import InvalidRequirement, Requirement

    found: dict[str, None] = {}
    for spec in specs:
        for written in spec.requirements:
            text = written.partition(" #")[0].strip()
            try:
                found[str(Requirement(text))] = None
            except InvalidRequirement as error:
                raise BenchmarkError(
                    f"{spec.where}: requirement {written!r} cannot be declared in a package; write a package with its "
                    f"versions, such as numpy>=2 ({str(error).splitlines()[0]})"
                ) from None
    return found
