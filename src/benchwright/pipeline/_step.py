"""The seam of a request pipeline: what a step is, and what passes between steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

from benchwright.core import JsonObject, ModelReply, ModelRequest, encode_json, load_json

BodyChange: TypeAlias = Callable[[JsonObject], JsonObject]
"""From a request body to the changed one. Pure: the body that it gets stays as it is."""


class Step(Protocol):
    """One step between a run and its model. A step may leave out the method that it does not need.

    Both methods may be `async def`. What they raise fails the sample, with the name of the step in the message. A step with
    `observes = True` only looks: what it returns is ignored, and what it raises becomes a note.
    """

    @property
    def name(self) -> str:
        """What messages and records call it."""
        ...

    def on_request(
        self, request: ModelRequest
    ) -> ModelRequest | ModelReply | Awaitable[ModelRequest | ModelReply]:
        """The request to send in place of this one, or the reply to it; then nothing is sent."""
        ...

    def on_reply(self, request: ModelRequest, reply: ModelReply) -> ModelReply | Awaitable[ModelReply]:
        """The reply in place of this one. Failed ones pass here too (`reply.failure`)."""
        ...


class PreparedRequest(ModelRequest, frozen=True):
    """A request that has passed all request steps: it is sent, recorded and looked up in this form."""

    answer: ModelReply | None = None
    """What a step answered, or the failure of one; then nothing is sent."""


def with_body(request: ModelRequest, change: BodyChange | JsonObject) -> ModelRequest:
    """The request with another body, or with its body changed, encoded again.

    Of a request that contains files, a function also changes the record, which has their hashes. A body that is given
    as a whole is recorded as a whole.

    >>> request = ModelRequest("chat", {"model": "m"}, b'{"model":"m"}')
    >>> with_body(request, {**request.body, "top_k": 5}).payload
    b'{"model":"m","top_k":5}'
    """
    record = None
    if callable(change):
        if request.record is not None:
            kept: Any = load_json(request.record)
            record = encode_json(change(kept))
        body = change(request.body)
    else:
        body = change
    return ModelRequest(request.route, body, encode_json(body), request.repeat, record)
