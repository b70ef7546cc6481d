"""Writes wheels in the binary distribution format. The same files give the same bytes: they contain no times, no order of a
folder and no name of the machine."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file can contain."""
_CHUNK = 1 << 20
_ANY_PYTHON = "py3-none-any"


class WheelMetadata(Struct, frozen=True):
    """The metadata of a package for pip."""

    name: str
    """Name of the distribution."""
    version: str
    summary: str
    """One line."""
    requires: tuple[str, ...]
    """Requirements in the form of pip."""
    requires_python: str
    """Versions of Python."""
    generator: str
    """The program that wrote the wheel."""
    entry_points: Mapping[str, Mapping[str, str]]
    """Group, name and object of each entry point."""

    @property
    def stem(self) -> str:
        """Name and version in file names."""
        return f"{self.name.replace('-', '_')}-{self.version}"

    @property
    def file_name(self) -> str:
        return f"{self.stem}-{_ANY_PYTHON}.whl"


def write_wheel(folder: Path, metadata: WheelMetadata, files: Mapping[str, Path | bytes]) -> Path:
    """Write a pure-Python wheel into `folder`, and return its path. A wheel with that name is replaced atomically."""
    info = f"{metadata.stem}.dist-info"
    described: dict[str, Path | bytes] = {
        f"{info}/METADATA": _metadata(metadata).encode(),
        f"{info}/WHEEL": _wheel(metadata).encode(),
        f"{info}/entry_points.txt": _entry_points(metadata).encode(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / metadata.file_name
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as wheel:
            rows = [_add(wheel, name, files[name]) for name in sorted(files)]
            rows += [_add(wheel, name, content) for name, content in described.items()]
            rows.append((f"{info}/RECORD", "", ""))
            _add(wheel, f"{info}/RECORD", _record(rows).encode())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def content_version(files: Mapping[str, Path | bytes], more: Sequence[str] = ()) -> str:
    """A version that is the same only for the same files, so that pip replaces a package if and only if it has changed."""
    digest = hashlib.sha256("\0".join(more).encode())
    for name in sorted(files):
        digest.update(f"\0{name}\0".encode())
        content = files[name]
        if isinstance(content, bytes):
            digest.update(hashlib.sha256(content).digest())
        else:
            with content.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return f"1.0+g{digest.hexdigest()[:10]}"  # a letter first, because pip would read only digits as a number


def _add(wheel: zipfile.ZipFile, name: str, content: Path | bytes) -> tuple[str, str, str]:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    entry.external_attr = 0o100644 << 16
    digest, size = hashlib.sha256(), 0
    with (
        io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as source,
        wheel.open(entry, "w", force_zip64=True) as target,
    ):
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            target.write(chunk)
            size += len(chunk)
    encoded = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
    return name, f"sha256={encoded}", str(size)


def _record(rows: Sequence[tuple[str, str, str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _metadata(metadata: WheelMetadata) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {metadata.name}",
        f"Version: {metadata.version}",
        f"Summary: {' '.join(metadata.summary.split())}",
        f"Requires-Python: {metadata.requires_python}",
        *(f"Requires-Dist: {requirement}" for requirement in metadata.requires),
    ]
    return "\n".join(lines) + "\n"


def _wheel(metadata: WheelMetadata) -> str:
    return f"Wheel-Version: 1.0\nGenerator: {metadata.generator}\nRoot-Is-Purelib: true\nTag: {_ANY_PYTHON}\n"


def _entry_points(metadata: WheelMetadata) -> str:
    groups = []
    for group, entries in metadata.entry_points.items():
        groups.append(
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in sorted(entries.items()))
        )
    return "\n".join(groups)
