"""MindIE's `/infer` route, with whole and streamed replies."""

from __future__ import annotations

from typing import Any

from benchwright.core import WIRE_FORMATS, JsonObject, JsonValue, ModelRequest, Route, encode_json
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
from benchwright.endpoints._wires.wire import BadEventError, RouteUrls, TranslatingWire, Urls, Wire

_UNDECODED = "\ufffd"  # replaces half a character until the other half arrives


class MindieWire(TranslatingWire):
    """Implements `Wire`."""

    format = WIRE_FORMATS["mindie"]

    def urls(self, address: Address, model: str) -> Urls:
        """One route for everything."""
        url = address.url_of("/infer")
        return {"chat": RouteUrls(url, url), "completions": RouteUrls(url, url)}

    def payload(self, request: ModelRequest) -> bytes:
        """The body; it requests `details`, because only they say why the answer ended."""
        body: JsonObject = {
            "inputs": prompt_of(request),
            "stream": bool(request.body.get("stream")),
            "parameters": {"details": True, **parameters_of(request)},
        }
        return encode_json(body)

    def collector(self, request: ModelRequest) -> MindieCollector:
        """For one stream."""
        return MindieCollector(request.route)

    def translate(
        self, data: JsonValue, request: ModelRequest, headers: Headers | None
    ) -> JsonValue | BadReply:
        """The text and its details. Prompt tokens are not reported, so there are no token counts."""
        if not isinstance(data, dict) or "generated_text" not in data:
            return without_text(data, "generated_text")
        return openai_reply(request.route, data["generated_text"], read_details(data.get("details")))


class MindieCollector(TextCollector):
    """Collects events with `generated_text`, the whole answer so far, in every event or only in the last. If tokens come
    one by one, they are joined until then.

    The answer ends with a finish reason, or with the whole text after single tokens. If a server sends neither, the end
    of a body that was not cut off counts as the end.
    """

    __slots__ = ("_tokens_only", "_whole")

    def __init__(self, route: Route) -> None:
        super().__init__(route, "generated_text")
        self._whole = ""
        self._tokens_only = False

    def body_ended(self) -> None:
        """End the answer, unless single tokens came, which a whole text follows."""
        self._ended = self._ended or (self.events > 0 and not self._tokens_only)

    def _take(self, event: dict[str, Any]) -> str | None:
        piece, whole = self._token(event), self._text(event, "generated_text")
        known = self._whole or "".join(self._pieces)
        new = piece or (whole[len(known) :] or whole if whole and whole != known else None)
        if whole is not None:
            if not whole.startswith(self._whole.rstrip(_UNDECODED)):
                raise BadEventError(
                    "the generated_text of an event does not continue that of the event before, "
                    "so the answer cannot be put together"
                )
            if self._pieces and not self._whole:
                self._ended = True  # all tokens after single ones: the last event
            self._whole = whole
            self._pieces = [whole]
            self._tokens_only = False
        elif piece:
            self._pieces.append(piece)
            self._tokens_only = True
        details = read_details(event.get("details"))
        if details[0] is not None:
            self._details = details
            self._ended = True
        return new


WIRE: type[Wire] = MindieWire
"""The class that speaks this format."""
