"""Finds the files of each split and configuration of a repository.

The `configs:` of the dataset card decide. If it has none, paths decide, by the conventions of the hub:
`data/<split>-00000-of-00004…`, then a folder named after a split, then a file name that contains one, else everything is
`train`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import DATA_FORMATS, DataFormat, DatasetError, data_format, suggest

CARD = "README.md"
"""The file of the dataset card."""

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n)?^---[ \t]*$", re.DOTALL | re.MULTILINE)
_HARMLESS = {
    "config_name", "data_files", "data_dir", "default", "description", "version", "features", "drop_labels",
    "drop_metadata", "license", "citation", "homepage", "dataset_size", "download_size",
}  # fmt: skip
_READING = {"field", "sep", "delimiter", "encoding", "lines"}


class Config(Struct, frozen=True):
    """A configuration: its splits and how its files are read."""

    name: str
    splits: Mapping[str, tuple[str, ...]]
    """Files of each split, both in order; patterns in the folder, as long as it is only declared by a card."""
    field: str | None = None
    """Top-level key under which JSON files keep the rows."""
    delimiter: str | None = None
    """The separator of cells in CSV files."""
    unsupported: tuple[str, ...] = ()
    """Options of the card that change how files are read, and that are not supported here."""
    default: bool = False
    """Whether the card marks it as the default."""
    folder: str = ""
    """The folder all patterns start from, with a slash at its end unless it is the root."""
    left_aside: tuple[str, ...] = ()
    """Files in another format than the chosen one."""


def front_matter(text: str) -> str:
    """The YAML at the start of a card, or an empty text."""
    match = _FRONT.match(text)
    return match[1] if match else ""


def card_configs(uri: str, front: str) -> list[Config]:
    """The configurations that a card's front matter declares, in order. Raises DatasetError for a broken one."""
    if "configs" not in front:
        return []
    import yaml

    try:
        # Every scalar is read as text: a configuration called `no` or `001` is not False or 1.
        found = yaml.load(front, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, RecursionError) as exc:
        mark = getattr(exc, "problem_mark", None)
        where = f", line {mark.line + 2}" if mark else ""
        raise _broken(uri, f"is not valid YAML{where}") from exc
    declared = found.get("configs") if isinstance(found, dict) else None
    if declared is None:
        return []
    if not isinstance(declared, list) or not all(isinstance(entry, dict) for entry in declared):
        raise _broken(uri, "has `configs` that are not a list of tables")
    configs = [_config(uri, entry) for entry in declared]
    names = [config.name for config in configs]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise _broken(uri, f"declares the configuration {twice[0]!r} twice")
    return configs


def _config(uri: str, entry: dict[str, Any]) -> Config:
    entry = {key: value for key, value in entry.items() if value not in ("", "~", "null")}
    name = entry.get("config_name")
    if not isinstance(name, str):
        raise _broken(uri, "has a configuration without a `config_name`")
    folder = str(entry.get("data_dir", "")).strip("/").removeprefix("./").strip("/")
    delimiter = entry.get("sep", entry.get("delimiter"))
    rows_under = entry.get("field")
    unsupported = [key for key in entry if key not in _HARMLESS and key not in _READING]
    if str(entry.get("encoding", "utf-8")).lower().replace("_", "-") not in ("utf-8", "utf8", "utf-8-sig"):
        unsupported.append("encoding")
    if str(entry.get("lines", "true")).lower() != "true":
        unsupported.append("lines")
    if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1):
        unsupported.append("sep")
    return Config(
        name=name,
        splits=_splits(uri, name, entry.get("data_files")),
        folder=f"{folder}/" if folder else "",
        default=str(entry.get("default", "")).lower() == "true",
        field=None if rows_under is None else str(rows_under),
        delimiter=delimiter if isinstance(delimiter, str) else None,
        unsupported=tuple(unsupported),
    )


def _splits(uri: str, config: str, declared: Any) -> dict[str, tuple[str, ...]]:
    """`x.csv`, a list of such, a list of `{split, path}`, or a table of splits."""
    if declared is None:
        return {}
    if isinstance(declared, str):
        return {"train": (declared,)}
    if isinstance(declared, dict):
        declared = [{"split": split, "path": path} for split, path in declared.items()]
    if isinstance(declared, list) and declared:
        if all(isinstance(entry, str) for entry in declared):
            return {"train": tuple(declared)}
        merged: dict[str, list[str]] = {}
        for entry in declared:
            if not isinstance(entry, dict):
                break
            split, path = entry.get("split"), entry.get("path")
            paths = [path] if isinstance(path, str) else path
            if (
                not isinstance(split, str)
                or not isinstance(paths, list)
                or not all(isinstance(p, str) for p in paths)
            ):
                break
            merged.setdefault(split, []).extend(paths)
        else:
            return {split: tuple(paths) for split, paths in merged.items()}
    raise _broken(uri, f"has `data_files` of {config!r} that are neither paths nor a list of split and path")


def _broken(uri: str, what: str) -> DatasetError:
    return DatasetError(
        f"{uri}: the dataset card ({CARD}) {what}. Name the files yourself: ?split=test&data_files=path/to/file.jsonl"
    )


_READ = tuple(format.name for format in DATA_FORMATS if format.hub)
"""Formats that can be read. In a tie, the earlier one is used."""
_IGNORED = {
    "config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "dummy_data.zip",
    "requirements.txt", "license.txt",
}  # fmt: skip
_SHARDED = re.compile(r"data/(\w+(?:\.\w+)*)-\d{5}-of-\d{5}\d*[^/]*\.[^/]*")
_EXPORTED = re.compile(r"([^/]+)/([^/]+)/\d{4,}\.parquet")
_WORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_BETWEEN = r"[-._ 0-9]"


def data_paths(paths: Iterable[str]) -> list[str]:
    """The paths that may contain rows: with known endings, not hidden, and not metadata of the hub."""
    return [
        path
        for path in paths
        if data_format(path, hub=True) is not None
        and path.rpartition("/")[2].lower() not in _IGNORED
        and not any(part.startswith((".", "__")) for part in path.split("/"))
    ]


def named_files(uri: str, pattern: str, paths: Sequence[str]) -> tuple[str, ...]:
    """The files that `data_files` names."""
    if "://" in pattern:
        raise DatasetError(
            f"{uri}: data_files is {pattern!r}; expected a path or pattern inside the repository"
        )
    found = matching_any([pattern], paths)
    if not found:
        whole = clean(pattern).rstrip("/")
        inside = [path for path in paths if path.startswith(f"{whole}/")] if whole else []
        hint = f" It is a folder: data_files={whole}/*" if inside else suggest(clean(pattern), list(paths))
        listed = ", ".join(data_paths(paths)[:10]) or ", ".join(paths[:10]) or "nothing"
        raise DatasetError(
            f"{uri}: no file matches data_files={pattern}.{hint} The repository contains: {listed}"
        )
    unknown = [path for path in found if data_format(path, hub=True) is None]
    if unknown and not is_wild(pattern):
        raise DatasetError(
            f"{uri}: {unknown[0]} has a format that benchwright does not read (it reads {', '.join(_READ)}, also .gz and .zst)"
        )
    kept, _ = one_format(_rows_in(found, [pattern]))
    if not kept:
        raise DatasetError(
            f"{uri}: data_files={pattern} matches no file in a format that benchwright reads ({', '.join(_READ)})"
        )
    return tuple(kept)


def repo_configs(declared: Sequence[Config], paths: Sequence[str]) -> list[Config]:
    """The configurations of a repository: those of its card, else the one its paths show. May be empty."""
    if declared:
        return [_declared(config, paths) for config in declared]
    usable = data_paths(paths)
    exported = exported_configs(usable)
    if exported and len(exported) > 1 and all(_EXPORTED.fullmatch(path) for path in usable):
        return exported
    splits, left = _by_path(usable)
    return [Config("default", splits, left_aside=left)] if splits else []


def exported_configs(paths: Iterable[str]) -> list[Config]:
    """Configurations of the hub's Parquet export: `<config>/<split>/0000.parquet`."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(paths):
        if match := _EXPORTED.fullmatch(path):
            found.setdefault(match[1], {}).setdefault(match[2], []).append(path)
    return [
        Config(name, {split: tuple(splits[split]) for split in _in_order(splits)})
        for name, splits in found.items()
    ]


def one_format(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Files in the most frequent format, and the rest, because the same rows are often published in two formats. Plain text
    counts as data only if there is nothing else."""
    counts = Counter(map(_kind, paths))
    if len(counts) < 2:
        return list(paths), []
    best = min(counts, key=lambda kind: (not kind.certain, -counts[kind], DATA_FORMATS.index(kind)))
    return [path for path in paths if _kind(path) == best], [path for path in paths if _kind(path) != best]


def _kind(path: str) -> DataFormat:
    """The format of a file; formats that may be combined in one split count as one."""
    found = data_format(path, hub=True)
    if found is None:
        return DATA_FORMATS[-1]
    return next((format for format in DATA_FORMATS if format.name == found.like), found)


def _declared(config: Config, paths: Sequence[str]) -> Config:
    inside = [path.removeprefix(config.folder) for path in paths if path.startswith(config.folder)]
    if config.splits:
        found = {split: matching_any(patterns, inside) for split, patterns in config.splits.items()}
        readable = {split: _rows_in(files, config.splits[split]) for split, files in found.items()}
        # A pattern such as `data/**` may match other files too. A split that names only unreadable files is kept empty,
        # so that a message can explain why it is missing.
        splits, left = _per_split(readable)
        splits = {split: splits.get(split, ()) for split in found}
    else:
        splits, left = _by_path(data_paths(inside))
    found_files = {split: tuple(config.folder + path for path in files) for split, files in splits.items()}
    return replace(config, splits=found_files, left_aside=left)


def _rows_in(paths: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The files matched by patterns that may contain rows or are named explicitly."""
    usable = {*data_paths(paths), *(path for path in map(clean, patterns) if data_format(path, hub=True))}
    return [path for path in paths if path in usable]


def _by_path(paths: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    sharded: dict[str, list[str]] = {}
    for path in sorted(paths):
        if match := _SHARDED.fullmatch(path):
            sharded.setdefault(match[1], []).append(path)
    if sharded:
        return _per_split({split: sharded[split] for split in _in_order(sharded)})
    for where in (_in_folder, _in_name):
        found = {
            split: [path for path in sorted(paths) if any(where(word)(path) for word in words)]
            for split, words in _WORDS.items()
        }
        if found := {split: files for split, files in found.items() if files}:
            return _per_split(found)
    return _per_split({"train": sorted(paths)} if paths else {})


def _per_split(found: Mapping[str, Sequence[str]]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    chosen = {split: one_format(files) for split, files in found.items()}
    left = dict.fromkeys(path for _, others in chosen.values() for path in others)
    return {split: tuple(files) for split, (files, _) in chosen.items() if files}, tuple(left)


def _in_folder(word: str) -> Callable[[str], object]:
    return re.compile(rf"(?:.*/)?(?:[^/]*{_BETWEEN})?{word}(?:{_BETWEEN}[^/]*)?/.*").fullmatch


def _in_name(word: str) -> Callable[[str], object]:
    return re.compile(rf"(?:.*/)?(?:[^/]*{_BETWEEN})?{word}{_BETWEEN}[^/]*").fullmatch


def _in_order(splits: Iterable[str]) -> list[str]:
    """train, validation, test, then the others by name."""
    usual = list(_WORDS)
    return sorted(splits, key=lambda split: (usual.index(split) if split in usual else len(usual), split))


_WILD = re.compile(r"[*?\[]")


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    """The paths that match a pattern, in order. `*` stays within a folder, `**` does not; hidden files and those in
    hidden folders or folders such as `__pycache__` must be named in full.

    >>> matching("data/*.csv", ["data/a.csv", "data/old/b.csv", "c.csv"])
    ['data/a.csv']
    """
    pattern = clean(pattern)
    regex = _regex(pattern)
    hidden = _hidden_parts(pattern)
    return sorted(path for path in paths if regex.fullmatch(path) and _hidden_parts(path) <= hidden)


def clean(pattern: str) -> str:
    """A pattern without a leading `./` or `/`."""
    while pattern.startswith(("./", "/")):
        pattern = pattern.removeprefix(".").removeprefix("/")
    return pattern


def is_wild(pattern: str) -> bool:
    """Whether a pattern may match more than the path it spells."""
    return _WILD.search(pattern) is not None


def matching_any(patterns: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The paths that match any of the patterns: pattern by pattern, each path once."""
    return list(dict.fromkeys(path for pattern in patterns for path in matching(pattern, paths)))


def _hidden_parts(path: str) -> set[str]:
    return {part for part in path.split("/") if part.startswith((".", "__"))}


@lru_cache(maxsize=512)
def _regex(pattern: str) -> re.Pattern[str]:
    out, at = [], 0
    while at < len(pattern):
        rest = pattern[at:]
        if rest.startswith("**/"):
            out.append("(?:.*/)?")
            at += 3
        elif rest.startswith("**"):
            out.append(".*")
            at += 2
        elif rest[0] == "*":
            out.append("[^/]*")
            at += 1
        elif rest[0] == "?":
            out.append("[^/]")
            at += 1
        elif rest[0] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inner = pattern[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^/{inner[1:]}]" if inner[0] in "!^" else f"(?!/)[{inner}]")
            at = end + 1
        else:
            out.append(re.escape(rest[0]))
            at += 1
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern))
