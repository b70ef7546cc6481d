"""Patterns of paths, as dataset cards and `data_files` write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_WILD = re.compile(r"[*?\[]")


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    """The paths a pattern names, in order. `*` stays within a folder, `**` does not; hidden files and those in
    hidden folders or folders such as `__pycache__` must be asked for by name.

    >>> matching("data/*.csv", ["data/a.csv", "data/old/b.csv", "c.csv"])
    ['data/a.csv']
    """
    pattern = clean(pattern)
    regex = _regex(pattern)
    hidden = _hidden_parts(pattern)
    return sorted(path for path in paths if regex.fullmatch(path) and _hidden_parts(path) <= hidden)


def clean(pattern: str) -> str:
    """A pattern without the `./` or `/` people put in front of it."""
    while pattern.startswith(("./", "/")):
        pattern = pattern.removeprefix(".").removeprefix("/")
    return pattern


def is_wild(pattern: str) -> bool:
    """Whether a pattern may match more than the path it spells."""
    return _WILD.search(pattern) is not None


def matching_any(patterns: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The paths that any of the patterns names: pattern by pattern, each path once."""
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
