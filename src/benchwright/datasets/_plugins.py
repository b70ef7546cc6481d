"""Sources and file formats of installed packages.

Their rows come from Python, so they are identified by a hash of the rows: a new version of a package that reads the
same file differently is a different dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path, PurePath
from typing import Any

from benchwright.core import PACKED_ENDINGS, DatasetError, Row, data_endings
from benchwright.datasets._fetchers import BUILT_IN_SCHEMES, FetchResult, check_fetched
from benchwright.datasets._local import scheme_of
from benchwright.datasets._program import ProgramSource
from benchwright.datasets._stored import StoredFile, compression_of
from benchwright.plugins import Registry, check_function

OTHER_ENDINGS = ("py", "toml", "yaml", "yml")
"""Endings of files that mean something else than data as a target."""


def _source(value: object) -> Any:
    """A function of the URI, or an object with `fetch`; a class with `fetch` stands for an object of it."""
    if callable(getattr(value, "fetch", None)):
        return value() if isinstance(value, type) else value
    return check_function(value, 1)


SOURCE_PLUGINS: Registry[Any] = Registry(
    "sources", _source, built_in=lambda: BUILT_IN_SCHEMES, error=DatasetError
)
"""Sources of installed packages by the scheme of their URIs."""

FORMAT_PLUGINS: Registry[Callable[[Path], Iterable[Row]]] = Registry(
    "formats",
    lambda value: check_function(value, 1),
    built_in=lambda: (*(ending[1:] for ending in data_endings()), *PACKED_ENDINGS, *OTHER_ENDINGS),
    error=DatasetError,
)
"""File formats of installed packages by the ending of file names."""


def installed_source(uri: str) -> ProgramSource | FetchResult | None:
    """What an installed source has at a URI: rows, or a local file; None if no package has that scheme."""
    scheme = scheme_of(uri)
    found = None if scheme is None else SOURCE_PLUGINS.find(scheme)
    if found is None:
        return None
    fetch = getattr(found, "fetch", None)
    if fetch is None:
        return ProgramSource(uri, lambda: found(uri))
    try:
        return check_fetched(fetch(uri), str(scheme), uri)
    except DatasetError:
        raise
    except Exception as exc:
        raise DatasetError(f"{uri}: the source {scheme} failed: {type(exc).__name__}: {exc}") from exc


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
    for option, value in (("encoding", file.encoding), ("sheet", file.sheet)):
        if value is not None:
            raise file.error(f"?{option}= has no meaning for the installed format {ending}; leave it out")
    with file.path.open("rb") as raw:
        packed = compression_of(raw.read(4))
    if packed is not None:
        raise file.error(
            f"is compressed ({packed}), and files of the installed format {ending} are not; unpack it"
        )
    return ProgramSource(file.name, lambda: read(file.path))


def _is_ending(text: str) -> bool:
    """Whether a text may be the name of an installed format: the common case, `.py`, needs no look at packages."""
    return text.isalnum() and text.lower() not in OTHER_ENDINGS
