"""What installed packages offer through entry points. Finding costs a look at the metadata, loading an import."""

from __future__ import annotations

import sys
from functools import lru_cache

from msgspec import Struct

from benchwright.core import loading_code


class PluginEntry(Struct, frozen=True):
    """An entry point that an installed package declares. Finding it imports nothing of the package."""

    name: str
    """The name users type."""
    target: str
    """What it points to: `package.module` or `package.module:attribute`."""
    package: str
    """The distribution that declares it; empty when the metadata does not say."""
    version: str
    """Version of that distribution; empty when the metadata does not say."""
    group: str
    """The entry-point group it was found in."""

    def __str__(self) -> str:
        origin = f" {self.version}" if self.version else ""
        return f"{self.name!r} of {self.package or 'an unnamed package'}{origin}"


class LoadedPlugin(Struct, frozen=True):
    """An entry point whose target could be imported."""

    entry: PluginEntry
    """Where it comes from."""
    value: object
    """The object it points to; the room that loads it decides whether it is usable."""


class BrokenPlugin(Struct, frozen=True):
    """An entry point that could not be imported. A value, so that one broken package stops no other."""

    entry: PluginEntry
    """Where it comes from."""
    reason: str
    """What was wrong, and what to do about it."""

    def __str__(self) -> str:
        return f"plugin {self.entry} cannot be used: {self.reason}"


def find_plugins(group: str) -> list[PluginEntry]:
    """Entry points of a group, by name. Nothing is imported. A name that two packages offer is listed twice.

    The metadata of installed packages is read once for each `sys.path`, which takes about 20 ms: a package that is
    installed while Python runs is found after a restart.
    """
    return list(_entries(group, tuple(sys.path)))


@lru_cache(maxsize=64)
def _entries(group: str, path: tuple[str, ...]) -> tuple[PluginEntry, ...]:
    from importlib.metadata import entry_points

    found = set()  # a package that is on the path twice (editable install and wheel) is one plugin
    for point in entry_points(group=group):
        dist = point.dist
        package = dist.name if dist is not None else ""
        version = dist.version if dist is not None else ""
        found.add(PluginEntry(point.name, point.value, package or "", version or "", group))
    return tuple(sorted(found, key=lambda e: (e.name, e.package, e.version, e.target)))


def load_plugin(entry: PluginEntry) -> LoadedPlugin | BrokenPlugin:
    """Import one entry point. Whatever its import raises becomes the reason."""
    from importlib.metadata import EntryPoint

    try:
        with loading_code():
            return LoadedPlugin(entry, EntryPoint(entry.name, entry.target, entry.group).load())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything, SystemExit included
        package = entry.package or "its package"
        cure = f"update or uninstall {package}"
        if isinstance(error, ModuleNotFoundError) and error.name:
            cure = f"install the missing module ({error.name}), or {cure}"
        return BrokenPlugin(entry, f"{type(error).__name__}: {error}; {cure}")
