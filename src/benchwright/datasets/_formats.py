"""Which parser reads which file: by the ending of its name, `.gz` and `.zst` set aside.

Endings are declared in `core` (`DATA_FORMATS`), where the configuration can see them too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchwright.core import DATA_FORMATS, DatasetError, content_hash, data_format, suggest
from benchwright.datasets._delimited import read_csv, read_tsv
from benchwright.datasets._json_array import read_json
from benchwright.datasets._json_lines import read_json_lines
from benchwright.datasets._parquet import read_parquet
from benchwright.datasets._plugins import FORMAT_PLUGINS, installed_format
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunks, Source
from benchwright.datasets._workbook import read_workbook

Parser: TypeAlias = Callable[[StoredFile], Chunks]

PARSERS: dict[str, Parser] = {
    "jsonl": read_json_lines,
    "json": read_json,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "xlsx": read_workbook,
}
"""Parsers by the name of the format."""

_NAMES = {ending: format.name for format in DATA_FORMATS for ending in (format.name, *format.endings)}


@dataclass(frozen=True, slots=True)
class FileSource:
    """A stored file and the parser that reads it."""

    file: StoredFile
    """The file."""
    parse: Parser
    """Its parser."""

    def chunks(self) -> Chunks:
        """The rows, from the start."""
        return self.parse(self.file)

    def fingerprint(self) -> str:
        """Identity of the stored bytes, and of how they are read where that was said."""
        stored, encoding, sheet = self.file.fingerprint(), self.file.encoding, self.file.sheet
        return stored if encoding is sheet is None else f"sha256:{content_hash([stored, encoding, sheet])}"


def file_source(file: StoredFile, format: str | None) -> Source:
    """The rows of a file: by the named format, else by the ending of its name, else as JSON Lines."""
    known = data_format(file.path.name) if format is None else _NAMES.get(_plain(format))
    installed = installed_format(file, format) if known is None else None
    return installed or FileSource(file, parser_for(file, format))


def parser_for(file: StoredFile, format: str | None) -> Parser:
    """The parser of a named format, else of the file's ending, else JSON Lines.

    A file whose ending says nothing, as in download caches, is looked at: Parquet names itself.
    """
    if format is not None:
        name = _NAMES.get(_plain(format))
        if name is None:
            known = (*_NAMES, *FORMAT_PLUGINS.names())
            raise DatasetError(
                f"{file.name}: unknown format {format!r}; known are {', '.join(known)}."
                + suggest(format.lower(), known)
            )
        return PARSERS[name]
    told = data_format(file.path.name)
    if told is not None:
        return PARSERS[told.name]
    return read_parquet if _starts_as_parquet(file.path) else read_json_lines


def _plain(format: str) -> str:
    return format.lower().lstrip(".")


def _starts_as_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as raw:
            return raw.read(4) == b"PAR1"
    except OSError:
        return False  # reading will say why
