"""One registry for every kind of thing that users and packages can add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar, cast

from benchwright.core import BenchwrightError, NotFoundError, UsageError, suggest
from benchwright.plugins._discovery import BrokenPlugin, PluginEntry, find_plugins, load_plugin

T = TypeVar("T")


class PluginError(BenchwrightError):
    """A plugin was asked for by name and cannot be used."""

    exit_code = 2


class Registry(Generic[T]):
    """Things of one kind under the names users type.

    Three ways in, asked in this order: `add` (the thing itself), `add_lazy` (made when first asked for),
    and entry points of `group` (installed packages; looked for only when a name is not known or all names
    are listed). An entry point never replaces what was added here. Unknown names get suggestions.

    >>> shapes: Registry[int] = Registry("shape")
    >>> shapes.add("square", 4)
    4
    >>> shapes.get("sqare")
    Traceback (most recent call last):
        ...
    benchwright.core._errors.NotFoundError: no shape named 'sqare'. Did you mean 'square'? Known: square
    """

    def __init__(self, kind: str, *, group: str | None = None) -> None:
        self.kind = kind
        self.group = group
        self._things: dict[str, T] = {}
        self._makers: dict[str, Callable[[], T]] = {}
        self._entries: dict[str, list[PluginEntry]] | None = None

    def add(self, name: str, thing: T, *, replace: bool = False) -> T:
        """Register a thing; returns it. A taken name is a `UsageError` unless `replace` is set."""
        self._claim(name, replace)
        self._things[name] = thing
        return thing

    def add_lazy(self, name: str, make: Callable[[], T], *, replace: bool = False) -> None:
        """Register a name whose thing is made, once, when it is first asked for."""
        self._claim(name, replace)
        self._makers[name] = make

    def get(self, name: str) -> T:
        """The thing of that name. `NotFoundError` with near names; `PluginError` for a broken plugin."""
        if name in self._things:
            return self._things[name]
        if name in self._makers:
            self._things[name] = self._makers[name]()  # kept as a maker if it raises, so a retry is possible
            del self._makers[name]
            return self._things[name]
        entries = self._discovered().get(name, [])
        if not entries:
            known = ", ".join(self.names()) or "none"
            near = suggest(name, self.names())
            raise NotFoundError(f"no {self.kind} named {name!r}.{near} Known: {known}")
        if len(entries) > 1:
            packages = " and ".join(entry.package or entry.target for entry in entries)
            raise PluginError(f"{self.kind} {name!r} is offered by {packages}; uninstall all but one")
        loaded = load_plugin(entries[0])
        if isinstance(loaded, BrokenPlugin):
            raise PluginError(str(loaded))
        self._things[name] = cast(T, loaded.value)
        return self._things[name]

    def names(self) -> list[str]:
        """Every name, sorted; installed plugins included, none of them imported."""
        return sorted({*self._things, *self._makers, *self._discovered()})

    def broken(self) -> list[BrokenPlugin]:
        """Installed plugins of this kind that cannot be imported. Imports all of them to find out."""
        entries = [entry for found in self._discovered().values() for entry in found]
        return [plugin for plugin in map(load_plugin, entries) if isinstance(plugin, BrokenPlugin)]

    def __contains__(self, name: object) -> bool:
        return name in self._things or name in self._makers or name in self._discovered()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _claim(self, name: str, replace: bool) -> None:
        if not name:
            raise UsageError(f"a {self.kind} needs a name")
        if not replace and (name in self._things or name in self._makers):
            raise UsageError(f"a {self.kind} named {name!r} exists already; pass replace=True to replace it")
        self._things.pop(name, None)
        self._makers.pop(name, None)

    def _discovered(self) -> dict[str, list[PluginEntry]]:
        if self._entries is None:
            entries: dict[str, list[PluginEntry]] = {}
            for entry in find_plugins(self.group) if self.group else ():
                if entry.name not in self._things and entry.name not in self._makers:
                    entries.setdefault(entry.name, []).append(entry)
            self._entries = entries
        return self._entries
