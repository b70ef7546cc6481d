"""Values with fields that representations leave out, because these may contain secrets or are very long."""

from __future__ import annotations

from typing import Any, ClassVar


class HidesFields:
    """A struct with this base, before `Struct`, shows no field of `hidden`."""

    __slots__ = ()
    __struct_fields__: ClassVar[tuple[str, ...]]
    hidden: ClassVar[tuple[str, ...]] = ()
    """Fields that neither `repr` nor rich shows."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self.__struct_fields__ if name not in self.hidden]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__qualname__}({shown})"
