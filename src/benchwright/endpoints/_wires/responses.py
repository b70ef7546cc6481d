"""OpenAI's responses route. What it says differently is in the files beside this one."""

from __future__ import annotations

from benchwright.core import WIRE_FORMATS, JsonValue, ModelRequest, encode_json
from benchwright.endpoints._addresses import Address
from benchwright.endpoints._replies import BadReply
from benchwright.endpoints._transport import Headers
from benchwright.endpoints._wires.responses_body import responses_body
from benchwright.endpoints._wires.responses_reply import openai_form
from benchwright.endpoints._wires.responses_stream import ResponsesCollector
from benchwright.endpoints._wires.wire import RouteUrls, TranslatingWire, Urls, Wire


class ResponsesWire(TranslatingWire):
    """Implements `Wire`."""

    format = WIRE_FORMATS["responses"]

    def urls(self, address: Address, model: str) -> Urls:
        """One route for everything."""
        url = address.url_of("/responses")
        return {"chat": RouteUrls(url, url), "completions": RouteUrls(url, url)}

    def payload(self, request: ModelRequest) -> bytes:
        """The body under the names of this route."""
        return encode_json(responses_body(request))

    def collector(self, request: ModelRequest) -> ResponsesCollector:
        """For one stream."""
        return ResponsesCollector(request)

    def translate(
        self, data: JsonValue, request: ModelRequest, headers: Headers | None
    ) -> JsonValue | BadReply:
        """The output items as one message."""
        return openai_form(data, request)


WIRE: type[Wire] = ResponsesWire
"""The class that speaks this format."""
