"""A wire format: OpenAI's chat route, with the name of the desk in every request."""

from __future__ import annotations

from benchwright.core import ModelRequest, encode_json
from benchwright.endpoints import OpenAiWire


class DeskWire(OpenAiWire):
    """Inherits `format`, the addresses, and the code that reads replies."""

    def payload(self, request: ModelRequest) -> bytes:
        """Return the body to send."""
        return encode_json({**request.body, "user": "refund-desk"})
