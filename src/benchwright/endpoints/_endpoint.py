"""The interface to models: one `send` method. HTTP servers, the demo model and scripts implement it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from benchwright.core import JsonValue, ModelReply, ModelRequest, RequestFailure

if TYPE_CHECKING:
    from benchwright.endpoints._clock import Clock
    from benchwright.endpoints._gate import SendGate
    from benchwright.endpoints._limiter import Limiter


class Endpoint(Protocol):
    """Anything that answers a `ModelRequest`."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """Answer one request. A failure of the endpoint is a reply with status `failed`, never an exception; cancellation
        passes through."""
        ...


class OpenEndpoint(Endpoint, Protocol):
    """An endpoint with counters. Belongs to one event loop."""

    @property
    def in_flight(self) -> int:
        """Requests in flight now."""
        ...

    @property
    def limit(self) -> int:
        """Requests currently allowed in flight; lower than the configured parallelism after the server asked for less."""
        ...

    @property
    def requests_sent(self) -> int:
        """Requests sent so far, counting every attempt."""
        ...

    @property
    def retries(self) -> int:
        """Attempts beyond the first of their request."""
        ...

    @property
    def first_failure(self) -> RequestFailure | None:
        """The first permanent failure, to be shown once instead of for every sample."""
        ...

    async def aclose(self) -> None:
        """Close connections. The endpoint cannot be used afterwards."""
        ...


class TimedEndpoint(OpenEndpoint, Protocol):
    """An endpoint that can send by a schedule, as returned by `open_endpoint`."""

    async def send(self, request: ModelRequest, *, planned: float | None = None) -> ModelReply:
        """Answer one request, sent at `planned` by the endpoint's clock; None: now."""
        ...


class SendPolicy(Struct, frozen=True):
    """How an endpoint treats its server."""

    limits: bool = True
    """Whether requests wait their turn: parallelism, requests per minute, `Retry-After`."""
    retries: bool = True
    """Whether a failed attempt is repeated, as often as the settings allow."""
    adapts: bool = True
    """Whether the endpoint learns another address or another form from a refusal and repeats the request at once."""
    arrivals: bool = False
    """Whether replies contain the arrival time of each event with content."""


USUAL = SendPolicy()
"""The policy of runs: limit, retry and adapt."""
SEND_ONCE = SendPolicy(limits=False, retries=False, adapts=False, arrivals=True)
"""The policy of load tests: send each request once, at its time, without waiting for others."""


class OpenableSettings(Protocol):
    """Settings of a model that answers in this process and knows how to open itself, such as the demo model."""

    def open(
        self, *, gate: SendGate | None, limiter: Limiter | None, policy: SendPolicy, clock: Clock
    ) -> TimedEndpoint:
        """The endpoint, with the arguments of `open_endpoint`."""
        ...


_TAKER: ContextVar[list[JsonValue] | None] = ContextVar("benchwright_captured_bodies", default=None)


@contextmanager
def captured_bodies() -> Iterator[list[JsonValue]]:
    """Collect the JSON body of every reply that is read inside the block; the last belongs to the reply that is used."""
    bodies: list[JsonValue] = []
    token = _TAKER.set(bodies)
    try:
        yield bodies
    finally:
        _TAKER.reset(token)


def is_captured() -> bool:
    """Whether bodies are being collected."""
    return _TAKER.get() is not None


def capture(body: Any) -> None:
    """Collect a body that was read."""
    bodies = _TAKER.get()
    if bodies is not None:
        bodies.append(body)
