"""Which class speaks which wire format."""

from __future__ import annotations

from benchwright.core import Api
from benchwright.endpoints._wires.openai import OpenAiWire
from benchwright.endpoints._wires.wire import Wire


def wire_of(api: Api) -> Wire:
    """A wire of its own for one endpoint: some remember what their server cannot take."""
    if api == "openai":
        return OpenAiWire()
    if api == "responses":
        from benchwright.endpoints._wires.responses import ResponsesWire

        return ResponsesWire()
    if api == "tgi":
        from benchwright.endpoints._wires.tgi import TgiWire

        return TgiWire()
    if api == "triton":
        from benchwright.endpoints._wires.triton import TritonWire

        return TritonWire()
    from benchwright.endpoints._wires.mindie import MindieWire

    return MindieWire()
