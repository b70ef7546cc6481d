"""A light dataclass behaves as a plain one of the same fields."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import asdict, field, replace

import pytest

from benchwright.core import light_dataclass


@light_dataclass(frozen=True, slots=True)
class Light:
    """A value."""

    name: str
    count: int = 0
    tags: list[str] = field(default_factory=list)
    hidden: str = field(default="h", repr=False, compare=False)
    last: int = field(default=9, kw_only=True)

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("count is negative")


@dataclasses.dataclass(frozen=True, slots=True)
class Plain:
    """The same, compiled by Python."""

    name: str
    count: int = 0
    tags: list[str] = field(default_factory=list)
    hidden: str = field(default="h", repr=False, compare=False)
    last: int = field(default=9, kw_only=True)


@light_dataclass(frozen=True, slots=True, kw_only=True)
class OnlyKeywords:
    """As most settings are."""

    path: str
    size: int = 1


def test_a_value_is_made_shown_and_taken_apart_as_a_plain_one_is() -> None:
    light, plain = Light("a", 2, last=3), Plain("a", 2, last=3)
    assert asdict(light) == asdict(plain)
    assert repr(light) == repr(plain).replace("Plain", "Light")
    assert [each.name for each in dataclasses.fields(light)] == [
        each.name for each in dataclasses.fields(plain)
    ]
    assert replace(light, count=5) == Light("a", 5, last=3)
    assert Light.__match_args__ == Plain.__match_args__
    assert Light("a").tags is not Light("a").tags


def test_values_are_equal_by_their_compared_fields_and_class() -> None:
    assert Light("a", hidden="x") == Light("a", hidden="y")
    assert Light("a") != Light("b")
    assert Light("a") != Plain("a")
    assert hash(OnlyKeywords(path="p")) == hash(OnlyKeywords(path="p", size=1))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Light("a"))


def test_values_are_copied_and_pickled() -> None:
    light = Light("a", 1, ["t"])
    assert copy.deepcopy(light) == light == pickle.loads(pickle.dumps(light))
    assert copy.deepcopy(light).tags is not light.tags


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, "missing 'name'"),
        (("a",), {"nmae": 1}, "unexpected keyword argument 'nmae'"),
        (("a",), {"name": "b"}, "multiple values for argument 'name'"),
        (("a", 1, [], "h", 3), {}, "takes 5 positional arguments but 6 were given"),
    ],
)
def test_wrong_arguments_are_named(given: tuple[object, ...], named: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Light(*given, **named)  # type: ignore[arg-type]  # that is what it is about


def test_keywords_only_means_that() -> None:
    with pytest.raises(TypeError, match="takes 1 positional arguments but 2 were given"):
        OnlyKeywords("p")  # type: ignore[misc]  # as above


def test_nothing_is_assigned_later_and_the_check_runs() -> None:
    light = Light("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        light.count = 2  # type: ignore[misc]  # as above
    with pytest.raises(dataclasses.FrozenInstanceError):
        del light.count
    assert not hasattr(light, "__dict__")
    with pytest.raises(ValueError, match="negative"):
        Light("a", -1)
    with pytest.raises(ValueError, match="negative"):
        replace(light, count=-1)


def test_methods_that_a_class_defines_itself_stay() -> None:
    @light_dataclass(frozen=True, slots=True)
    class Short:
        rows: list[int]

        def __repr__(self) -> str:
            return f"<Short of {len(self.rows)}>"

    assert repr(Short([1] * 500)) == "<Short of 500>"
