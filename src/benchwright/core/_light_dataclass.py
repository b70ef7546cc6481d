"""Frozen dataclasses that are cheap to declare. For an ordinary one, Python compiles six methods at every start."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["light_dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass as light_dataclass
else:
    C = TypeVar("C", bound=type)

    def light_dataclass(
        *, frozen: bool, slots: bool, kw_only: bool = False, repr: bool = True
    ) -> Callable[[C], C]:
        """Work like `dataclasses.dataclass`, for values that a run makes only a few times: settings, summaries, findings.

        `fields`, `asdict`, `replace`, `copy` and `pickle` work as usual. Making an instance takes a few microseconds more,
        and `inspect.signature` does not show the fields. Classes that users construct stay ordinary dataclasses.
        """
        if not (frozen and slots):
            raise TypeError("light dataclasses are frozen and have slots")

        def made(declared: C) -> C:
            light = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(
                declared
            )
            for method in (_init_of(light), *_comparison_of(light), *([_shown] if repr else [])):
                if method.__name__ not in vars(declared):  # a class may have its own
                    setattr(light, method.__name__, method)
            light.__setattr__, light.__delattr__ = _refuse_assignment, _refuse_deletion
            light.__getstate__, light.__setstate__ = _state, _restore
            return light

        return made


_put = object.__setattr__


def _init_of(light: type) -> Callable[..., None]:
    fields = [field for field in dataclasses.fields(light) if field.init]
    names = {field.name for field in fields}
    positional = [field.name for field in fields if not field.kw_only]
    defaults = {
        field.name: field.default
        for field in dataclasses.fields(light)
        if field.default is not dataclasses.MISSING
    }
    factories = [
        (field.name, field.default_factory)
        for field in dataclasses.fields(light)
        if field.default_factory is not dataclasses.MISSING
    ]
    needed = [name for name in names if name not in defaults and name not in dict(factories)]
    checks = hasattr(light, "__post_init__")

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        if len(values) > len(positional):
            most, given = len(positional) + 1, len(values) + 1
            raise TypeError(
                f"{light.__name__}.__init__() takes {most} positional arguments but {given} were given"
            )
        for name, value in zip(positional, values, strict=False):
            if name in named:
                raise TypeError(f"{light.__name__}.__init__() got multiple values for argument {name!r}")
            named[name] = value
        for name in named:
            if name not in names:
                raise TypeError(f"{light.__name__}.__init__() got an unexpected keyword argument {name!r}")
        absent = [name for name in needed if name not in named]
        if absent:
            raise TypeError(f"{light.__name__}.__init__() is missing {', '.join(map(repr, sorted(absent)))}")
        for name, value in (defaults | named).items():
            _put(self, name, value)
        for name, factory in factories:
            if name not in named:
                _put(self, name, factory())
        if checks:
            self.__post_init__()

    return __init__


def _comparison_of(light: type) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    compared = [field.name for field in dataclasses.fields(light) if field.compare]
    values = attrgetter(*compared)

    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(values(self) == values(other))

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __eq__, __hash__


@recursive_repr()
def _shown(self: Any) -> str:
    shown = [
        f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr
    ]
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


_shown.__name__ = "__repr__"


def _refuse_assignment(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        _put(self, field.name, value)
