"""Which class speaks which wire format."""

from __future__ import annotations

from importlib import import_module

from benchwright.core import Api, ConfigError
from benchwright.endpoints._wires.formats import WIRE_PLUGINS
from benchwright.endpoints._wires.wire import Wire

WIRE_CLASSES = {
    "openai": "openai:OpenAiWire",
    "responses": "responses:ResponsesWire",
    "tgi": "tgi:TgiWire",
    "triton": "triton:TritonWire",
    "mindie": "mindie:MindieWire",
}
"""Module and class of each built-in format; imported when a server speaks it."""


def wire_of(api: Api) -> Wire:
    """A wire of its own for one endpoint: some remember what their server cannot take."""
    place = WIRE_CLASSES.get(api)
    if place is not None:
        module, _, name = place.partition(":")
        wire: Wire = getattr(import_module(f"benchwright.endpoints._wires.{module}"), name)()
        return wire
    installed = WIRE_PLUGINS.find(api)
    if installed is None:
        raise ConfigError(f"wire format {api!r} is not known; see: benchwright ls --plugins")
    try:
        wire = installed()
    except Exception as error:
        raise ConfigError(f"wire format {api!r} cannot be used: {type(error).__name__}: {error}") from error
    return wire
