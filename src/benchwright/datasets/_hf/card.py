"""A dataset card's `configs:`: which configurations there are, and which files make up their splits."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from benchwright.core import DatasetError

CARD = "README.md"
"""The card's file."""

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n)?^---[ \t]*$", re.DOTALL | re.MULTILINE)
_HARMLESS = {
    "config_name", "data_files", "data_dir", "default", "description", "version", "features", "drop_labels",
    "drop_metadata", "license", "citation", "homepage", "dataset_size", "download_size",
}  # fmt: skip
_READING = {"field", "sep", "delimiter", "encoding", "lines"}


class CardConfig(Struct, frozen=True):
    """One configuration as the card declares it."""

    name: str
    splits: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Splits in order, each with the patterns of its files; empty when paths decide."""
    folder: str = ""
    """The folder all patterns start from, with a slash at its end unless it is the root."""
    default: bool = False
    """Whether the card marks it as the one to take."""
    field: str | None = None
    """Top-level key under which its JSON files keep the rows."""
    delimiter: str | None = None
    """What separates the cells of its CSV files."""
    unsupported: tuple[str, ...] = ()
    """Options that change how files are read, and that are not supported here."""


def front_matter(text: str) -> str:
    """The YAML in front of a card, or nothing."""
    match = _FRONT.match(text)
    return match[1] if match else ""


def card_configs(uri: str, front: str) -> list[CardConfig]:
    """The configurations that a card's front matter declares, in order. Raises DatasetError for a broken one."""
    if "configs" not in front:
        return []
    import yaml

    try:
        # Every scalar as its text: a configuration called `no` or `001` is not False or 1.
        found = yaml.load(front, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, RecursionError) as exc:
        mark = getattr(exc, "problem_mark", None)
        where = f", line {mark.line + 2}" if mark else ""
        raise _broken(uri, f"is not valid YAML{where}") from exc
    declared = found.get("configs") if isinstance(found, dict) else None
    if declared is None:
        return []
    if not isinstance(declared, list) or not all(isinstance(entry, dict) for entry in declared):
        raise _broken(uri, "has `configs` that are no list of tables")
    configs = [_config(uri, entry) for entry in declared]
    names = [config.name for config in configs]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise _broken(uri, f"declares the configuration {twice[0]!r} twice")
    return configs


def _config(uri: str, entry: dict[str, Any]) -> CardConfig:
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
    return CardConfig(
        name=name,
        splits=_splits(uri, name, entry.get("data_files")),
        folder=f"{folder}/" if folder else "",
        default=str(entry.get("default", "")).lower() == "true",
        field=None if rows_under is None else str(rows_under),
        delimiter=delimiter if isinstance(delimiter, str) else None,
        unsupported=tuple(unsupported),
    )


def _splits(uri: str, config: str, declared: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """`x.csv`, a list of such, a list of `{split, path}`, or a table of splits."""
    if declared is None:
        return ()
    if isinstance(declared, str):
        return (("train", (declared,)),)
    if isinstance(declared, dict):
        declared = [{"split": split, "path": path} for split, path in declared.items()]
    if isinstance(declared, list) and declared:
        if all(isinstance(entry, str) for entry in declared):
            return (("train", tuple(declared)),)
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
            return tuple((split, tuple(paths)) for split, paths in merged.items())
    raise _broken(uri, f"has `data_files` of {config!r} that are neither paths nor a list of split and path")


def _broken(uri: str, what: str) -> DatasetError:
    return DatasetError(
        f"{uri}: the dataset card ({CARD}) {what}. Name the files yourself: ?split=test&data_files=path/to/file.jsonl"
    )
