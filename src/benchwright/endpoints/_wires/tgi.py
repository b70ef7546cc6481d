"""Text Generation Inference: `/generate` and `/generate_stream`."""

from __future__ import annotations

from typing import Any

from benchwright.core import WIRE_FORMATS, JsonObject, JsonValue, ModelRequest, encode_json
from benchwright.endpoints._addresses import Address
from benchwright.endpoints._replies import BadReply
from benchwright.endpoints._transport import Headers
from benchwright.endpoints._wires.plain_text import (
    TextCollector,
    openai_reply,
    parameters_of,
    prompt_of,
    read_details,
    without_text,
)
from benchwright.endpoints._wires.wire import RouteUrls, TranslatingWire, Urls, Wire

_STATUS_OF_ERROR = {"validation": 422, "overloaded": 429, "generation": 424, "incomplete_generation": 500}
"""The status that a whole reply would have had for an `error_type` inside a stream."""


class TgiWire(TranslatingWire):
    """Implements `Wire`."""

    format = WIRE_FORMATS["tgi"]

    def urls(self, address: Address, model: str) -> Urls:
        """The URLs. A server has one model, so its name is not part of them."""
        urls = RouteUrls(address.url_of("/generate"), address.url_of("/generate_stream"))
        return {"chat": urls, "completions": urls}

    def payload(self, request: ModelRequest) -> bytes:
        """The body; it requests `details`, because only they say why the answer ended."""
        body: JsonObject = {
            "inputs": prompt_of(request),
            "parameters": {"details": True, **parameters_of(request)},
        }
        return encode_json(body)

    def collector(self, request: ModelRequest) -> TgiCollector:
        """For one stream."""
        return TgiCollector(request.route, "generated_text")

    def translate(
        self, data: JsonValue, request: ModelRequest, headers: Headers | None
    ) -> JsonValue | BadReply:
        """The text and its details; token counts are in the headers."""
        if isinstance(data, list) and len(data) == 1:
            data = data[0]
        if not isinstance(data, dict) or "generated_text" not in data:
            return without_text(data, "generated_text", _status_of_error(data))
        details = reason, prompt, made = read_details(data.get("details"))
        if headers is not None:
            counts = (
                _number(headers.get("x-prompt-tokens"), prompt),
                _number(headers.get("x-generated-tokens"), made),
            )
            details = reason, *counts
        return openai_reply(request.route, data["generated_text"], details)


class TgiCollector(TextCollector):
    """Collects events of one token each; the last event also contains the whole text, which marks the end."""

    __slots__ = ()

    def _take(self, event: dict[str, Any]) -> str | None:
        text, whole = self._token(event), self._text(event, "generated_text")
        new = text or (whole if not self._pieces else None)  # the whole text after its tokens is nothing new
        if text:
            self._pieces.append(text)
        if whole is not None:
            self._pieces = [whole]
            self._details = read_details(event.get("details"))
            self._ended = self.done = True
        return new

    def _status_of(self, event: dict[str, Any]) -> int | None:
        return _status_of_error(event)


def _status_of_error(data: JsonValue) -> int | None:
    return _STATUS_OF_ERROR.get(str(data.get("error_type"))) if isinstance(data, dict) else None


def _number(text: str | None, otherwise: int | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else otherwise


WIRE: type[Wire] = TgiWire
"""The class that speaks this format."""
