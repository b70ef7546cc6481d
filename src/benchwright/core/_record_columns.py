"""Many records at once: most of what a short text costs is the call that reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import orjson


def load_each(texts: Sequence[bytes]) -> list[Any]:
    """The value of each JSON text.

    >>> load_each([b'{"a":1}', b"null"])
    [{'a': 1}, None]
    """
    values: list[Any] = orjson.loads(b"[%b]" % b",".join(texts))
    return values


class RecordColumns:
    """The fields of many records, each with a value per record. A record each would take several times as long, and a
    run may have a million."""

    __slots__ = ("_held", "_keys", "_records")

    def __init__(self, texts: Sequence[bytes], keys: Mapping[str, str]) -> None:
        self._keys = keys
        self._records: list[dict[str, Any]] = load_each(texts)
        self._held: set[str] = set().union(*self._records)

    def __len__(self) -> int:
        return len(self._records)

    def holds(self, name: str) -> bool:
        """Whether any record has the field."""
        return self._keys[name] in self._held

    def column(self, name: str, default: Any = None) -> list[Any]:
        """The field of each record, and the default for those without it."""
        key = self._keys[name]
        if key not in self._held:
            return [default] * len(self._records)
        try:
            return list(
                map(itemgetter(key), self._records)
            )  # half the time, and most records have what any has
        except KeyError:
            return [record.get(key, default) for record in self._records]

    def given(self, name: str) -> list[Any]:
        """The field of those records that have it."""
        key = self._keys[name]
        return [record[key] for record in self._records if key in record] if key in self._held else []

    def or_else(self, name: str, otherwise: Sequence[Any]) -> Sequence[Any]:
        """The field of each record, or the other value for those without it."""
        key = self._keys[name]
        if key not in self._held:
            return otherwise
        return [record.get(key, other) for record, other in zip(self._records, otherwise, strict=True)]
