"""What a wire format can do, by its name: the built-in ones, then those of installed packages."""

from __future__ import annotations

from typing import Any

from benchwright.core import APIS, WIRE_FORMATS, Api, ConfigError, WireFormat, suggest
from benchwright.plugins import Registry

_MEMBERS = ("native", "urls", "payload", "collector", "translate", "learn")


def _check(value: object) -> type[Any]:
    if not isinstance(value, type):
        raise TypeError(f"is {type(value).__name__}, not a class")
    if not isinstance(getattr(value, "format", None), WireFormat):
        raise TypeError("has no `format` that is a WireFormat")
    missing = [name for name in _MEMBERS if not hasattr(value, name)]
    if missing:
        raise TypeError(f"lacks {', '.join(missing)}")
    return value


WIRE_PLUGINS: Registry[type[Any]] = Registry("wires", _check, built_in=lambda: APIS, error=ConfigError)
"""Classes of installed wire formats by name."""


def wire_format(api: Api) -> WireFormat:
    """The wire format with this name. ConfigError, with near names, if there is none."""
    known = WIRE_FORMATS.get(api)
    if known is not None:
        return known
    installed = WIRE_PLUGINS.find(str(api))
    if installed is None:
        names = (*APIS, *WIRE_PLUGINS.names())
        raise ConfigError(
            f"wire format {api!r} is not known; expected {', '.join(names)}.{suggest(str(api), names)}"
        )
    found: WireFormat = installed.format
    return found


def package_of(api: Api) -> str:
    """The package of an installed wire format, with its version; empty for a built-in one.

    Another version may write or read the same request differently, so its replies are not taken from the cache.
    """
    entry = None if api in WIRE_FORMATS else WIRE_PLUGINS.entry(api)
    return "" if entry is None else f"{entry.package}=={entry.version}"
