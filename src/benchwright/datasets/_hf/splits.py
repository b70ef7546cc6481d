"""Chooses configuration and split: parses split texts, and picks a split if the URI names none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from benchwright.core import DatasetError, JsonObject, suggest
from benchwright.datasets._hf.layout import Config

_TERM = re.compile(
    r"(?P<split>[^\s\[\]()+]+)"
    r"(?:\[(?:(?P<start>-?\d[\d_]*)(?P<start_pct>%)?)?:(?:(?P<stop>-?\d[\d_]*)(?P<stop_pct>%)?)?\])?"
    r"(?P<rounding>\((?:closest|pct1_dropremainder)\))?"
)


class Term(Struct, frozen=True):
    """One split, or a slice of it."""

    split: str
    """Its name."""
    start: int | None = None
    """First row, or percent of the rows; negative from the end; None for the start."""
    stop: int | None = None
    """Row, or percent, before which it ends; None for the end."""
    percent: bool = False
    """Whether the two are percentages."""
    whole_percents: bool = False
    """Whether each percent has the same number of rows, and the remainder is dropped."""

    @property
    def needs_total(self) -> bool:
        """Whether the bounds depend on the number of rows."""
        return self.percent or (self.start or 0) < 0 or (self.stop or 0) < 0

    def bounds(self, rows: int | None) -> tuple[int, int | None]:
        """The first row and the row before which it ends, in a split with this many rows. Bounds beyond the end mean the end.

        >>> Term("train", -25, None, percent=True).bounds(10)
        (8, 10)
        """
        if not self.needs_total:
            return self.start or 0, self.stop
        if rows is None:
            raise ValueError("the number of rows is needed")
        start = 0 if self.start is None else self._row(self.start, rows)
        stop = rows if self.stop is None else self._row(self.stop, rows)
        return min(start, rows), min(stop, rows)

    def _row(self, bound: int, rows: int) -> int:
        if self.percent:
            bound = bound * (rows // 100) if self.whole_percents else round(bound * rows / 100)
        return bound if bound >= 0 else max(0, rows + bound)


def parse_split(uri: str, text: str) -> tuple[Term, ...]:
    """The terms of a split text, in order. Raises DatasetError for a term that cannot be read.

    >>> [term.split for term in parse_split("", "train[:5]+test")]
    ['train', 'test']
    """
    return tuple(_term(uri, text, part) for part in text.split("+"))


def spelled_with_plus(text: str) -> str:
    """Restore the plus signs of a split text: in a query they arrive as spaces, which no split has.

    >>> spelled_with_plus("train test[: 5]")
    'train+test[:5]'
    """
    text = re.sub(r"\[[^\]]*\]", lambda match: re.sub(r"\s", "", match[0]), text.strip())
    return re.sub(r"\s*\+\s*|\s+", "+", text)


def _term(uri: str, text: str, part: str) -> Term:
    match = _TERM.fullmatch(part)
    if match is None:
        raise DatasetError(
            f"{uri}: split {text!r} cannot be read; expected a name, a slice such as test[:100], test[-5:] or "
            "test[10%:20%], or a sum such as train+test"
        )
    percent = bool(match["start_pct"] or match["stop_pct"])
    start, stop = (None if match[name] is None else int(match[name]) for name in ("start", "stop"))
    if percent and any(abs(bound or 0) > 100 for bound in (start, stop)):
        raise DatasetError(f"{uri}: split {text!r} goes beyond 100 %")
    return Term(match["split"], start, stop, percent, match["rounding"] == "(pct1_dropremainder)")


_EVALUATION = ("test", "validation", "eval", "train")
_MEANS_VALIDATION = ("dev", "val", "valid")


def split_identity(repo: str, commit: str, config: str, split: str) -> JsonObject:
    """The identity of a split, for the keys of the row cache."""
    return {"repo": repo, "commit": commit, "config": config, "split": split}


def choose_config(uri: str, requested: str | None, configs: Sequence[Config]) -> Config:
    """The requested configuration, else the marked one, `default`, or the only one; never simply the first."""
    names = [config.name for config in configs]
    if requested is not None:
        for config in configs:
            if config.name == requested:
                return config
        raise DatasetError(
            f"{uri}: there is no configuration {requested!r}; there are: {', '.join(names)}.{suggest(requested, names)}"
        )
    marked = [config for config in configs if config.default]
    if len(marked) > 1:
        raise DatasetError(
            f"{uri}: the dataset card marks more than one configuration as the default "
            f"({', '.join(config.name for config in marked)}). Choose one: ?config={marked[0].name}"
        )
    for candidates in (marked, [config for config in configs if config.name == "default"], list(configs)):
        if len(candidates) == 1:
            return candidates[0]
    raise DatasetError(
        f"{uri}: the dataset has {len(configs)} configurations and no default. Choose one: "
        f"?config={names[0]}. There are: {_listed(names)}"
    )


def choose_split(splits: Sequence[str]) -> tuple[str, str]:
    """A split, and the reason in words. Benchmarks, tables, workflows and the dataset server all use this rule."""
    if len(splits) == 1:
        return splits[0], "the only split"
    order = ", ".join(_EVALUATION)
    for name in _EVALUATION:
        if name in splits:
            return name, f"{name!r} comes first in {order}"
        if name == "validation":
            for other in _MEANS_VALIDATION:
                if other in splits:
                    return other, f"{other!r} stands for validation, which comes first in {order}"
    return splits[0], f"the first of {_listed(splits)}"


def no_such_split(uri: str, requested: str, config: str, splits: Sequence[str]) -> DatasetError:
    """The error for a split that does not exist."""
    where = "" if config == "default" else f" of configuration {config!r}"
    return DatasetError(
        f"{uri}: there is no split {requested!r}{where}; there are: {_listed(splits)}.{suggest(requested, splits)}"
    )


def _listed(names: Iterable[str], most: int = 20) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" … and {len(names) - most} more" if len(names) > most else "")
