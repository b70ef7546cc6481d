"""Where URIs lead: built-in fetchers, those that users register before them, and sources of installed packages."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field

from benchwright.core import BenchwrightError, DatasetError, UsageError, is_hub_uri, suggest
from benchwright.datasets._hf_uri import HfUri, parse_hf_uri
from benchwright.datasets._local import check_file, local_path, scheme_of
from benchwright.datasets._program import ProgramSource
from benchwright.plugins import Registry, check_function


class FetchResult(Struct, frozen=True):
    """A fetched dataset."""

    path: Path
    """The local file."""
    format: str | None = None
    """Name of a data format; None to go by the file's name."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Where it came from, in the words of the fetcher."""


class Fetcher(Protocol):
    """Any object with these two methods is a fetcher."""

    def supports(self, uri: str) -> bool:
        """Whether this fetcher is the one for a URI."""

    def fetch(self, uri: str, cache_dir: Path | None = None) -> FetchResult | Any:
        """Fetches the data. The result has a `path` or `local_path`, and may have `format` and `metadata`."""


class LocalFetcher:
    """Files on this machine."""

    def supports(self, uri: str) -> bool:
        """Any path, and `file://`."""
        return scheme_of(uri) in (None, "file")

    def fetch(self, uri: str, cache_dir: Path | None = None) -> FetchResult:
        """The file itself."""
        path = local_path(uri, None)
        check_file(path, uri)
        return FetchResult(path, metadata={"source": "local"})


class HfFetcher:
    """Datasets of the Hugging Face hub. They are rows rather than one file, so `open_dataset` reads them in another way."""

    def supports(self, uri: str) -> bool:
        """`hf://` and `huggingface://`."""
        return is_hub_uri(uri)

    def fetch(self, uri: str, cache_dir: Path | None = None) -> FetchResult:
        """Raises DatasetError: a dataset on the hub is many files, and is read through `open_dataset`."""
        raise DatasetError(f"{uri}: a hub dataset is not one file. Read it with open_dataset(...)")


BUILT_IN_SCHEMES = ("file", "hf", "huggingface")
"""Schemes of the built-in fetchers."""

_fetchers: list[Fetcher] = [LocalFetcher(), HfFetcher()]


def register_fetcher(fetcher: Fetcher) -> None:
    """Adds a fetcher before all others. The first fetcher that supports a URI gets it."""
    if isinstance(fetcher, type):
        raise UsageError(
            f"register_fetcher got the class {fetcher.__name__}; give an object: {fetcher.__name__}()"
        )
    missing = [name for name in ("supports", "fetch") if not callable(getattr(fetcher, name, None))]
    if missing:
        raise UsageError(
            f"{type(fetcher).__name__} is no fetcher: it lacks {' and '.join(missing)}. "
            "A fetcher has supports(uri) -> bool and fetch(uri, cache_dir=None) -> object with .path"
        )
    _fetchers.insert(0, fetcher)


def fetch(uri: str, base_dir: Path | None) -> FetchResult | HfUri | None:
    """The local file of a path or URI, or the parsed URI where it names a hub dataset and no registered fetcher supports
    it. None where no fetcher supports it.
    """
    # Resolve a path first: fetchers do not know the folder of the benchmark.
    if scheme_of(uri) in (None, "file"):
        path = local_path(uri, base_dir)
        requested = str(path) if os.path.exists(path) else uri
    else:
        path, requested = None, uri
    for fetcher in tuple(_fetchers):
        with_name = type(fetcher).__name__
        try:
            if not fetcher.supports(requested):
                continue
            if isinstance(fetcher, HfFetcher):
                return parse_hf_uri(uri)
            if isinstance(fetcher, LocalFetcher) and path is not None:
                check_file(path, uri)
                return FetchResult(path, metadata={"source": "local"})
            return check_fetched(fetcher.fetch(requested), with_name, uri)
        except BenchwrightError:
            raise
        except Exception as exc:
            raise DatasetError(f"{uri}: {with_name} failed: {type(exc).__name__}: {exc}") from exc
    return None


def no_fetcher(uri: str, schemes: Sequence[str]) -> DatasetError:
    """The error for a URI that nothing can read; `schemes` are those of installed sources."""
    names = ", ".join(type(fetcher).__name__ for fetcher in _fetchers)
    near = suggest(scheme_of(uri) or "", [*BUILT_IN_SCHEMES, *schemes])
    installed = f" Installed sources: {', '.join(schemes)}." if schemes else ""
    return DatasetError(
        f"No fetcher supports {uri!r}.{near} Registered: {names}.{installed} Give a local path, add a fetcher with "
        "register_fetcher(...), or install a package with a source"
    )


def check_fetched(found: object, who: str, uri: str) -> FetchResult:
    """Checks what a fetcher returned: it must name an existing file."""
    if isinstance(found, str | os.PathLike):
        found = FetchResult(Path(found))
    where = getattr(found, "path", None)
    if where is None:
        where = getattr(found, "local_path", None)
    if not isinstance(where, str | os.PathLike):
        raise DatasetError(
            f"{uri}: {who}.fetch gave {type(found).__name__} without a path; expected an object with .path "
            "or .local_path"
        )
    path = Path(os.path.abspath(os.fspath(where)))
    try:
        check_file(path, str(where))
    except DatasetError as exc:
        raise DatasetError(f"{uri}: {who}.fetch gave a path that cannot be read. {exc}") from exc
    format, metadata = getattr(found, "format", None), getattr(found, "metadata", None)
    if format is not None and not isinstance(format, str):
        raise DatasetError(f"{uri}: {who}.fetch gave the format {format!r}; expected a text such as 'jsonl'")
    return FetchResult(path, format, dict(metadata) if isinstance(metadata, Mapping) else {})


def _source(value: object) -> Any:
    """A function of the URI, or an object with `fetch`; a class with `fetch` stands for an object of it."""
    if callable(getattr(value, "fetch", None)):
        return value() if isinstance(value, type) else value
    return check_function(value, 1)


SOURCE_PLUGINS: Registry[Any] = Registry(
    "sources", _source, built_in=lambda: BUILT_IN_SCHEMES, error=DatasetError
)
"""Sources of installed packages by the scheme of their URIs."""


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
