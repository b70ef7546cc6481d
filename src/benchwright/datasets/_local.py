"""Local paths: where relative ones start, the options of a path, and errors for missing files."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from benchwright.core import DatasetError, data_format, suggest

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def scheme_of(uri: str) -> str | None:
    """The scheme of a URI in lower case; None for a path.

    >>> scheme_of("HF://org/name"), scheme_of("data/qa.csv")
    ('hf', None)
    """
    match = _SCHEME.match(uri)
    return match[1].lower() if match else None


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How to read a file, where its content does not show it."""

    encoding: str | None = None
    """Encoding of text; None for UTF-8."""
    sheet: str | None = None
    """Sheet of a workbook; None for the first."""


def file_options(written: str, base_dir: Path | None) -> tuple[str, FileOptions]:
    """A path without its options, and the options: `data.csv?encoding=cp1252`, `book.xlsx?sheet=Two`.

    A file whose name contains a question mark has no options. Raises DatasetError for unknown options.
    """
    bare, mark, query = written.partition("?")
    if not mark or data_format(bare) is None or os.path.exists(local_path(written, base_dir)):
        return written, FileOptions()
    known = tuple(field.name for field in fields(FileOptions))
    options = dict(parse_qsl(query, keep_blank_values=True))
    for key, value in options.items():
        if key not in known:
            raise DatasetError(
                f"{written}: unknown option {key!r}; known are {', '.join(known)}.{suggest(key, known)}"
            )
        if not value:
            raise DatasetError(f"{written}: {key} is empty. Give it a value or leave it out")
    if "encoding" in options:
        check_encoding(options["encoding"])
    return bare, FileOptions(**options)


def with_file_options(path: str, *, encoding: str | None, sheet: str | None) -> str:
    """The path with options in it, where there are any and it has none of its own.

    >>> with_file_options("a.csv", encoding="cp1252", sheet=None)
    'a.csv?encoding=cp1252'
    """
    given = {name: value for name, value in (("encoding", encoding), ("sheet", sheet)) if value is not None}
    if not given:
        return path
    if scheme_of(path) not in (None, "file"):
        raise DatasetError(
            f"{path}: {' and '.join(given)} {'is' if len(given) == 1 else 'are'} for files on this machine"
        )
    return f"{path}{'&' if '?' in path else '?'}{urlencode(given)}"


def check_encoding(name: str) -> None:
    """DatasetError for a name that is no encoding of text."""
    try:
        if not codecs.lookup(name)._is_text_encoding:
            raise LookupError
    except LookupError:
        common = ("utf-8", "utf-16", "cp1252", "latin-1", "gb18030", "shift_jis")
        raise DatasetError(
            f"encoding is {name!r}, which is unknown; such as {', '.join(common)}.{suggest(name.lower(), common)}"
        ) from None


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
