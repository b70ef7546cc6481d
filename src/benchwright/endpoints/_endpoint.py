"""The seam to models: one method. HTTP, the demo model and scripts all implement it."""

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
        """Answer one request. Trouble with the endpoint is a reply with status `failed`, never an
        exception; cancellation passes through."""
        ...


class OpenEndpoint(Endpoint, Protocol):
    """An endpoint with its counters, as `open_endpoint` gives it. Belongs to one event loop."""

    @property
    def in_flight(self) -> int:
        """Requests under way now."""
        ...

    @property
    def limit(self) -> int:
        """Requests allowed under way at once, now; below the configured parallelism after a server
        asked for less."""
        ...

    @property
    def requests_sent(self) -> int:
        """Requests sent so far, every attempt counted."""
        ...

    @property
    def retries(self) -> int:
        """Attempts beyond the first of their request."""
        ...

    @property
    def first_failure(self) -> RequestFailure | None:
        """The first permanent failure: what to show once instead of for every sample."""
        ...

    async def aclose(self) -> None:
        """Close connections. The endpoint cannot be used afterwards."""
        ...


class TimedEndpoint(OpenEndpoint, Protocol):
    """An endpoint that can send by a schedule, as `open_endpoint` gives it."""

    async def send(self, request: ModelRequest, *, planned: float | None = None) -> ModelReply:
        """Answer one request, sent at `planned` by the endpoint's clock; None: now."""
        ...


class Policy(Struct, frozen=True):
    """How an endpoint treats its server."""

    limits: bool = True
    """Whether requests wait for a place: parallelism, requests per minute, `Retry-After`."""
    retries: bool = True
    """Whether a failed attempt is repeated, as often as the settings allow."""
    adapts: bool = True
    """Whether a refusal teaches another address or another form, in which the request is repeated at once."""
    arrivals: bool = False
    """Whether replies hold the arrival of each event with content."""


USUAL = Policy()
"""The policy of runs: limits, retries and learns."""
SEND_ONCE = Policy(limits=False, retries=False, adapts=False, arrivals=True)
"""The policy of load tests: each request is sent once, at its time, and waits for nobody."""


class OpenableSettings(Protocol):
    """Settings of a model that answers in this process and knows how to open itself, such as the demo model."""

    def open(
        self, *, gate: SendGate | None, limiter: Limiter | None, policy: Policy, clock: Clock
    ) -> TimedEndpoint:
        """The endpoint, with the arguments of `open_endpoint`."""
        ...


_TAKER: ContextVar[list[JsonValue] | None] = ContextVar("benchwright_captured_bodies", default=None)


@contextmanager
def captured_bodies() -> Iterator[list[JsonValue]]:
    """Collects the JSON body of every reply that is read within; the last is that of the reply
    which counts."""
    bodies: list[JsonValue] = []
    token = _TAKER.set(bodies)
    try:
        yield bodies
    finally:
        _TAKER.reset(token)


def is_captured() -> bool:
    """Whether somebody collects bodies."""
    return _TAKER.get() is not None


def capture(body: Any) -> None:
    """A body was read."""
    bodies = _TAKER.get()
    if bodies is not None:
        bodies.append(body)
