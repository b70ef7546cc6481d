"""Which class speaks which wire format. A built-in format has a module of its name, with its class as `WIRE`."""

from __future__ import annotations

from importlib import import_module

from benchwright.core import WIRE_FORMATS, Api, ConfigError
from benchwright.endpoints._wires.formats import WIRE_PLUGINS
from benchwright.endpoints._wires.wire import Wire


def wire_of(api: Api) -> Wire:
    """A wire of its own for one endpoint: some remember what their server cannot take."""
    if api in WIRE_FORMATS:
        wire: Wire = import_module(f"benchwright.endpoints._wires.{api}").WIRE()
        return wire
    installed = WIRE_PLUGINS.find(api)
    if installed is None:
        raise ConfigError(f"wire format {api!r} is not known; see: benchwright ls --plugins")
    try:
        wire = installed()
    except Exception as error:
        raise ConfigError(f"wire format {api!r} cannot be used: {type(error).__name__}: {error}") from error
    return wire
