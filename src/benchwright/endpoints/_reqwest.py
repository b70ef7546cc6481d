"""The general transport: TLS, proxies and HTTP/2, through pyreqwest (Rust). Imported only when needed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path

from pyreqwest.client import Client, ClientBuilder
from pyreqwest.exceptions import (
    BodyDecodeError,
    ConnectError,
    ConnectTimeoutError,
    PyreqwestError,
    ReadError,
    RequestTimeoutError,
)
from pyreqwest.proxy import ProxyBuilder
from pyreqwest.request import StreamRequest
from pyreqwest.response import Response

from benchwright.core import ConfigError, FailureKind, clause
from benchwright.endpoints._addresses import shown_proxy
from benchwright.endpoints._clock import LOOP_CLOCK, Clock
from benchwright.endpoints._http1 import too_large
from benchwright.endpoints._transport import (
    MAX_BODY_BYTES,
    Headers,
    HttpReply,
    Pieces,
    Stamps,
    TransportFailure,
)

_CONNECT_TIMEOUT = timedelta(seconds=15)
_CLOSED = "connection closed before message completed"
"""What the client says if a connection ends without a reply."""


class ReqwestTransport:
    """Implements `Transport` for any URL."""

    def __init__(
        self,
        parallelism: int,
        *,
        proxy: str | None,
        verify: bool | str,
        http2: bool,
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        self._now = clock.now
        self._make_client = partial(_client, proxy=proxy, verify=verify, http2=http2)
        self._client = self._make_client(max(1, parallelism))
        self._unpooled: Client | None = None
        self._answered = False  # whether there may be a kept connection
        self._proxy = None if proxy is None else shown_proxy(proxy)
        self._timeouts: dict[float, timedelta] = {}

    async def post(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> HttpReply:
        """Send and read the whole reply."""
        stamps.sent = self._now()
        try:
            async with self._request(url, payload, headers, timeout_s, stamps) as response:
                stamps.first_byte = self._now()
                body = await _whole_body(response)
                stamps.last_byte = self._now()
                self._answered = True
                return HttpReply(response.status, response.headers, body)
        except PyreqwestError as error:
            if stamps.first_byte is None:
                raise self._not_begun(error, url, timeout_s, stamps) from None
            raise _failure(error, url, timeout_s, self._proxy, half_way=True) from None

    async def get(self, url: str, headers: Mapping[str, str], timeout_s: float) -> HttpReply:
        """Get a resource and read the whole reply."""
        request = self._client.get(url).headers(headers).timeout(timedelta(seconds=timeout_s))
        try:
            async with request.build_streamed() as response:
                return HttpReply(response.status, response.headers, await _whole_body(response))
        except PyreqwestError as error:
            raise _failure(error, url, timeout_s, self._proxy) from None

    async def stream(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> ReqwestStream:
        """Send, and return when the head of the reply has arrived."""
        stamps.sent = self._now()
        stack = AsyncExitStack()
        try:
            request = self._request(url, payload, headers, timeout_s, stamps)
            response = await stack.enter_async_context(request)
        except PyreqwestError as error:
            raise self._not_begun(error, url, timeout_s, stamps) from None
        stamps.first_byte = self._now()
        self._answered = True
        return ReqwestStream(stack, response, url, timeout_s, self._proxy, self._now)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()
        if self._unpooled is not None:
            await self._unpooled.close()

    def _not_begun(
        self, error: PyreqwestError, url: str, timeout_s: float, stamps: Stamps
    ) -> TransportFailure:
        """The failure of a request without any byte of a reply."""
        failure = _failure(error, url, timeout_s, self._proxy)
        if self._answered and not stamps.lost and _CLOSED in innermost_cause(error):
            failure.stale = True  # the client does not say whether it used a kept connection
        return failure

    def _request(
        self, url: str, payload: bytes, headers: Mapping[str, str], timeout_s: float, stamps: Stamps
    ) -> StreamRequest:
        client = self._client
        if stamps.lost:  # as this client's connections are not kept, it takes a new one
            client = self._unpooled = self._unpooled or self._make_client(0)
        timeout = self._timeouts.get(timeout_s)
        if timeout is None:
            timeout = timedelta(seconds=timeout_s)
            if len(self._timeouts) < 16:  # retries have odd timeouts: the rest of a deadline
                self._timeouts[timeout_s] = timeout
        request = client.post(url).headers(headers).timeout(timeout).body_bytes(payload)
        # With a read buffer the client would wait until it is full or the body ends, and delay the first token.
        return request.streamed_read_buffer_limit(0).build_streamed()


class ReqwestStream:
    """Streams a reply's body; implements `HttpStream`. A piece arrives when the client hands it to Python."""

    def __init__(
        self,
        stack: AsyncExitStack,
        response: Response,
        url: str,
        timeout_s: float,
        proxy: str | None,
        now: Callable[[], float],
    ) -> None:
        self._now = now
        self._proxy = proxy
        self._stack = stack
        self._response = response
        self._url = url
        self._timeout_s = timeout_s
        self.status = response.status
        self.headers: Headers = response.headers

    async def __aiter__(self) -> AsyncIterator[Pieces]:
        reader = self._response.body_reader
        size = 0
        try:
            while (piece := await reader.read_chunk()) is not None:
                size += len(piece)
                if size > MAX_BODY_BYTES:
                    raise too_large()
                yield [piece.to_bytes()], [self._now()]
        except PyreqwestError as error:
            raise _failure(error, self._url, self._timeout_s, self._proxy, half_way=True) from None

    async def aclose(self) -> None:
        """Stop reading."""
        await self._stack.aclose()


async def _whole_body(response: Response) -> bytes:
    reader = response.body_reader
    pieces: list[bytes] = []
    size = 0
    while (piece := await reader.read_chunk()) is not None:
        size += len(piece)
        if size > MAX_BODY_BYTES:
            raise too_large()
        pieces.append(piece.to_bytes())
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _client(keep: int, proxy: str | None, verify: bool | str, http2: bool) -> Client:
    builder = (
        ClientBuilder()
        .follow_redirects(False)  # a redirect would carry the key to another host
        .pool_max_idle_per_host(keep)
        .connect_timeout(_CONNECT_TIMEOUT)
        .http2(http2)
        .no_proxy()  # benchwright reads the environment itself and excludes loopback
    )
    if proxy:
        builder = builder.proxy(ProxyBuilder.all(proxy))
    if verify is False:
        builder = builder.danger_accept_invalid_certs(True)
    elif isinstance(verify, str):
        for certificate in _certificates(verify):
            builder = builder.add_root_certificate_pem(certificate)
    return builder.build()


def _certificates(path: str) -> list[bytes]:
    """The PEM texts in a file, which may be a bundle of many."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"certificate file {path} cannot be read: {error.strerror}") from None
    found = re.findall(b"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", data, re.DOTALL)
    if not found:  # the client would not report it
        raise ConfigError(
            f"certificate file {path} contains no PEM certificate (-----BEGIN CERTIFICATE-----)"
        )
    return found


def _failure(
    error: PyreqwestError, url: str, timeout_s: float, proxy: str | None = None, *, half_way: bool = False
) -> TransportFailure:
    """The failure in words. Whatever fails through a proxy may be the proxy's fault, so it is named."""
    peer = url.split("/")[2]
    if proxy is not None and not half_way and "certificate" not in (reason := innermost_cause(error)).lower():
        kind: FailureKind = (
            "timeout" if isinstance(error, ConnectTimeoutError | RequestTimeoutError) else "connection"
        )
        waited = (
            f" within {min(timeout_s, 15) if isinstance(error, ConnectTimeoutError) else timeout_s:g} s"
            if kind == "timeout"
            else ""
        )
        return TransportFailure(
            kind,
            f"no reply from {peer} through the proxy {proxy}{waited}: {clause(reason)}. Is the proxy running? To connect directly, unset the "
            f"proxy variable (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY), or list {peer.rpartition(':')[0] or peer} in NO_PROXY",
        )
    if isinstance(error, ConnectTimeoutError):
        hint = f". Does it speak https://? If not, write http://{peer}" if url.startswith("https:") else ""
        return TransportFailure("timeout", f"no connection to {peer} within {min(timeout_s, 15):g} s{hint}")
    if isinstance(error, RequestTimeoutError):
        return TransportFailure("timeout", f"{peer} did not send a complete reply within {timeout_s:g} s")
    reason = innermost_cause(error)
    if isinstance(error, ConnectError):
        cure = ""
        if "CaUsedAsEndEntity" in reason:
            cure = (
                ". The server shows a CA certificate as its own. Make one with basicConstraints=CA:FALSE, or leave "
                "certificates unchecked: --no-verify (in a table: verify = false)"
            )
        elif "certificate" in reason.lower():
            cure = (
                ". If the certificate is your own, name its PEM file: --ca-file FILE (in a table: ca_file), or "
                "SSL_CERT_FILE in the environment; --no-verify leaves certificates unchecked"
            )
        else:
            cure = f". Is the server running, and does it speak {url.partition(':')[0]}://?"
        return TransportFailure("connection", f"cannot connect to {peer}: {reason}{cure}")
    if half_way or isinstance(error, ReadError | BodyDecodeError):
        return TransportFailure("broken_stream", f"{peer} broke off half-way through: {reason}")
    return TransportFailure("connection", f"{peer} gave no reply: {reason}")


def innermost_cause(error: PyreqwestError) -> str:
    """The deepest cause; the outer ones only say that sending failed."""
    details = getattr(error, "details", None)
    causes = details.get("causes") if isinstance(details, dict) else None
    if causes:
        return str(causes[-1]["message"])
    return str(error)
