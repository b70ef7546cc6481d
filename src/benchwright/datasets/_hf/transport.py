"""One answered request: redirects followed without giving the token away, failures retried with patience.

Built on the standard library: a load makes a handful of requests, so a connection each costs nothing that counts,
and proxies and certificate bundles are those that Python knows.
"""

from __future__ import annotations

import http.client
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TypeVar
from urllib.parse import urljoin, urlsplit

from benchwright.core import VERSION, load_json
from benchwright.datasets._hf.failures import HubRefusedError, HubUnreachableError
from benchwright.datasets._hf.settings import HubSettings

ATTEMPTS = 5
"""Tries of one request, or of one file without a byte of progress."""
FIRST_WAIT_S = 0.5
"""Longest wait behind the first failure; doubles with each, and a random part of it is waited."""
LONGEST_WAIT_S = 8.0
"""Where doubling ends."""
BUDGET_S = 120.0
"""Most seconds spent waiting for one request, the hub's own wishes included."""
MOST_REDIRECTS = 5
"""Then it is a loop."""

_REPEATABLE = {408, 429, 500, 502, 503, 504}
_REDIRECTS = {301, 302, 303, 307, 308}
_NETWORK_ERRORS = (OSError, http.client.HTTPException)

T = TypeVar("T")


class Body:
    """The body of an answer. Trouble while it is read is an unreachable hub, told apart from a full disk."""

    def __init__(self, raw: IO[bytes], host: str) -> None:
        self._raw = raw
        self._host = host

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`."""
        try:
            return self._raw.read(size)
        except _NETWORK_ERRORS as exc:
            raise HubUnreachableError(f"{self._host}: {exc or type(exc).__name__}") from exc


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer, its body still to be read."""

    url: str
    """Where it came from, behind all redirects."""
    status: int
    """HTTP status, 200 to 299."""
    headers: Mapping[str, str]
    """Headers by lower-case name, those of the redirects included where the answer itself has none such."""
    body: Body
    """The body."""


class Patience:
    """Waits between attempts, and knows when it is over."""

    def __init__(self, sleep: Callable[[float], None], jitter: Callable[[], float]) -> None:
        self._sleep = sleep
        self._jitter = jitter
        self._failed = 0
        self._left_s = BUDGET_S

    def progressed(self) -> None:
        """Something was gained: the next failure counts as the first."""
        self._failed = 0

    def wait(self, failure: HubRefusedError | HubUnreachableError) -> None:
        """Waits before the next attempt. Raises the failure where another attempt makes no sense."""
        self._failed += 1
        if self._failed >= ATTEMPTS:
            raise failure
        wait_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (self._failed - 1)) * self._jitter()
        if isinstance(failure, HubRefusedError):
            if failure.status not in _REPEATABLE:
                raise failure
            wait_s = max(wait_s, failure.wait_s)
        if wait_s > self._left_s:
            raise failure
        self._left_s -= wait_s
        self._sleep(wait_s)


class Transport:
    """Sends GET requests on behalf of one set of settings."""

    def __init__(
        self,
        settings: HubSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._settings = settings
        self._sleep = sleep
        self._jitter = jitter
        self._opener = urllib.request.build_opener(_NoRedirects())

    def patience(self) -> Patience:
        """For one request or one file."""
        return Patience(self._sleep, self._jitter)

    def whole(self, url: str) -> tuple[bytes, Answer]:
        """The complete body of one address, retried."""

        def once() -> tuple[bytes, Answer]:
            with self.get(url) as answer:
                body = answer.body.read()
            announced = answer.headers.get("content-length", "")
            if announced.isdigit() and len(body) != int(announced):
                raise HubUnreachableError(f"the answer broke off after {len(body)} of {announced} bytes")
            return body, answer

        return self.retried(once)

    def retried(self, attempt: Callable[[], T]) -> T:
        """What an attempt gives, tried again with patience."""
        patience = self.patience()
        while True:
            try:
                return attempt()
            except (HubRefusedError, HubUnreachableError) as failure:
                patience.wait(failure)

    @contextmanager
    def get(self, url: str, headers: Mapping[str, str] | None = None) -> Iterator[Answer]:
        """One attempt."""
        try:
            response, answer = self._follow(url, headers or {})
        except _NETWORK_ERRORS as exc:
            reason = getattr(exc, "reason", exc)
            raise HubUnreachableError(f"{_host(url)}: {reason or type(reason).__name__}") from exc
        with response:
            yield answer

    def _follow(self, url: str, extra: Mapping[str, str]) -> tuple[IO[bytes], Answer]:
        passed: dict[str, str] = {}
        # The token goes to the hub and the viewer, and from there only where the address keeps scheme, host
        # and port: object storage has its own signed addresses, and refuses requests with two credentials.
        trusted = {_origin(self._settings.endpoint), _origin(self._settings.viewer)}
        for _ in range(MOST_REDIRECTS + 1):
            headers = {"User-Agent": f"benchwright/{VERSION}", "Accept-Encoding": "identity", **extra}
            trusted &= {_origin(url)}
            if self._settings.token and trusted:
                headers["Authorization"] = f"Bearer {self._settings.token}"
            request = urllib.request.Request(url, headers=headers)
            try:
                response = self._opener.open(request, timeout=self._settings.timeout_s)
            except urllib.error.HTTPError as error:
                with error:
                    found = {name.lower(): value for name, value in error.headers.items()}
                    target = found.get("location")
                    if error.code not in _REDIRECTS or not target:
                        raise HubRefusedError(url, error.code, found, _error_text(error)) from None
                passed |= {name: value for name, value in found.items() if name.startswith("x-")}
                url = _next_address(url, target)
                continue
            own = {name.lower(): value for name, value in response.headers.items()}
            return response, Answer(url, response.status, passed | own, Body(response, _host(url)))
        raise HubUnreachableError(f"{_host(url)}: more than {MOST_REDIRECTS} redirects")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects are followed by hand: this library would carry the token to other hosts."""

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        """No."""


def _next_address(url: str, target: str) -> str:
    joined = urljoin(url, target)
    if urlsplit(joined).scheme not in ("http", "https"):
        raise HubUnreachableError(f"{_host(url)}: redirects to {joined!r}")
    return joined


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _error_text(error: urllib.error.HTTPError) -> str:
    """What the body says, if it says it in words."""
    try:
        text = error.read(10_000).decode("utf-8", "replace")
    except _NETWORK_ERRORS:
        return ""
    try:
        body = load_json(text)
    except ValueError:
        return "" if text.lstrip().startswith("<") else " ".join(text.split())[:300]
    found = body.get("error") if isinstance(body, dict) else None
    return found if isinstance(found, str) else ""
