"""Opens endpoints: picks the implementation and, for HTTP, the transport."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchwright.core import FAST_PATHS, remember_secret
from benchwright.endpoints._addresses import is_loopback, proxy_for
from benchwright.endpoints._clock import LOOP_CLOCK, Clock
from benchwright.endpoints._endpoint import USUAL, ModelSettings, SendPolicy, TimedEndpoint
from benchwright.endpoints._messages import JUDGE_NAMES, Names
from benchwright.endpoints._settings import EndpointSettings

if TYPE_CHECKING:
    from benchwright.endpoints._gate import SendGate
    from benchwright.endpoints._limiter import Limiter
    from benchwright.endpoints._transport import AroundHttp, Transport


def open_endpoint(
    settings: ModelSettings,
    *,
    gate: SendGate | None = None,
    limiter: Limiter | None = None,
    judge: bool = False,
    policy: SendPolicy = USUAL,
    clock: Clock = LOOP_CLOCK,
    around: AroundHttp | None = None,
) -> TimedEndpoint:
    """Open an endpoint. Before the first request nothing is sent and no connection is made.

    `gate` is asked before every attempt after the first of a request; the caller has reserved the first.
    `limiter` hands out places that several endpoints share; None: the endpoint has `parallelism` places to itself.
    `judge` says whether messages name the settings of a judge or of the model.
    `policy` says whether requests wait for places and are repeated; `SEND_ONCE` is the policy of load tests.
    `clock` is used for limits, pauses, timeouts and time measurements.
    `around` changes headers and observes requests, if the model is a server.
    Raises `ConfigError` if the variable of the API key or of a header value is not set.
    """
    return settings.open(gate=gate, limiter=limiter, judge=judge, policy=policy, clock=clock, around=around)


def open_server(
    settings: EndpointSettings,
    *,
    gate: SendGate | None,
    limiter: Limiter | None,
    judge: bool,
    policy: SendPolicy,
    clock: Clock,
    around: AroundHttp | None,
) -> TimedEndpoint:
    """Open the endpoint of a server."""
    from benchwright.endpoints._http_endpoint import HttpEndpoint  # asyncio: not for `--help`

    names = JUDGE_NAMES if judge else Names()
    settings.check_secrets(names.key)  # before a transport acquires resources
    proxy = proxy_of(settings)
    if proxy is not None:
        remember_secret(proxy, "the proxy's URL")
    transport = _transport(settings, proxy, policy, clock)
    if around is not None:
        transport = around.transport(transport)
    return HttpEndpoint(
        settings,
        transport,
        gate=gate,
        limiter=limiter,
        names=names,
        policy=policy,
        clock=clock,
        around=around,
    )


def proxy_of(settings: EndpointSettings) -> str | None:
    """The proxy that requests to this endpoint go through, if any."""
    address = settings.address
    if settings.proxy is not None:
        return None if is_loopback(address.host) else settings.proxy
    return proxy_for(address.scheme, address.host, address.port, os.environ)


_KEPT_UNLIMITED = 1 << 16
"""Idle connections that are kept if nothing limits the requests in flight: as many as there can be."""


def _transport(settings: EndpointSettings, proxy: str | None, policy: SendPolicy, clock: Clock) -> Transport:
    """The lean transport for plain http:// without a proxy, else the general one."""
    kept = settings.parallelism if policy.limits else _KEPT_UNLIMITED
    if settings.address.scheme == "http" and proxy is None and FAST_PATHS:
        from benchwright.endpoints._lean import LeanTransport

        return LeanTransport(kept, clock)
    from benchwright.endpoints._reqwest import ReqwestTransport  # 10 MB, 8 ms

    return ReqwestTransport(kept, proxy=proxy, verify=settings.verify, http2=settings.http2, clock=clock)
