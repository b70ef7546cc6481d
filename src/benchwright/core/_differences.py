"""Where two JSON values differ: paths and both sides, for messages and comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.core._json import JsonValue

DifferenceKind: TypeAlias = Literal["changed", "added", "removed"]
"""What became of a field."""


class JsonDifference(Struct, frozen=True):
    """One place where two JSON values differ."""

    path: str
    """`$` is the whole value, `$.rows[3].text` a field in it."""
    kind: DifferenceKind
    """Whether the field is on both sides, on the new one only, or on the old one only."""
    old: JsonValue
    """The old side; None when there is none."""
    new: JsonValue
    """The new side; None when there is none."""

    def __str__(self) -> str:
        if self.kind == "added":
            return f"{self.path}: added {_short(self.new)}"
        if self.kind == "removed":
            return f"{self.path}: removed, was {_short(self.old)}"
        return f"{self.path}: {_short(self.old)} → {_short(self.new)}"


def json_differences(old: JsonValue, new: JsonValue, path: str = "$") -> Iterator[JsonDifference]:
    """Every place where two values differ, in the order of the old one. `1` and `1.0` differ, as their JSON does.

    >>> [str(found) for found in json_differences({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3], "c": None})]
    ['$.b[1]: 2 → 3', '$.c: added null']
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old:
            place = _field(path, name)
            if name in new:
                yield from json_differences(old[name], new[name], place)
            else:
                yield JsonDifference(place, "removed", old[name], None)
        for name in new:
            if name not in old:
                yield JsonDifference(_field(path, name), "added", None, new[name])
    elif isinstance(old, list) and isinstance(new, list):
        for number in range(max(len(old), len(new))):
            place = f"{path}[{number}]"
            if number >= len(new):
                yield JsonDifference(place, "removed", old[number], None)
            elif number >= len(old):
                yield JsonDifference(place, "added", None, new[number])
            else:
                yield from json_differences(old[number], new[number], place)
    elif type(old) is not type(new) or old != new:
        yield JsonDifference(path, "changed", old, new)


def _field(path: str, name: str) -> str:
    import json

    return f"{path}.{name}" if name.isidentifier() else f"{path}[{json.dumps(name, ensure_ascii=False)}]"


def _short(value: JsonValue) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


_LONGEST = 80
"""Characters of a value in a message."""
