"""Parses and checks `hf://` URIs before anything is loaded, and keeps the commits that they refer to in a run.

    hf://dataset    hf://org/dataset    hf://org/dataset/config    hf://org/dataset/config/split

then `?key=value&…`. An explicit `split=` or `config=` overrides the one in the path. If a key is given twice, the last
one counts. Blank values are values.

Within `hub_commits()` every revision is looked up at most once: the rows, the examples and the checks of a run see the same
commit, even if the branch moves in the meantime. A run records the commits, and passes them in again when it resumes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias, get_args
from urllib.parse import parse_qsl, quote, unquote, urlencode

from msgspec import Struct

from benchwright.core import DatasetError, is_hub_uri, late_pattern, suggest
from benchwright.datasets._values import Filter

LoaderName: TypeAlias = Literal["files", "export", "viewer", "datasets"]
"""Sources of the rows: the repository's files, the hub's Parquet export, the dataset viewer, the `datasets` library."""

_LOADERS: tuple[LoaderName, ...] = get_args(LoaderName)
_NUMBERED = late_pattern(r"filter_(?:field|value)_([1-9][0-9]{0,5})")
_REPO_PART = late_pattern(r"[\w][\w.-]*")
_YES = {"1", "true", "yes"}


class HfUri(Struct, frozen=True):
    """A dataset on the hub and a selection of its rows. `str()` returns the URI."""

    dataset: str
    """`org/name`, or `name` alone."""
    split: str | None = None
    """Split, or a slice such as `test[:100]`."""
    config: str | None = None
    """Configuration (subset)."""
    revision: str | None = None
    """Branch, tag or commit."""
    data_files: str | None = None
    """File or pattern inside the repository."""
    field: str | None = None
    """Top-level key under which a JSON file keeps its rows."""
    loader: LoaderName | None = None
    """How to get the rows; None: the first loader that has them."""
    trust_remote_code: bool = False
    """Whether the user allows code from the repository."""
    filters: tuple[Filter, ...] = ()
    """Rows to keep, applied in this order after loading."""

    def __str__(self) -> str:
        query = [(key, value) for key in _SINGLE if (value := getattr(self, key)) is not None]
        if self.trust_remote_code:
            query.append(("trust_remote_code", "true"))
        for number, condition in enumerate(self.filters):
            tail = f"_{number}" if number else ""
            query += [(f"filter_field{tail}", condition.field), (f"filter_value{tail}", condition.value)]
        return f"hf://{quote(self.dataset)}" + (f"?{urlencode(query)}" if query else "")


_SINGLE = tuple(
    name
    for name, default in zip(
        reversed(HfUri.__struct_fields__), reversed(HfUri.__struct_defaults__), strict=False
    )
    if default is None
)[::-1]
"""Keys that contain one text, in the order in which URIs are written."""
_KNOWN = (*_SINGLE, "trust_remote_code", "filter_field", "filter_value")


def parse_hf_uri(uri: str) -> HfUri:
    """Parse a hub URI. Raises DatasetError for any part of it that would have no effect.

    >>> parse_hf_uri("hf://org/name/cfg?split=test").config
    'cfg'
    """
    if not is_hub_uri(uri):
        raise DatasetError(f"Invalid HuggingFace URI {uri!r}: expected it to start with hf://")
    body, _, query = uri[uri.index("://") + 3 :].partition("?")
    parts = [part for part in body.split("/") if part]
    dataset, config, split = _positions(uri, parts)
    options = dict(parse_qsl(query, keep_blank_values=True))
    filters = _filters(uri, options)
    _check_keys(uri, options)
    for key in _SINGLE:
        if options.get(key) == "":
            raise DatasetError(f"{uri}: {key} is empty. Give it a value or leave it out")
    loader: LoaderName | None = next((known for known in _LOADERS if known == options.get("loader")), None)
    if loader is None and "loader" in options:
        wrong = options["loader"]
        raise DatasetError(
            f"{uri}: unknown loader {wrong!r}; known: {', '.join(_LOADERS)}.{suggest(wrong, _LOADERS)}"
        )
    return HfUri(
        dataset=dataset,
        config=options.get("config", config),
        split=options.get("split", split),
        revision=options.get("revision"),
        trust_remote_code=options.get("trust_remote_code", "").lower() in _YES,
        filters=filters,
        data_files=options.get("data_files"),
        field=options.get("field"),
        loader=loader,
    )


def with_parameters(
    uri: str, *, config: str | None = None, split: str | None = None, revision: str | None = None
) -> str:
    """The URI with configuration, split and revision filled in, and its scheme as `hf://`. Raises DatasetError if they
    contradict the URI.

    >>> with_parameters("HF://org/name?split=test", revision="v1", split="test")
    'hf://org/name?split=test&revision=v1'
    """
    parsed = parse_hf_uri(uri)
    uri = f"hf://{uri.partition('://')[2]}"
    for name, value in (("config", config), ("split", split), ("revision", revision)):
        written = getattr(parsed, name)
        if value is None or written == value:
            continue
        if written is not None:
            raise DatasetError(
                f"dataset source {uri!r} says {name}={written}, and {name}={value!r} was given as well"
            )
        uri += f"{'&' if '?' in uri else '?'}{name}={quote(value, safe='')}"
    return uri


def _positions(uri: str, parts: list[str]) -> tuple[str, str | None, str | None]:
    if not parts:
        raise DatasetError(f"Invalid HuggingFace URI (empty body): {uri!r}. Expected hf://org/dataset")
    if parts[0] == "datasets" and len(parts) > 1:
        raise DatasetError(f"{uri}: leave out 'datasets/': hf://{'/'.join(parts[1:])}")
    if len(parts) > 4:
        raise DatasetError(
            f"{uri}: {len(parts)} parts; expected at most org/dataset/config/split. "
            "A file inside the repository goes into ?data_files=path/to/file"
        )
    for part in parts[:2]:
        name, at, revision = part.partition("@")
        if at and _REPO_PART.fullmatch(name):
            raise DatasetError(f"{uri}: write the revision as ?revision={revision}, not after '@'")
        if not _REPO_PART.fullmatch(part):
            raise DatasetError(f"{uri}: {part!r} is not the name of an organisation or dataset")
    config, split = (unquote(part) for part in [*parts[2:], "", ""][:2])
    return "/".join(parts[:2]), config or None, split or None


def _filters(uri: str, options: dict[str, str]) -> tuple[Filter, ...]:
    """The filters in order: the unnumbered one, then `_1`, `_2`, … up to the first number that is absent."""
    found: list[Filter] = []
    number, tail = 0, ""
    while True:
        name, value = options.get(f"filter_field{tail}"), options.get(f"filter_value{tail}")
        if name is None and value is None:
            if number > 0:
                return tuple(found)
        elif name is None or value is None:
            there, lacking = ("value", "field") if name is None else ("field", "value")
            raise DatasetError(f"{uri}: filter_{there}{tail} needs filter_{lacking}{tail} as well")
        elif not name:
            raise DatasetError(f"{uri}: filter_field{tail} is empty; expected the name of a column")
        else:
            found.append(Filter(name, value))
        number += 1
        tail = f"_{number}"


def _check_keys(uri: str, options: dict[str, str]) -> None:
    for key in options:
        if key in _KNOWN:
            continue
        numbered = _NUMBERED.fullmatch(key)
        if not numbered:
            raise DatasetError(
                f"{uri}: unknown key {key!r}; known: {', '.join(_KNOWN)}." + suggest(key, _KNOWN)
            )
        for number in range(1, int(numbered[1])):
            if f"filter_field_{number}" not in options:
                raise DatasetError(
                    f"{uri}: {key} comes after a gap, so it would not be applied: there is no "
                    f"filter_field_{number}. Number filters 1, 2, 3, …"
                )


class Commits:
    """Commits by `org/name@revision`. Nested instances share their look-ups."""

    def __init__(self, recorded: Mapping[str, str], outer: Commits | None) -> None:
        self._recorded = recorded
        self._outer = outer
        self.used: dict[str, str] = {}
        """The commits that were used here."""

    def get(self, key: str) -> str | None:
        """The commit, if it was looked up before."""
        found = self.used.get(key) or self._recorded.get(key)
        if found is None and self._outer is not None:
            found = self._outer.get(key)
        if found is not None:
            self.used[key] = found
        return found

    def keep(self, key: str, commit: str) -> None:
        """Keep a commit that was just looked up."""
        self.used[key] = commit
        if self._outer is not None:
            self._outer.keep(key, commit)


pinned_commits: ContextVar[Commits | None] = ContextVar("hub_commits", default=None)
"""The innermost one; None outside `hub_commits()`."""


def recorded_pins(manifest: Mapping[str, object]) -> dict[str, str]:
    """The commits that a recorded run read, and its split if the URI named none, because the rule that chose it may have
    changed. For `hub_commits`."""
    commits, dataset = manifest.get("hub"), manifest.get("dataset")
    pins = {str(key): str(value) for key, value in commits.items()} if isinstance(commits, Mapping) else {}
    source = dataset.get("source") if isinstance(dataset, Mapping) else None
    if isinstance(dataset, Mapping) and isinstance(source, Mapping) and isinstance(source.get("split"), str):
        pins[_split_key(str(dataset.get("name")))] = source["split"]
    return pins


def recorded_split(uri: str) -> str | None:
    """The split that a recorded run read from a URI without a split."""
    pins = pinned_commits.get()
    return None if pins is None else pins.get(_split_key(uri))


def _split_key(uri: str) -> str:
    return f"split of {uri}"


@contextmanager
def hub_commits(recorded: object = None) -> Iterator[dict[str, str]]:
    """Pin every revision of a hub dataset to one commit inside the block. Yields the dictionary of the commits used.

    Also a decorator: `@hub_commits()`.

    Args:
        recorded: the commits of an earlier run, from its record; these revisions are not looked up again.
    """
    known = recorded if isinstance(recorded, Mapping) else {}
    commits = Commits({str(key): str(value) for key, value in known.items()}, pinned_commits.get())
    token = pinned_commits.set(commits)
    try:
        yield commits.used
    finally:
        pinned_commits.reset(token)
