"""A step of the request pipeline: removes the desk's closing words from every answer."""

from __future__ import annotations

from msgspec.structs import replace

from benchwright.core import ModelReply, ModelRequest


class SignOff:
    """It needs only the reply, so it has no `on_request`."""

    name = "sign_off"

    def __init__(self, words: str = "Kind regards") -> None:
        self._words = words

    def on_reply(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        """Return the reply up to the closing words."""
        return replace(reply, text=reply.text.partition(self._words)[0].rstrip())
