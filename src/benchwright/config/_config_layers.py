"""Layers of a run configuration: the values of each, how they are merged, and where a value comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

Path: TypeAlias = tuple[str, ...]
"""A key as a tuple of words, because keys of an inner table may contain dots."""

LayerName: TypeAlias = Literal["framework", "task", "run config", "flags", "overrides"]
"""The layers, from the lowest: defaults of all evaluations, what a benchmark and benchwright.toml declare, the file, flags,
and overrides."""


class Layer(Struct, frozen=True):
    """The values of one place."""

    name: LayerName
    values: Mapping[Path, Any]
    """Values by key; None resets values of lower layers, except defaults."""
    source: str
    """The place: a file, or what was typed."""
    sources: Mapping[Path, str] = {}
    """The place of single values, if it differs."""


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
    """Merge layers: the value of each key is that of the last layer that sets it.

    A null resets a value to the default of the framework or the task.
    """
    found = _Values()
    defaults: dict[Path, ConfigValue] = {}
    for layer in layers:
        for path, value in layer.values.items():
            source = layer.sources.get(path, layer.source)
            if value is None:
                found.clear(path)
                for other, kept in defaults.items():
                    if other[: len(path)] == path:
                        found.put(other, kept)
                continue
            if value == {} and (path in found.by_path or found.inside[path]):
                continue  # adds nothing to the table that is there
            replaced = found.by_path.get(path)
            over = () if replaced is None else (_alone(replaced), *replaced.over)
            found.clear(path)
            found.put(path, ConfigValue(".".join(path), value, layer.name, source, over))
        if layer.name in ("framework", "task"):
            defaults = dict(found.by_path)
    return found.by_path


class _Values:
    """Values by path, with their number inside each table: a table of thousands is then merged without a search for each."""

    def __init__(self) -> None:
        self.by_path: dict[Path, ConfigValue] = {}
        self.inside: Counter[Path] = Counter()

    def put(self, path: Path, value: ConfigValue) -> None:
        """Set a value, in place of one that stands where this one needs a table."""
        for length in range(1, len(path)):
            if path[:length] in self.by_path:
                self._drop(path[:length])
            self.inside[path[:length]] += 1
        self.by_path[path] = value

    def clear(self, path: Path) -> None:
        """Remove the value of a key, and of all keys below it."""
        if path in self.by_path:
            self._drop(path)
        if self.inside[path]:
            for other in [other for other in self.by_path if other[: len(path)] == path]:
                self._drop(other)

    def _drop(self, path: Path) -> None:
        del self.by_path[path]
        for length in range(1, len(path)):
            self.inside[path[:length]] -= 1


def _alone(value: ConfigValue) -> ConfigValue:
    return ConfigValue(value.key, value.value, value.layer, value.source)


def as_table(values: Mapping[Path, Any], *, as_written: bool = False) -> dict[str, Any]:
    """Nested tables of values by path, with sorted keys, or with the keys of each table in the written order."""
    document: dict[str, Any] = {}
    for path, value in values.items() if as_written else sorted(values.items(), key=lambda each: each[0]):
        place = document
        for word in path[:-1]:
            place = place.setdefault(word, {})
        place[path[-1]] = value
    return document
