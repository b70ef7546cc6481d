"""Finds the reader of a file: by the name of a format, by the ending of the file, or in an installed package.

`core` declares the built-in formats (`DATA_FORMATS`), where the configuration can see them too. Rows of an installed format
come from Python, so a hash of the rows identifies them: a new version of a package that reads the same file differently
makes a different dataset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import closing
from importlib import import_module
from pathlib import Path, PurePath
from typing import TypeAlias, cast

from msgspec import Struct, field

from benchwright.core import (
    DATA_FORMATS,
    DataFormat,
    DatasetError,
    Registry,
    Row,
    canonical_json,
    content_hash,
    data_endings,
    data_format,
    suggest,
)
from benchwright.datasets._stored import StoredFile, compression_of
from benchwright.datasets._values import Chunks, ProgramSource, Source

Reader: TypeAlias = Callable[[StoredFile], Chunks]

OTHER_ENDINGS = ("py", "toml", "yaml", "yml")
"""Endings of target files that are not data."""

FORMAT_PLUGINS: Registry[Callable[[Path], Iterable[Row]]] = Registry(
    "formats",
    lambda value: Registry.check_function(value, 1),
    built_in=lambda: (*(ending[1:] for ending in data_endings()), *DataFormat.packed, *OTHER_ENDINGS),
    error=DatasetError,
)
"""File formats of installed packages by the ending of file names."""

_NAMES = {
    ending: format.name
    for format in DATA_FORMATS
    if format.certain
    for ending in (format.name, *format.endings)
}


class FileSource(Struct, frozen=True):
    """A stored file and its reader."""

    file: StoredFile
    read: Reader
    """Its reader."""

    hashed: dict[tuple[int, ...], str] = field(default_factory=dict)
    """The hash of all rows of a workbook, by the state of the file that was read."""

    def chunks(self) -> Chunks:
        """The rows, from the start."""
        return self._hashing() if self._is_workbook else self.read(self.file)

    def doubts(self) -> Iterable[str]:
        """Notes on the content that cost another pass."""
        if self.read.__module__.endswith(("json_array", "json_lines")):
            from benchwright.datasets._readers.json_keys import repeated_keys

            if found := repeated_keys(self.file):
                yield found

    def fingerprint(self) -> str:
        """Identity of the stored bytes, and of the options for reading them; of a workbook, that of its rows, because saving it
        again changes bytes that are no data."""
        file = self.file
        if self._is_workbook:
            known = self.hashed.get(_state(file))
            if known is None:
                for _ in self._hashing():
                    pass
                known = [*self.hashed.values()][-1]
            return known
        options = [file.encoding, file.sheet, *([] if file.header_row is None else [file.header_row])]
        stored = file.fingerprint()
        return stored if options == [None, None] else f"sha256:{content_hash([stored, *options])}"

    @property
    def _is_workbook(self) -> bool:
        return self.read.__module__.endswith(".workbook")

    def _hashing(self) -> Chunks:
        """The rows. Their hash is kept at the end of a whole pass, so that a run need not read the file again for it."""
        digest, state = hashlib.sha256(), _state(self.file)
        with closing(self.read(self.file)) as chunks:
            for chunk in chunks:
                for row in chunk.rows:
                    digest.update(canonical_json(row) + b"\n")
                for after, bad in chunk.troubles:
                    digest.update(f"{after} {bad.reason}\n".encode())
                yield chunk
        self.hashed.clear()
        self.hashed[state] = f"sha256:{digest.hexdigest()}"


def _state(file: StoredFile) -> tuple[int, ...]:
    """What changes if a file is written again."""
    try:
        found = file.path.stat()
    except OSError as exc:
        raise file.error(f"cannot be read: {exc.strerror or exc}") from exc
    return found.st_ino, found.st_size, found.st_mtime_ns


def reader_of(name: str) -> Reader:
    """The reader of a built-in format. Imports only that one."""
    declared = _declared(name)
    module, _, function = declared.reader.partition(".")
    return cast(Reader, getattr(import_module(f"benchwright.datasets._readers.{module}"), function))


def file_source(file: StoredFile, format: str | None) -> Source:
    """The rows of a file: in the named format, else by the ending of its name, else as JSON Lines."""
    known = data_format(file.path.name) if format is None else _NAMES.get(_plain(format))
    installed = installed_format(file, format) if known is None else None
    return installed or FileSource(file, _reader(file, format))


def has_installed_format(name: str) -> bool:
    """Whether the ending of a file name is that of an installed format. Imports no plugin.

    >>> has_installed_format("bench.py:name")
    False
    """
    ending = PurePath(name.partition("?")[0]).suffix[1:]
    return _is_ending(ending) and ending.lower() in FORMAT_PLUGINS.names()


def installed_format(file: StoredFile, format: str | None) -> ProgramSource | None:
    """The rows of a file in an installed format: the named one, else that of the file's ending. None: no such format."""
    ending = (format or file.path.suffix).removeprefix(".")
    read = FORMAT_PLUGINS.find(ending) if _is_ending(ending) else None
    if read is None:
        return None
    for option, value in _options(file):
        if value is not None:
            raise file.error(f"?{option}= has no meaning for the installed format {ending}; leave it out")
    with file.path.open("rb") as raw:
        packed = compression_of(raw.read(4))
    if packed is not None:
        raise file.error(
            f"is compressed ({packed}), and files of the installed format {ending} are not; unpack it"
        )
    return ProgramSource(file.name, lambda: read(file.path))


def _reader(file: StoredFile, format: str | None) -> Reader:
    """The reader of a named format, else of the file's ending, else JSON Lines.

    Files in download caches have no ending. Parquet files show what they are.
    """
    if format is not None:
        name = _NAMES.get(_plain(format))
        if name is None:
            known = (*_NAMES, *FORMAT_PLUGINS.names())
            raise DatasetError(
                f"{file.name}: unknown format {format!r}; known: {', '.join(known)}."
                + suggest(format.lower(), known)
            )
    elif (by_ending := data_format(file.path.name)) is not None:
        name = by_ending.name
    else:
        name = "parquet" if _starts_as_parquet(file.path) else "jsonl"
    _refuse_idle_options(file, name)
    return reader_of(name)


def _declared(name: str) -> DataFormat:
    return next(format for format in DATA_FORMATS if format.name == name)


def _refuse_idle_options(file: StoredFile, name: str) -> None:
    """Raise DatasetError for an option that has no effect on files of this format."""
    taken = _declared(name).options
    for option, value in _options(file):
        if value is not None and option not in taken:
            why = {
                "sheet": "sheets are parts of workbooks",
                "header_row": "only sheets of workbooks may have a title above the header",
            }.get(option, "the file itself says how it is encoded")
            raise file.error(
                f"{option} {value!r} has no effect on a file of the format {name}: {why}. Leave it out"
            )


def _options(file: StoredFile) -> tuple[tuple[str, str | int | None], ...]:
    return ("encoding", file.encoding), ("sheet", file.sheet), ("header_row", file.header_row)


def _plain(format: str) -> str:
    return format.lower().lstrip(".")


def _starts_as_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as raw:
            return raw.read(4) == b"PAR1"
    except OSError:
        return False  # reading will say why


def _is_ending(text: str) -> bool:
    """Whether a text may be the name of an installed format. The common case, `.py`, needs no search of packages."""
    return text.isalnum() and text.lower() not in OTHER_ENDINGS
