"""The interface of a request pipeline: its steps, and the values between them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

from benchwright.core import JsonObject, ModelReply, ModelRequest, encode_json, load_json

BodyChange: TypeAlias = Callable[[JsonObject], JsonObject]
"""Returns a changed copy of a request body. The given body stays unchanged."""


class Step(Protocol):
    """One step between a run and its model. A step may leave out the method that it does not need.

    Both methods may be `async def`. An exception fails the sample, with the name of the step in the message. A step with
    `observes = True` only observes: its results are ignored, and its exceptions become notes.
    """

    @property
    def name(self) -> str:
        """Its name in messages and records."""
        ...

    def on_request(
        self, request: ModelRequest
    ) -> ModelRequest | ModelReply | Awaitable[ModelRequest | ModelReply]:
        """Return the request to send instead of this one, or a reply, so that nothing is sent."""
        ...

    def on_reply(self, request: ModelRequest, reply: ModelReply) -> ModelReply | Awaitable[ModelReply]:
        """Return the reply that replaces this one. Also called for failed replies (`reply.failure`)."""
        ...


class PreparedRequest(ModelRequest, frozen=True):
    """A request that has passed all request steps: it is sent, recorded and looked up in this form."""

    answer: ModelReply | None = None
    """The answer or failure of a step; nothing is sent then."""


def with_body(request: ModelRequest, change: BodyChange | JsonObject) -> ModelRequest:
    """The request with another body, or with its body changed, encoded again.

    If the request contains files, a function also changes the record, which has their hashes. A body that is given as a
    whole is recorded as a whole.

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
