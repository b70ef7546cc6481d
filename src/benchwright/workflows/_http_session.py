"""The HTTP client below `BenchwrightClient`: requests to a server nearby, with a little patience."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol

from benchwright.workflows._errors import ApiError

if TYPE_CHECKING:
    from pyreqwest.client import Client

_CONNECT_TIMEOUT = timedelta(seconds=10)
_TIMEOUT = timedelta(minutes=5)
_PAUSES_S = (0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 5.0, 8.0, 10.0)
"""Before each further try of a request that got no answer: half a minute, in which a server can be restarted."""


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
        self._clients: dict[bool, Client] = {}

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, again: bool
    ) -> HttpAnswer:
        """Send one request."""
        from pyreqwest.exceptions import ConnectError, PyreqwestError

        pauses = list(_PAUSES_S)
        while True:
            try:
                return await self._once(method, url, headers, body, again)
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
        while self._clients:
            await self._clients.popitem()[1].close()

    async def _once(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, again: bool
    ) -> HttpAnswer:
        if again not in self._clients:
            from pyreqwest.client import ClientBuilder

            builder = ClientBuilder().follow_redirects(False).connect_timeout(_CONNECT_TIMEOUT).no_proxy()
            if not again:
                # A kept connection that a restarted server has closed fails as if the request had arrived. What must
                # not be sent twice gets a connection of its own, whose refusal is certain.
                builder = builder.pool_max_idle_per_host(0)
            self._clients[again] = builder.timeout(_TIMEOUT).build()
        request = self._clients[again].request(method, url).headers(headers)
        if body is not None:
            request = request.body_bytes(body)
        response = await request.build().send()
        return HttpAnswer(response.status, (await response.bytes()).to_bytes())
