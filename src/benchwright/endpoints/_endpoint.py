"""The interface to models: one `send` method. HTTP servers, the demo model and scripts implement it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from msgspec import Struct

from benchwright.core import JsonValue, ModelReply, ModelRequest, ModelType, RequestFailure

if TYPE_CHECKING:
    from benchwright.endpoints._clock import Clock
    from benchwright.endpoints._gate import SendGate
    from benchwright.endpoints._limiter import Limiter
    from benchwright.endpoints._metrics_page import MetricsPage
    from benchwright.endpoints._transport import AroundHttp


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


class ModelSettings(Struct, frozen=True, kw_only=True):
    """What a run needs to know of a model. Each kind of model is a subclass; the defaults are those of a model that answers in
    this process."""

    kind: ClassVar[str]
    """Its name in records."""
    by_http: ClassVar[bool] = False
    """Whether a server answers."""
    invented: ClassVar[bool] = False
    """Whether its answers say nothing about a real model."""
    reusable: ClassVar[bool] = True
    """Whether runs may take replies of earlier runs with the same fingerprint."""

    @property
    def url(self) -> str:
        """The address of its server; empty if there is none."""
        return ""

    @property
    def requests_per_minute(self) -> float | None:
        """The most requests sent in a minute; None: as many as it answers."""
        return None

    def fingerprint(self) -> str:
        """Identifies the model in request keys."""
        raise NotImplementedError

    def type_for(self, declared: ModelType, *, conversation: bool = False, tools: bool = False) -> ModelType:
        """The model type to use if a benchmark declares `declared`. ConfigError for what the model cannot do."""
        return declared

    def check_secrets(self, key_setting: str = "--api-key-name") -> None:
        """Raise ConfigError if the environment lacks a value that requests contain."""

    def variables(self) -> list[str]:
        """The environment variables whose values requests contain."""
        return []

    def as_sent(self, request: ModelRequest) -> ModelRequest:
        """The request with the body that its server gets. UnsendableRequestError if that cannot be written."""
        return request

    def at_server(self, **changes: Any) -> Self:
        """The model with other settings of its server; unchanged if it has none."""
        return self

    def metrics_page(self) -> MetricsPage | None:
        """The page with its server's counters."""
        return None

    def open(
        self,
        *,
        gate: SendGate | None,
        limiter: Limiter | None,
        judge: bool,
        policy: SendPolicy,
        clock: Clock,
        around: AroundHttp | None,
    ) -> TimedEndpoint:
        """The endpoint, with the arguments of `open_endpoint`."""
        raise NotImplementedError


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
