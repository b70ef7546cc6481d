"""Values of a run configuration, how those of its layers are merged, and where each comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

Path: TypeAlias = tuple[str, ...]
"""A key as a tuple of words, because keys of an inner table may contain dots."""

LayerName: TypeAlias = Literal["framework", "task", "run config", "flags", "overrides"]
"""The layers, from the lowest: defaults of all evaluations, what a benchmark and benchwright.toml declare, the file, flags,
and overrides."""


class ConfigValue(Struct, frozen=True):
    """A value of a run configuration: where it stands, and where it comes from."""

    path: Path
    value: Any
    """None resets values of lower layers, except defaults."""
    layer: LayerName
    source: str
    """The file or the flag that sets it."""
    over: tuple[ConfigValue, ...] = ()
    """The values of lower layers that it replaces, the nearest first."""

    @property
    def key(self) -> str:
        """Its dotted key."""
        return ".".join(self.path)

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


def merged(values: Iterable[ConfigValue]) -> dict[Path, ConfigValue]:
    """The last value of each key. Values come layer by layer, from the lowest.

    A null resets a value to the default of the framework or the task.
    """
    found = _Values()
    defaults: dict[Path, ConfigValue] = {}
    for layer, given in groupby(values, attrgetter("layer")):
        for value in given:
            path = value.path
            if value.value is None:
                found.clear(path)
                for other, kept in defaults.items():
                    if other[: len(path)] == path:
                        found.put(other, kept)
                continue
            if value.value == {} and (path in found.by_path or found.inside[path]):
                continue  # adds nothing to the table that is there
            replaced = found.by_path.get(path)
            over = () if replaced is None else (replace(replaced, over=()), *replaced.over)
            found.clear(path)
            found.put(path, replace(value, over=over))
        if layer in ("framework", "task"):
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


def as_table(values: Mapping[Path, Any], *, as_written: bool = False) -> dict[str, Any]:
    """Nested tables of values by path, with sorted keys, or with the keys of each table in the written order."""
    document: dict[str, Any] = {}
    for path, value in values.items() if as_written else sorted(values.items(), key=lambda each: each[0]):
        place = document
        for word in path[:-1]:
            place = place.setdefault(word, {})
        place[path[-1]] = value
    return document
