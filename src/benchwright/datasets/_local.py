"""Local paths: where a relative one starts, and what to say when nothing is there."""

from __future__ import annotations

import os
import re
from pathlib import Path

from benchwright.core import DatasetError, suggest

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def scheme_of(uri: str) -> str | None:
    """The scheme of a URI in lower case; None for a path.

    >>> scheme_of("HF://org/name"), scheme_of("data/qa.csv")
    ('hf', None)
    """
    match = _SCHEME.match(uri)
    return match[1].lower() if match else None


def local_path(uri: str, base_dir: Path | None) -> Path:
    """The absolute path that a path or `file://` URI means: `~` expanded, relative ones from `base_dir`."""
    if not uri:
        raise DatasetError("the dataset is an empty text; expected a path or a URI")
    if scheme_of(uri) == "file":
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        uri = url2pathname(urlsplit(uri).path)
    try:
        path = Path(uri).expanduser()
    except RuntimeError as exc:
        raise DatasetError(f"{uri}: {exc}") from exc
    return Path(os.path.abspath((base_dir or Path()) / path))


def check_file(path: Path, written: str) -> None:
    """Raises DatasetError with near names when there is no file at `path`."""
    try:
        if path.is_file():
            return
        there, is_dir = path.exists(), path.is_dir()
    except (OSError, ValueError) as exc:
        raise DatasetError(f"{written}: cannot be read: {exc}") from exc
    if is_dir:
        inside = _files_in(path)
        listed = f" It holds: {', '.join(inside[:5])}{' …' if len(inside) > 5 else ''}" if inside else ""
        raise DatasetError(f"Dataset path is not a file: {path} is a directory.{listed}")
    if there:
        raise DatasetError(
            f"Dataset path is not a file: {path}. Pipes cannot be read twice; save the data first"
        )
    raise DatasetError(f"Dataset file not found: {path}{_hint(path, written)}")


def _hint(path: Path, written: str) -> str:
    if not path.parent.is_dir():
        return f" (there is no folder {path.parent})"
    here = Path.cwd() / written
    if here != path and here.is_file():
        return (
            f". There is a file of that name in the current folder, but relative paths start at {path.parent}: "
            f"give the absolute path {here}"
        )
    names = _files_in(path.parent)
    near = suggest(path.name, names)
    if near:
        return "." + near
    same = [name for name in names if name.split(".")[0] == path.name.split(".")[0]]
    return f". Did you mean {' or '.join(map(repr, same[:3]))}?" if same else ""


def _files_in(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError:
        return []
