"""Resolves URIs and paths: local files, built-in fetchers, fetchers that users register, and installed sources."""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct, field

from benchwright.core import (
    BenchwrightError,
    DatasetError,
    Registry,
    UsageError,
    data_format,
    expand_home,
    is_hub_uri,
    late_pattern,
    listed,
    split_data_name,
    suggest,
)
from benchwright.datasets._hf_uri import HfUri, parse_hf_uri
from benchwright.datasets._values import ProgramSource

_SCHEME = late_pattern(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def scheme_of(uri: str) -> str | None:
    """The scheme of a URI in lower case; None for a path.

    >>> scheme_of("HF://org/name"), scheme_of("data/qa.csv")
    ('hf', None)
    """
    match = _SCHEME.match(uri)
    return match[1].lower() if match else None


FILE_OPTIONS = ("encoding", "sheet", "header_row")
"""How to read a file, if its content does not show it: options after its path, by their names in `StoredFile`."""


def file_options(written: str, base_dir: Path | None) -> tuple[str, dict[str, Any]]:
    """Split a path from its options: `data.csv?encoding=cp1252`, `book.xlsx?sheet=Two`.

    A file whose name contains a question mark has no options. Raises DatasetError for unknown options.
    """
    bare, mark, query = written.partition("?")
    if not mark or data_format(bare) is None or os.path.exists(local_path(written, base_dir)):
        return written, {}
    options: dict[str, Any] = dict(parse_qsl(query, keep_blank_values=True))
    for key, value in options.items():
        if key not in FILE_OPTIONS:
            raise DatasetError(
                f"{written}: unknown option {key!r}; known: {', '.join(FILE_OPTIONS)}.{suggest(key, FILE_OPTIONS)}"
            )
        if not value:
            raise DatasetError(f"{written}: {key} is empty. Give it a value or leave it out")
    if "encoding" in options:
        check_encoding(options["encoding"])
    if "header_row" in options:
        if not (options["header_row"].isdecimal() and int(options["header_row"]) > 0):
            raise DatasetError(
                f"{written}: header_row is {options['header_row']!r}; expected the number of a row, from 1"
            )
        options["header_row"] = int(options["header_row"])
    return bare, options


def with_file_options(
    path: str, *, encoding: str | None, sheet: str | None, header_row: int | None = None
) -> str:
    """Add options to a path, if there are any and it has none yet.

    >>> with_file_options("a.csv", encoding="cp1252", sheet=None)
    'a.csv?encoding=cp1252'
    """
    options = {"encoding": encoding, "sheet": sheet, "header_row": header_row}
    given = {name: value for name, value in options.items() if value is not None}
    if not given:
        return path
    if scheme_of(path) not in (None, "file"):
        raise DatasetError(
            f"{path}: {' and '.join(given)} {'is' if len(given) == 1 else 'are'} for files on this machine"
        )
    return f"{path}{'&' if '?' in path else '?'}{urlencode(given)}"


def check_encoding(name: str) -> None:
    """Raise DatasetError for a name that is not a text encoding."""
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
    return Path(os.path.abspath((base_dir or Path()) / expand_home(uri)))


def file_of_dataset(ref: object, base_dir: Path) -> tuple[Path, str] | None:
    """The local file of a dataset and the options after its path; None if the dataset is not a local file. Raises
    DatasetError if the file does not exist."""
    if not isinstance(ref, str | os.PathLike) or scheme_of(written := str(os.fspath(ref))) not in (
        None,
        "file",
    ):
        return None
    bare, _ = file_options(written, base_dir)
    path = local_path(bare, base_dir)
    registered = [each for each in _fetchers if not isinstance(each, LocalFetcher | HfFetcher)]
    if not path.exists() and any(each.supports(written) for each in registered):
        return None
    check_file(path, written)
    return path, written[len(bare) :]


def check_file(path: Path, written: str) -> None:
    """Raise DatasetError, with similar names, if there is no file at `path`."""
    try:
        if path.is_file():
            return
        there, is_dir = path.exists(), path.is_dir()
    except (OSError, ValueError) as exc:
        raise DatasetError(f"{written}: cannot be read: {exc}") from exc
    if is_dir:
        inside = _files_in(path)
        listed = f" It contains: {', '.join(inside[:5])}{' …' if len(inside) > 5 else ''}" if inside else ""
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
    if same:
        return f". Did you mean {' or '.join(map(repr, same[:3]))}?"
    data = [name for name in names if split_data_name(name)[1]]
    return f". Data files in that folder: {listed(data, 5)}" if data else ". That folder has no data files"


def _files_in(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError:
        return []


class FetchResult(Struct, frozen=True):
    """A fetched dataset."""

    path: Path
    """The local file."""
    format: str | None = None
    """Name of a data format; None: decided by the file's name."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Where it came from, as the fetcher describes it."""


class Fetcher(Protocol):
    """Any object with these two methods is a fetcher."""

    def supports(self, uri: str) -> bool:
        """Whether this fetcher handles a URI."""

    def fetch(self, uri: str, cache_dir: Path | None = None) -> FetchResult | Any:
        """Fetch the data. The result has a `path` or `local_path`, and may have `format` and `metadata`."""


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
    """Datasets of the Hugging Face hub. They are not one file, so `open_dataset` reads them in another way."""

    def supports(self, uri: str) -> bool:
        """`hf://` and `huggingface://`."""
        return is_hub_uri(uri)

    def fetch(self, uri: str, cache_dir: Path | None = None) -> FetchResult:
        """Raise DatasetError, because a hub dataset is many files and is read through `open_dataset`."""
        raise DatasetError(f"{uri}: a hub dataset is not one file. Read it with open_dataset(...)")


BUILT_IN_SCHEMES = ("file", "hf", "huggingface")
"""Schemes of the built-in fetchers."""

_fetchers: list[Fetcher] = [LocalFetcher(), HfFetcher()]


def register_fetcher(fetcher: Fetcher) -> None:
    """Add a fetcher before all others. The first fetcher that supports a URI gets it."""
    if isinstance(fetcher, type):
        raise UsageError(
            f"register_fetcher got the class {fetcher.__name__}; give an object: {fetcher.__name__}()"
        )
    missing = [name for name in ("supports", "fetch") if not callable(getattr(fetcher, name, None))]
    if missing:
        raise UsageError(
            f"{type(fetcher).__name__} is not a fetcher: it lacks {' and '.join(missing)}. "
            "A fetcher has supports(uri) -> bool and fetch(uri, cache_dir=None) -> object with .path"
        )
    _fetchers.insert(0, fetcher)


def fetch(uri: str, base_dir: Path | None) -> FetchResult | HfUri | None:
    """The local file of a path or URI; the parsed URI if it names a hub dataset and no registered fetcher supports it; None
    if no fetcher supports it.
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
    """Check that the result of a fetcher names an existing file."""
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
    """A function of the URI, or an object with `fetch`; a class with `fetch` is instantiated."""
    if callable(getattr(value, "fetch", None)):
        return value() if isinstance(value, type) else value
    return Registry.check_function(value, 1)


SOURCE_PLUGINS: Registry[Any] = Registry(
    "sources", _source, built_in=lambda: BUILT_IN_SCHEMES, error=DatasetError
)
"""Sources of installed packages by the scheme of their URIs."""


def installed_source(uri: str) -> ProgramSource | FetchResult | None:
    """The rows or the local file of a URI that an installed source reads; None if no package has that scheme."""
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
