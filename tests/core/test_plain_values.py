"""Values inside are structs: what representations hide, and how a value becomes JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from rich.pretty import pretty_repr

from benchwright.core import HidesFields, as_json


class Door(HidesFields, Struct, frozen=True, kw_only=True):
    """A value with a secret."""

    hidden = ("key",)

    place: Path
    key: str = "s3cr3t"


def test_hidden_fields_are_in_no_representation() -> None:
    door = Door(place=Path("a"))
    assert repr(door) == "Door(place=PosixPath('a'))"
    assert "s3cr3t" not in pretty_repr({"doors": [door]}) + f"{door}{[door]!r}"
    assert door == Door(place=Path("a")) != Door(place=Path("a"), key="other")


def test_values_become_json_with_everything_in_them() -> None:
    class House(Struct):
        doors: tuple[Door, ...]
        built: datetime
        names: dict[str, Path]

    house = House((Door(place=Path("a/b")),), datetime(2026, 11, 1, tzinfo=UTC), {"x": Path("c")})
    assert as_json([house]) == [
        {"doors": ({"place": "a/b", "key": "s3cr3t"},), "built": "2026-11-01T00:00:00Z", "names": {"x": "c"}}
    ]
