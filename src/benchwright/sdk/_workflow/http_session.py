"""The HTTP client below `BenchwrightClient`: requests to a server nearby, with a little patience."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol

from benchwright.sdk._workflow.errors import ApiError

if TYPE_CHECKING:
    from pyreqwest.client import Client

_CONNECT_TIMEOUT = timedelta(seconds=10)
_TIMEOUT = timedelta(minutes=5)
_PAUSES_S = (0.1, 0.4, 1.6)
"""Before each further try of a request that got no answer."""


class HttpAnswer(NamedTuple):
    """What came back."""

    status: int
    """Status code."""
    body: bytes
    """The whole body."""


class HttpSession(Protocol):
    """Sends requests. Bring your own to share connections, or in a test."""

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, again: bool
    ) -> HttpAnswer:
        """Send one request; `again` says that sending it twice does no harm. `ApiError` when there is no answer."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class ReqwestSession:
    """Implements `HttpSession`. Connects on first use; loopback is never proxied."""

    def __init__(self) -> None:
        self._client: Client | None = None

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, again: bool
    ) -> HttpAnswer:
        """Send one request."""
        from pyreqwest.exceptions import ConnectError, PyreqwestError

        pauses = list(_PAUSES_S)
        while True:
            try:
                return await self._once(method, url, headers, body)
            except PyreqwestError as error:
                # A refused connection carried nothing; any other trouble may have come after the server acted.
                if not pauses or not (again or isinstance(error, ConnectError)):
                    raise ApiError(
                        f"no answer from {url}: {error}. Is the server running? Start it with: benchwright serve",
                        code="no_answer",
                        retryable=True,
                    ) from error
            await asyncio.sleep(pauses.pop(0))

    async def close(self) -> None:
        """Close connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _once(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> HttpAnswer:
        if self._client is None:
            from pyreqwest.client import ClientBuilder

            builder = ClientBuilder().follow_redirects(False).connect_timeout(_CONNECT_TIMEOUT).no_proxy()
            self._client = builder.timeout(_TIMEOUT).build()
        request = self._client.request(method, url).headers(headers)
        if body is not None:
            request = request.body_bytes(body)
        response = await request.build().send()
        return HttpAnswer(response.status, (await response.bytes()).to_bytes())
