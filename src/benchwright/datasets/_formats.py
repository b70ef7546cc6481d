"""Which parser reads which file: by the ending of its name, `.gz` and `.zst` set aside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchwright.core import DatasetError, suggest
from benchwright.datasets._delimited import read_csv, read_tsv
from benchwright.datasets._json_array import read_json
from benchwright.datasets._json_lines import read_json_lines
from benchwright.datasets._parquet import read_parquet
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunks

Parser: TypeAlias = Callable[[StoredFile], Chunks]

PARSERS: dict[str, Parser] = {
    "jsonl": read_json_lines,
    "ndjson": read_json_lines,
    "json": read_json,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
}
"""Formats by name; the names are also the endings."""

_PACKED = (".gz", ".zst")


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
        """Identity of the stored bytes."""
        return self.file.fingerprint()


def parser_for(file: StoredFile, format: str | None) -> Parser:
    """The parser of a named format, else of the file's ending, else JSON Lines.

    A file whose ending says nothing, as in download caches, is looked at: Parquet names itself.
    """
    if format is not None:
        parser = PARSERS.get(format.lower().lstrip("."))
        if parser is None:
            raise DatasetError(
                f"{file.name}: unknown format {format!r}; known are {', '.join(PARSERS)}."
                + suggest(format.lower(), PARSERS)
            )
        return parser
    parser = PARSERS.get(_ending(file.path))
    if parser is None:
        parser = read_parquet if _starts_as_parquet(file.path) else read_json_lines
    return parser


def _ending(path: Path) -> str:
    """
    >>> _ending(Path("data.CSV.gz"))
    'csv'
    """
    if path.suffix.lower() in _PACKED:
        path = path.with_suffix("")
    return path.suffix.lower().lstrip(".")


def _starts_as_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as raw:
            return raw.read(4) == b"PAR1"
    except OSError:
        return False  # reading will say why
