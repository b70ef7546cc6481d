"""The HTTP seam below an endpoint: bytes out, bytes and times in. Knows nothing of models or retries."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

TransportTrouble: TypeAlias = Literal["timeout", "connection", "bad_reply", "broken_stream"]
"""`connection`: nothing came back. `broken_stream`: the reply stopped half-way. `bad_reply`: not HTTP."""

MAX_BODY_BYTES = 64 * 1024 * 1024
"""A reply larger than this is refused: no answer to an evaluation is, and memory is finite."""


class TransportFailure(Exception):  # a value on its way, not an error for users
    """No complete HTTP reply. Caught by the endpoint and turned into a `RequestFailure`."""

    def __init__(self, kind: TransportTrouble, message: str, *, stale: bool = False) -> None:
        super().__init__(message)
        self.kind: TransportTrouble = kind
        self.stale = stale
        """Whether a kept connection was closed as the request was sent: the next attempt needs no pause."""


class Headers(Protocol):
    """Reply headers, looked up by lower-case name."""

    def get(self, name: str, /) -> str | None:
        """The first value, or None."""
        ...


@dataclass(slots=True)
class HttpReply:
    """A complete HTTP reply. Times are of the monotonic clock, read at the socket event."""

    status: int
    """Status code."""
    headers: Headers
    """Reply headers."""
    body: bytes
    """Whole body, content encoding undone."""
    sent_at: float
    """When the request was handed to the socket."""
    first_byte_at: float
    """When the first byte of the reply arrived."""
    last_byte_at: float
    """When the last byte of the reply arrived."""


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

    @property
    def sent_at(self) -> float:
        """When the request was handed to the socket."""
        ...

    @property
    def first_byte_at(self) -> float:
        """When the first byte of the reply arrived."""
        ...

    def __aiter__(self) -> AsyncIterator[tuple[bytes, float]]:
        """Pieces of the body with their arrival times. Raises `TransportFailure` when it breaks off."""
        ...

    async def aclose(self) -> None:
        """Stop reading. The connection is kept if the body's end follows at once."""
        ...


class Transport(Protocol):
    """Sends requests, each once: whoever repeats one also counts it. One per endpoint; belongs to one event loop."""

    async def post(self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float) -> HttpReply:
        """Send and read the whole reply. Raises `TransportFailure`. Pass the same `headers` object every
        time: its encoded form is kept."""
        ...

    async def stream(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float
    ) -> HttpStream:
        """Send and return as soon as the reply's head is there. Raises `TransportFailure`."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...
