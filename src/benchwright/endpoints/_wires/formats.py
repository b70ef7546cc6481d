"""Wire formats by name, with their capabilities and classes: built-in formats first, then those of installed packages. A
built-in format has a module of the same name, with its class as `WIRE`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchwright.core import WIRE_FORMATS, ConfigError, Registry, WireFormat, suggest

if TYPE_CHECKING:
    from benchwright.endpoints._wires.wire import Wire

_MEMBERS = ("native", "urls", "payload", "collector", "translate", "learn")
"""The members that a class must have; see `Wire`."""


def _check(value: object) -> type[Any]:
    if not isinstance(value, type):
        raise TypeError(f"is {type(value).__name__}, not a class")
    if not isinstance(getattr(value, "format", None), WireFormat):
        raise TypeError("has no `format` that is a WireFormat")
    missing = [name for name in _MEMBERS if not hasattr(value, name)]
    if missing:
        raise TypeError(f"lacks {', '.join(missing)}")
    return value


WIRE_PLUGINS: Registry[type[Any]] = Registry(
    "wires", _check, built_in=lambda: WIRE_FORMATS, error=ConfigError
)
"""Classes of installed wire formats by name."""


def wire_format(api: str) -> WireFormat:
    """The wire format with this name. Raises ConfigError, with similar names, if there is none."""
    known = WIRE_FORMATS.get(api)
    if known is not None:
        return known
    installed = WIRE_PLUGINS.find(str(api))
    if installed is None:
        names = (*WIRE_FORMATS, *WIRE_PLUGINS.names())
        raise ConfigError(
            f"wire format {api!r} is not known; expected {', '.join(names)}.{suggest(str(api), names)}"
        )
    found: WireFormat = installed.format
    return found


def wire_of(api: str) -> Wire:
    """Create the wire of one endpoint. It is not shared, because some remember what their server does not accept."""
    if api in WIRE_FORMATS:
        wire: Wire = import_module(f"benchwright.endpoints._wires.{api}").WIRE()
        return wire
    wire_format(api)  # raises if there is none of this name
    try:
        wire = WIRE_PLUGINS.find(api)()  # type: ignore[misc]
    except Exception as error:
        raise ConfigError(f"wire format {api!r} cannot be used: {type(error).__name__}: {error}") from error
    return wire


def package_of(api: str) -> str:
    """The package of an installed wire format, with its version; empty for a built-in one.

    Another version may write or read the same request differently, so replies of another version are not reused.
    """
    entry = None if api in WIRE_FORMATS else WIRE_PLUGINS.entry(api)
    return "" if entry is None else f"{entry.package}=={entry.version}"
