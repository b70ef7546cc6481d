"""Layers of a run configuration: what each place sets, which one wins, and where a value comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

Path: TypeAlias = tuple[str, ...]
"""A key as its words: those of an inner table may hold dots."""

LayerName: TypeAlias = Literal["framework", "task", "run config", "flags", "overrides"]
"""The layers, from the lowest: defaults of all evaluations, what a benchmark and benchwright.toml declare, the file, flags,
and overrides."""


class Layer(Struct, frozen=True):
    """What one place sets."""

    name: LayerName
    values: Mapping[Path, Any]
    """Values by their keys; None takes back what lower layers set, but for defaults."""
    source: str
    """The place: a file, or what was typed."""
    sources: Mapping[Path, str] = {}
    """The place of single values, where it is another one."""


class ConfigValue(Struct, frozen=True):
    """A value of a run configuration, and where it comes from."""

    key: str
    """Its dotted key."""
    value: Any
    layer: LayerName
    source: str
    """The file or the flag that sets it."""
    over: tuple[ConfigValue, ...] = ()
    """The values of lower layers that it replaces, the nearest first."""

    def to_json(self) -> dict[str, Any]:
        """As `--explain-config --json` prints it."""
        own = {"key": self.key, "value": self.value, "layer": self.layer, "source": self.source}
        return {**own, "over": [value.to_json() for value in self.over]} if self.over else own


def leaves(table: Mapping[Any, Any], before: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values of nested tables by their paths; an empty table is a value.

    >>> dict(leaves({"a": {"b": 1, "c": {}}, "d": [2]}))
    {('a', 'b'): 1, ('a', 'c'): {}, ('d',): [2]}
    """
    for key, value in table.items():
        path = (*before, str(key))
        if isinstance(value, Mapping) and value:
            yield from leaves(value, path)
        else:
            yield path, value


def merge_layers(layers: Sequence[Layer]) -> dict[Path, ConfigValue]:
    """The values that hold, by path: of each key, the one of the last layer that sets it.

    A null takes a value back: then the default holds, of the framework or the task.
    """
    found: dict[Path, ConfigValue] = {}
    defaults: dict[Path, ConfigValue] = {}
    for layer in layers:
        for path, value in layer.values.items():
            source = layer.sources.get(path, layer.source)
            below = [other for other in found if other[: len(path)] == path]
            if value is None:
                for other in below:
                    del found[other]
                found |= {other: kept for other, kept in defaults.items() if other[: len(path)] == path}
                continue
            if value == {} and below:
                continue  # adds nothing to the table that is there
            replaced = found.get(path)
            over = () if replaced is None else (_alone(replaced), *replaced.over)
            for other in list(found):  # a value instead of a table, or the other way round
                if other[: len(path)] == path or path[: len(other)] == other:
                    del found[other]
            found[path] = ConfigValue(".".join(path), value, layer.name, source, over)
        if layer.name in ("framework", "task"):
            defaults = dict(found)
    return found


def _alone(value: ConfigValue) -> ConfigValue:
    return ConfigValue(value.key, value.value, value.layer, value.source)


def as_table(values: Mapping[Path, Any], *, as_written: bool = False) -> dict[str, Any]:
    """Nested tables of values by path, with sorted keys, or with those of each table as they were written."""
    document: dict[str, Any] = {}
    for path, value in values.items() if as_written else sorted(values.items(), key=lambda each: each[0]):
        place = document
        for word in path[:-1]:
            place = place.setdefault(word, {})
        place[path[-1]] = value
    return document
