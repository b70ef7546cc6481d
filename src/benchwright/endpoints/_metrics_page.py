"""Reads a server's counters from `GET /metrics`, in the text format of Prometheus, without disturbing the load test."""

from __future__ import annotations

from benchwright.core import ConfigError, redact
from benchwright.endpoints._addresses import with_variables
from benchwright.endpoints._open import proxy_of
from benchwright.endpoints._settings import EndpointSettings, read_api_key
from benchwright.endpoints._transport import TransportFailure

_MOST_BYTES = 16 << 20


class MetricsPage:
    """The metrics page of one server, read with its endpoint's headers and TLS settings. Belongs to one event loop."""

    def __init__(self, settings: EndpointSettings) -> None:
        from benchwright.endpoints._http_endpoint import request_headers  # asyncio: not for `--help`
        from benchwright.endpoints._reqwest import ReqwestTransport

        self.url = metrics_url(settings)
        key = read_api_key(settings.api_key_name) if settings.api_key_name else None
        self._headers = request_headers(settings, key)
        self._transport = ReqwestTransport(
            1, proxy=proxy_of(settings), verify=settings.verify, http2=settings.http2
        )

    async def read(self, timeout_s: float) -> str:
        """Return the text of the page. Raises ConfigError with the reason if there is none."""
        try:
            reply = await self._transport.get(with_variables(self.url), self._headers, timeout_s)
        except TransportFailure as failure:
            raise ConfigError(f"{self.url} could not be read: {redact(str(failure))}") from None
        if reply.status != 200:
            raise ConfigError(f"{self.url} says {reply.status}")
        if len(reply.body) > _MOST_BYTES:
            raise ConfigError(f"{self.url} is too large")
        return reply.body.decode("utf-8", "replace")

    async def aclose(self) -> None:
        """Close the connection."""
        await self._transport.aclose()


def metrics_url(settings: EndpointSettings) -> str:
    """The URL of the page: next to the version of the API, not below it.

    >>> metrics_url(EndpointSettings(url="http://localhost:8000/v1", model_id="m"))
    'http://localhost:8000/metrics'
    """
    address = settings.address
    return f"{address.origin}{address.path.removesuffix('/v1')}/metrics"
