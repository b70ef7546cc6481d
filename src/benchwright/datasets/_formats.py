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
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunks
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


def parser_for(file: StoredFile, format: str | None) -> Parser:
    """The parser of a named format, else of the file's ending, else JSON Lines.

    A file whose ending says nothing, as in download caches, is looked at: Parquet names itself.
    """
    if format is not None:
        name = _NAMES.get(format.lower().lstrip("."))
        if name is None:
            raise DatasetError(
                f"{file.name}: unknown format {format!r}; known are {', '.join(_NAMES)}."
                + suggest(format.lower(), _NAMES)
            )
        return PARSERS[name]
    known = data_format(file.path.name)
    if known is not None:
        return PARSERS[known.name]
    return read_parquet if _starts_as_parquet(file.path) else read_json_lines


def _starts_as_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as raw:
            return raw.read(4) == b"PAR1"
    except OSError:
        return False  # reading will say why
