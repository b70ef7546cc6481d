"""Which configuration and which split, when the URI does not say; and what to say when it says one that is not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchwright.core import DatasetError, suggest
from benchwright.datasets._hf.layout import Config

_EVALUATION = ("test", "validation", "eval", "train")
_MEANS_VALIDATION = ("dev", "val", "valid")


def choose_config(uri: str, wanted: str | None, configs: Sequence[Config]) -> Config:
    """The configuration asked for, else the marked one, `default`, or the only one. Never just the first."""
    names = [config.name for config in configs]
    if wanted is not None:
        for config in configs:
            if config.name == wanted:
                return config
        raise DatasetError(
            f"{uri}: there is no configuration {wanted!r}; there are: {', '.join(names)}.{suggest(wanted, names)}"
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
    """A split, and in words why: the one rule for benchmarks, tables, workflows and the dataset server."""
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


def no_such_split(uri: str, wanted: str, config: str, splits: Sequence[str]) -> DatasetError:
    """The error for a split that is not there."""
    where = "" if config == "default" else f" of configuration {config!r}"
    return DatasetError(
        f"{uri}: there is no split {wanted!r}{where}; there are: {_listed(splits)}.{suggest(wanted, splits)}"
    )


def _listed(names: Iterable[str], most: int = 20) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" … and {len(names) - most} more" if len(names) > most else "")
