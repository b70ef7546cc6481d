"""The HTTP part of a pipeline: sets headers, and logs what was really sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import Any, TypeVar

from benchwright.config import PayloadModifier, PipelineSettings, resolve_headers
from benchwright.core import is_secret_name, remember_secret
from benchwright.endpoints._pipeline.exchange_log import ExchangeLog
from benchwright.endpoints._transport import (
    Headers,
    HttpReply,
    HttpStream,
    Pieces,
    Stamps,
    Transport,
    TransportFailure,
)

T = TypeVar("T")


class HttpSide:
    """Implements `AroundHttp`, for `open_endpoint`."""

    def __init__(self, steps: list[PayloadModifier], log: ExchangeLog | None) -> None:
        # Environment variables in values are resolved here and never recorded.
        self._steps = [(step, resolve_headers(step.headers_to_add or {})) for step in steps]
        self._log = log

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers of every request."""
        changed = dict(headers)
        for step, added in self._steps:
            changed = changed_headers(changed, step, added)
        for name, value in changed.items():
            if is_secret_name(name):
                remember_secret(value, f"header {name}")
        return changed

    def transport(self, transport: Transport) -> Transport:
        """The transport, wrapped if there is a log."""
        return transport if self._log is None else LoggedTransport(transport, self._log)


def header_changes(settings: PipelineSettings) -> list[PayloadModifier]:
    """The steps that change headers."""
    steps = [entry.built_in for entry in settings.steps]
    return [
        step
        for step in steps
        if isinstance(step, PayloadModifier)
        and (step.headers_to_add or step.headers_to_remove or step.headers_to_rename)
    ]


def changed_headers(
    headers: Mapping[str, str], step: PayloadModifier, added: Mapping[str, str]
) -> dict[str, str]:
    """Headers after one step: remove, rename, add. Case does not matter; added and renamed headers replace existing ones.

    >>> changed_headers({"User-Agent": "x", "A": "1"}, PayloadModifier(headers_to_rename={"a": "B"}), {"user-agent": "y"})
    {'B': '1', 'user-agent': 'y'}
    """
    removed = {name.lower() for name in step.headers_to_remove or ()}
    renamed = {old.lower(): new for old, new in (step.headers_to_rename or {}).items()}
    left = {name: value for name, value in headers.items() if name.lower() not in removed}
    moved = {renamed[name.lower()]: value for name, value in left.items() if name.lower() in renamed}
    won = {name.lower() for name in (*moved, *added)}
    kept = {
        name: value for name, value in left.items() if name.lower() not in renamed and name.lower() not in won
    }
    beaten = {name.lower() for name in added}
    return {**kept, **{name: value for name, value in moved.items() if name.lower() not in beaten}, **added}


class LoggedTransport:
    """Implements `Transport`."""

    def __init__(self, transport: Transport, log: ExchangeLog) -> None:
        self._transport, self._log = transport, log

    async def post(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> HttpReply:
        log = self._log
        sending = self._transport.post(url, payload, headers, timeout_s, stamps)
        reply = await self._noted(url, payload, headers, sending)
        if reply.status != 200 or log.wants_replies:
            log.answered(url, headers.items(), payload, reply.status, header_pairs(reply.headers), reply.body)
        return reply

    async def stream(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> HttpStream:
        opening = self._transport.stream(url, payload, headers, timeout_s, stamps)
        stream = await self._noted(url, payload, headers, opening)
        if stream.status == 200 and not self._log.wants_replies:
            return stream
        return _LoggedStream(stream, self._log, url, payload, headers)

    async def _noted(self, url: str, payload: bytes, headers: Mapping[str, str], sending: Awaitable[T]) -> T:
        """Log the request, and the error if there is no reply."""
        if self._log.wants_requests:
            self._log.sent(url, headers.items(), payload)
        try:
            return await sending
        except TransportFailure as failure:
            self._log.failed(url, headers.items(), payload, str(failure))
            raise

    async def aclose(self) -> None:
        await self._transport.aclose()


class _LoggedStream:
    """Implements `HttpStream`: keeps the pieces that are read."""

    def __init__(
        self, stream: HttpStream, log: ExchangeLog, url: str, payload: bytes, headers: Mapping[str, str]
    ) -> None:
        self._stream, self._log, self._url, self._payload, self._sent = stream, log, url, payload, headers
        self._pieces: list[bytes] = []
        self._closed = False

    @property
    def status(self) -> int:
        return self._stream.status

    @property
    def headers(self) -> Headers:
        return self._stream.headers

    async def __aiter__(self) -> AsyncIterator[Pieces]:
        async for pieces, times in self._stream:
            self._pieces += pieces
            yield pieces, times

    async def aclose(self) -> None:
        """Stop reading."""
        await self._stream.aclose()
        if not self._closed:
            self._closed = True
            body, pairs = b"".join(self._pieces), header_pairs(self.headers)
            self._log.answered(self._url, self._sent.items(), self._payload, self.status, pairs, body)


def header_pairs(headers: Any) -> list[tuple[str, str]]:
    """All headers of a reply, including repeated ones; Any, because each transport has another type."""
    block = getattr(headers, "block", None)
    if block is None:
        return [(str(name), str(value)) for name, value in headers.items()]
    lines = (line.partition(b":") for line in block.split(b"\r\n")[1:])
    return [
        (name.decode("latin-1"), value.decode("latin-1").strip()) for name, colon, value in lines if colon
    ]
