"""Requests to the hub, sent by `huggingface_hub`.

The library brings the HTTP client with its proxies and certificates, the token of `hf auth login`, resumed downloads
and Xet. It reads its variables once, on import, sets no time limit for most requests, waits as long as a server tells it
to, and sends the token to any host that a list of pages names. So three things are added here: every request has the time
limit of the settings, the token goes to the hub's own address only, and retries have a budget.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from benchwright.core import VERSION, ConfigError, remember_secret
from benchwright.datasets._hf.errors import HubRefusedError, HubUnreachableError
from benchwright.datasets._hf.settings import HubSettings

ATTEMPTS = 5
"""Attempts of one request, or of one file without a byte of progress."""
FIRST_WAIT_S = 0.5
"""Longest wait after the first failure. It doubles with each failure; a random share of it is waited."""
LONGEST_WAIT_S = 8.0
"""Where doubling ends."""
BLOCK_BYTES = 64 * 1024
"""Read from a connection at a time."""
BUDGET_S = 120.0
"""Most seconds spent waiting for one request, including the waits that the hub demands."""

_REPEATABLE = {408, 429, 500, 502, 503, 504}
_current: ContextVar[HubSettings | None] = ContextVar("hub_settings", default=None)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer."""

    body: bytes
    """The whole body."""
    headers: Mapping[str, str]
    """Headers by lower-case name."""


class Patience:
    """Waits between attempts, and knows when to give up."""

    def __init__(self, sleep: Callable[[float], None], jitter: Callable[[], float]) -> None:
        self._sleep = sleep
        self._jitter = jitter
        self._failed = 0
        self._left_s = BUDGET_S

    def progressed(self) -> None:
        """Count the next failure as the first."""
        self._failed = 0

    def wait(self, failure: HubRefusedError | HubUnreachableError) -> None:
        """Wait before the next attempt. Raises the failure where another attempt makes no sense."""
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


class Client:
    """Sends requests with one set of settings. Every method is one attempt, except `retried` and `whole`."""

    def __init__(
        self,
        settings: HubSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.settings = settings
        self._sleep = sleep
        self._jitter = jitter
        self._has_token = False

    def patience(self) -> Patience:
        """For one request or one file."""
        return Patience(self._sleep, self._jitter)

    def retried(self, attempt: Callable[[], T]) -> T:
        """The result of an attempt, retried with patience."""
        patience = self.patience()
        while True:
            try:
                return attempt()
            except (HubRefusedError, HubUnreachableError) as failure:
                patience.wait(failure)

    def api(self, call: Callable[[Any], T]) -> T:
        """What a method of `HfApi` returns, retried: `api(lambda hub: hub.dataset_info(…))`."""

        def once() -> T:
            with self._sending(self.settings.endpoint) as headers:
                from huggingface_hub import HfApi

                return call(HfApi(endpoint=self.settings.endpoint, token=False, headers=headers))

        return self.retried(once)

    def whole(self, url: str) -> Answer:
        """The answer of one address, retried."""

        def once() -> Answer:
            with self._sending(url) as headers:
                from huggingface_hub.utils import get_session, hf_raise_for_status

                response: Any = get_session().get(url, headers=headers, timeout=self.settings.timeout_s)
                hf_raise_for_status(response)
                found = {str(name).lower(): str(value) for name, value in response.headers.items()}
                body = cast(bytes, response.content)
            announced = found.get("content-length", "")
            if announced.isdigit() and len(body) != int(announced):
                raise HubUnreachableError(f"the answer broke off after {len(body)} of {announced} bytes")
            return Answer(body, found)

        return self.retried(once)

    @contextmanager
    def stream(self, url: str, span: str = "") -> Iterator[tuple[int, Iterator[bytes]]]:
        """Status and body of one attempt, as it arrives; `span` as in `bytes=100-`."""
        # Not `file_download.http_get`: it hands over 10 MB at a time, so that a connection that breaks more often than
        # that never makes progress.
        with ExitStack() as stack:
            with self._sending(url) as headers:
                from huggingface_hub.utils import get_session, hf_raise_for_status

                session: Any = get_session()
                wanted = headers | ({"Range": span} if span else {})
                if _is_httpx(session):
                    response = stack.enter_context(session.stream("GET", url, headers=wanted))
                    blocks = response.iter_bytes
                else:
                    response = stack.enter_context(session.get(url, headers=wanted, stream=True))
                    blocks = partial(response.iter_content, BLOCK_BYTES)
                hf_raise_for_status(response)
            yield int(response.status_code), _arriving(blocks, url)

    def xet_file(self, url: str) -> Any | None:
        """How to fetch a file by the Xet protocol. None where the hub does not offer it for this file, or where Xet is
        not installed or switched off (`HF_HUB_DISABLE_XET`)."""
        with self._sending(url) as headers:
            from huggingface_hub.file_download import get_hf_file_metadata, is_xet_available

            if not is_xet_available():
                return None
            limit, hub = self.settings.timeout_s, self.settings.endpoint
            found = get_hf_file_metadata(url, token=False, timeout=limit, headers=headers, endpoint=hub)
        data = found.xet_file_data
        # Xet gets its own short-lived token from this address, with ours.
        return data if data is not None and self.is_trusted(data.refresh_route) else None

    def fetch_xet(self, url: str, data: Any, target: Path, size: int) -> None:
        """Fetches a file by the Xet protocol."""
        with self._sending(url) as headers:
            from huggingface_hub.file_download import xet_get

            xet_get(incomplete_path=target, xet_file_data=data, headers=headers, expected_size=size)

    def is_trusted(self, url: str) -> bool:
        """Whether an address may see the token: scheme, host and port are those of the hub or of its viewer."""
        return _origin(url) in (_origin(self.settings.endpoint), _origin(self.settings.viewer))

    @contextmanager
    def _sending(self, url: str) -> Iterator[dict[str, str]]:
        """Headers for a request, its limits in force; what goes wrong inside comes out as one of the two failures."""
        try:
            from huggingface_hub.errors import HfHubHTTPError
        except ValueError as exc:  # a variable that the library cannot read
            raise ConfigError(f"huggingface_hub cannot be imported: {exc}. Check the HF_… variables") from exc
        self._ask_for_token()
        # Said in full: the library's own would name other installed packages.
        headers = {"user-agent": f"benchwright/{VERSION}", "Accept-Encoding": "identity"}
        if self.settings.token and self.is_trusted(url):
            headers["authorization"] = f"Bearer {self.settings.token}"
        active = _current.set(self.settings)
        try:
            _guard_session()
            yield headers
        except HfHubHTTPError as exc:
            raise _refused(exc) from exc
        except _network_errors() as exc:
            raise _unreachable(url, exc) from exc
        finally:
            _current.reset(active)

    def _ask_for_token(self) -> None:
        """The token as the library knows it: it renews the one of `hf auth login`, and knows those of CI and notebooks."""
        if self._has_token:
            return
        self._has_token = True
        from huggingface_hub import constants, get_token

        settings = self.settings
        if settings.token_path is None or settings.token_path != Path(constants.HF_TOKEN_PATH).absolute():
            return  # the file does not decide, or is another than when the library was imported
        token = get_token()
        if token and token != settings.token:
            source = str(settings.token_path) if settings.token else "huggingface_hub"
            remember_secret(token, source)
            self.settings = replace(settings, token=token, token_source=source)


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Keeps Xet from drawing on the terminal, unless `HF_HUB_DISABLE_PROGRESS_BARS=0` requests it."""
    from huggingface_hub import constants, utils

    group = "huggingface_hub.xet_get"
    requested = constants.HF_HUB_DISABLE_PROGRESS_BARS is False
    if requested or utils.are_progress_bars_disabled(group):
        yield
        return
    utils.disable_progress_bars(group)
    try:
        yield
    finally:
        utils.enable_progress_bars(group)


def _guard_session() -> None:
    """Has the session that the library shares among all its callers look at requests made from here."""
    from huggingface_hub.utils import get_session

    session: Any = get_session()
    if _is_httpx(session):
        hooks = session.event_hooks
        if _guard not in hooks["request"]:
            session.event_hooks = {**hooks, "request": [*hooks["request"], _guard]}
        return
    for prefix, adapter in tuple(session.adapters.items()):
        if not isinstance(adapter, _GuardedAdapter):
            session.adapters[prefix] = _GuardedAdapter(adapter)


def _is_httpx(session: Any) -> bool:
    """The HTTP client of the library is httpx since version 1; before, it is requests."""
    return hasattr(session, "event_hooks")


def _guard(request: Any) -> float | None:
    """Called for every request, redirects included. Leaves those of other callers alone."""
    settings = _current.get()
    if settings is None:
        return None
    if _origin(str(request.url)) not in (_origin(settings.endpoint), _origin(settings.viewer)):
        request.headers.pop("authorization", None)
    if hasattr(request, "extensions"):
        limits = dict.fromkeys(("connect", "read", "write", "pool"), settings.timeout_s)
        request.extensions = {**request.extensions, "timeout": limits}
    return settings.timeout_s


class _GuardedAdapter:
    """An adapter of `requests` that calls `_guard`."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def send(self, request: Any, **options: Any) -> Any:
        """One request."""
        limit = _guard(request)
        return self._inner.send(request, **(options if limit is None else options | {"timeout": limit}))

    def close(self) -> None:
        """With the session."""
        self._inner.close()


def _refused(exc: Any) -> HubRefusedError:
    response = exc.response
    headers = {str(name).lower(): str(value) for name, value in response.headers.items()}
    text = str(getattr(exc, "server_message", None) or "")
    if text.lstrip().startswith("<"):
        text = ""  # a web page
    # The addresses of object storage are signed: whoever has one may read.
    url = str(response.url).partition("?")[0]
    return HubRefusedError(url, int(response.status_code), headers, " ".join(text.split())[:300])


def _arriving(blocks: Callable[[], Iterator[bytes]], url: str) -> Iterator[bytes]:
    """The blocks of a body. Errors of whoever takes them, a full disk for instance, stay what they are."""
    try:
        yield from blocks()
    except _network_errors() as exc:
        raise _unreachable(url, exc) from exc


def _network_errors() -> tuple[type[Exception], ...]:
    """What the library's HTTP client raises, whichever it is: its own errors are made from it."""
    from huggingface_hub.errors import HfHubHTTPError

    return cast("tuple[type[Exception], ...]", (OSError, *HfHubHTTPError.__bases__))


def _unreachable(url: str, exc: BaseException) -> HubUnreachableError:
    return HubUnreachableError(f"{urlsplit(url).netloc}: {str(exc) or type(exc).__name__}")


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
