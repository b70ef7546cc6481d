"""The HTTP interface below an endpoint: bytes out, bytes and times in. Knows nothing of models or retries."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol, TypeAlias

from msgspec import Struct

from benchwright.core import CallTimes, FailureKind

MOST_OF_ID = 200
"""Characters of an identifier that are kept."""
MAX_BODY_BYTES = 64 * 1024 * 1024
"""Larger replies are refused: no answer of an evaluation is that large, and memory is finite."""


class TransportFailure(Exception):  # internal: the endpoint turns it into a value
    """No complete HTTP reply. Caught by the endpoint and turned into a `RequestFailure`."""

    def __init__(self, kind: FailureKind, message: str, *, stale: bool = False) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.stale = stale
        """Whether a kept connection was closed as the request was sent: the next attempt needs no pause."""


class Stamps(Struct):
    """The times of a call in progress. The transport notes the times of bytes at the socket event, so they are known whether
    the attempt succeeds or fails."""

    started_at: float = 0.0
    """Wall clock of the first attempt."""
    planned: float | None = None
    sent: float | None = None
    first_byte: float | None = None
    first_event: float | None = None
    first_token: float | None = None
    first_answer: float | None = None
    last_byte: float | None = None
    arrivals: list[float] | None = None  # None: not requested
    attempts: int = 1
    """Attempts so far."""
    lost: int = 0
    """Attempts that were lost on a kept connection which the server was closing; the next one takes a new connection."""
    request_id: str | None = None
    """The `x-request-id` header, if arrivals are requested."""

    def take_head(self, headers: Headers) -> None:
        """Note the name of the request in the server's log. Only those who request arrivals need it: others save the call."""
        if (found := headers.get("x-request-id")) is not None:
            self.request_id = found[:MOST_OF_ID]

    def reply_id(self, given: object) -> str | None:
        """The `id` of a reply. Only those who request arrivals need it: others save the call."""
        named = isinstance(given, str | int) and not isinstance(given, bool)
        return str(given)[:MOST_OF_ID] if named else None

    def again(self) -> None:
        """Reset for another attempt."""
        self.attempts += 1
        self.request_id = None
        self.planned = self.sent = self.first_byte = self.last_byte = None
        self.first_event = self.first_token = self.first_answer = None
        if self.arrivals:
            self.arrivals = []

    def times(self, failed: float | None = None) -> CallTimes:
        """The times of this attempt; `failed` is when it failed, if it did."""
        arrivals = self.arrivals
        return CallTimes(
            self.planned,
            self.sent,
            self.first_byte,
            self.first_event,
            self.first_token,
            self.first_answer,
            self.last_byte,
            tuple(arrivals) if arrivals else (),
            failed,
        )


class Headers(Protocol):
    """Reply headers, looked up by lower-case name."""

    def get(self, name: str, /) -> str | None:
        """The first value, or None."""
        ...


class HttpReply(Struct):
    """A complete HTTP reply."""

    status: int
    """Status code."""
    headers: Headers
    body: bytes
    """Whole body, content encoding undone."""


Pieces: TypeAlias = tuple[list[bytes], list[float]]
"""Pieces of a body, and when each arrived. A chunk is one piece or several."""


class HttpStream(Protocol):
    """A reply whose body is read as it arrives."""

    @property
    def status(self) -> int:
        """Status code."""
        ...

    @property
    def headers(self) -> Headers:
        """Reply headers."""
        ...

    def __aiter__(self) -> AsyncIterator[Pieces]:
        """Yield pieces of the body with their arrival times, at least one at a time. They may be handed over a little later
        than they arrive; the end of the body is handed over at once. Raises `TransportFailure` if the body breaks off."""
        ...

    async def aclose(self) -> None:
        """Stop reading. The connection is kept if the body's end follows at once."""
        ...


class AroundHttp(Protocol):
    """Hooks around the HTTP of an endpoint."""

    def headers(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Return the headers of every request in place of these."""
        ...

    def transport(self, transport: Transport) -> Transport:
        """Return the transport to use in place of this one."""
        ...


class Transport(Protocol):
    """Sends requests, each once; retries are the caller's task. One per endpoint; belongs to one event loop."""

    async def post(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> HttpReply:
        """Send and read the whole reply. Raises `TransportFailure`. Pass the same `headers` object every time, because its
        encoded form is cached. `stamps` receives the times, even of a failure."""
        ...

    async def stream(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> HttpStream:
        """Send, and return when the reply's head has arrived, or a little later. Raises `TransportFailure`. The reader notes the
        time of the last byte, because it knows which one is the last."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...
