"""Requests to the hub, sent by `huggingface_hub` through a guarded session.

The library brings the HTTP client with its proxies and certificates, the token of `hf auth login`, and Xet. It shares one
session among all its callers, sets no time limit for most requests, waits as long as a server demands, and sends the
token to any host that a link names. A hook in the session adds what is missing, for requests from here only; retries
have a budget.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from msgspec.structs import replace

from benchwright.core import VERSION, ConfigError, redact
from benchwright.datasets._hf.errors import HubRefusedError, HubUnreachableError
from benchwright.datasets._hf.settings import HubSettings, checked_token

_current: ContextVar[HubSettings | None] = ContextVar("hub_settings", default=None)


def quiet_variables(settings: HubSettings) -> dict[str, str]:
    """Variables that keep the library and its Xet client from sending and writing anything that nobody requested: a list of
    programs that it looks for (`/api/agent-harnesses`), figures about downloads, logs in the home folder."""
    return {
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_XET_CACHE": os.environ.get("HF_XET_CACHE") or str(settings.cache / "xet"),
        "HF_XET_LOG_DEST": os.environ.get("HF_XET_LOG_DEST") or os.devnull,
    }


def _quieten(settings: HubSettings) -> None:
    """Set these variables before the library is imported, and its own switch if somebody else has imported it already."""
    os.environ.update(quiet_variables(settings))
    from huggingface_hub import constants

    constants.HF_HUB_DISABLE_TELEMETRY = True


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Keep Xet from drawing on the terminal, unless `HF_HUB_DISABLE_PROGRESS_BARS=0` requests it."""
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


@contextmanager
def guarded(settings: HubSettings) -> Iterator[None]:
    """Give every request of this thread the time limit of the settings, and send the token to the hub only."""
    active = _current.set(settings)
    try:
        _guard_session()
        yield
    finally:
        _current.reset(active)


def is_trusted(settings: HubSettings, url: str) -> bool:
    """Whether an address may see the token: scheme, host and port are those of the hub or of its viewer."""
    return _origin(url) in (_origin(settings.endpoint), _origin(settings.viewer))


def _guard_session() -> None:
    """Add the check to the session that the library shares among all its callers."""
    from huggingface_hub.utils import get_session

    session: Any = get_session()
    if is_httpx(session):
        hooks = session.event_hooks
        if _guard not in hooks["request"]:
            session.event_hooks = {**hooks, "request": [*hooks["request"], _guard]}
        return
    for prefix, adapter in tuple(session.adapters.items()):
        if not isinstance(adapter, _GuardedAdapter):
            session.adapters[prefix] = _GuardedAdapter(adapter)


def is_httpx(session: Any) -> bool:
    """Whether the HTTP client of the library is httpx, as since version 1, or requests."""
    return hasattr(session, "event_hooks")


def _guard(request: Any) -> float | None:
    """Check one request, including redirects. Leaves requests of other callers alone."""
    settings = _current.get()
    if settings is None:
        return None
    if not is_trusted(settings, str(request.url)):
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
        limit = _guard(request)
        return self._inner.send(request, **(options if limit is None else options | {"timeout": limit}))

    def close(self) -> None:
        """With the session."""
        self._inner.close()


def refused(exc: Any) -> HubRefusedError:
    """The failure that an `HfHubHTTPError` reports."""
    response = exc.response
    headers = {str(name).lower(): str(value) for name, value in response.headers.items()}
    text = str(getattr(exc, "server_message", None) or "")
    if text.lstrip().startswith("<"):
        text = ""  # a web page
    # Addresses of object storage are signed: anybody who has one may read.
    url = str(response.url).partition("?")[0]
    return HubRefusedError(url, int(response.status_code), headers, " ".join(text.split())[:300])


def arriving(blocks: Callable[[], Iterator[bytes]], url: str) -> Iterator[bytes]:
    """The blocks of a body. Errors of the caller, such as a full disk, stay what they are."""
    try:
        yield from blocks()
    except network_errors() as exc:
        raise unreachable(url, exc) from exc


def network_errors() -> tuple[type[Exception], ...]:
    """The errors of the library's HTTP client. The library derives its own error from them."""
    from huggingface_hub.errors import HfHubHTTPError

    return cast("tuple[type[Exception], ...]", (OSError, *HfHubHTTPError.__bases__))


def unreachable(url: str, exc: BaseException) -> HubUnreachableError:
    """The failure of a request that got no complete answer."""
    return HubUnreachableError(f"{urlsplit(url).netloc}: {str(exc) or type(exc).__name__}")


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


ATTEMPTS = 5
"""Attempts of one request, or of one file without a byte of progress."""
FIRST_WAIT_S = 0.5
"""Longest wait after the first failure. It doubles with each failure; a random share of it is waited."""
LONGEST_WAIT_S = 8.0
"""Where doubling ends."""
BLOCK_BYTES = 64 * 1024
"""Bytes read from a connection at a time."""
BUDGET_S = 120.0
"""Most seconds spent waiting for one request, including the waits that the hub demands."""

_REPEATABLE = {408, 429, 500, 502, 503, 504}

T = TypeVar("T")


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
        """Wait before the next attempt. Raises the failure if another attempt makes no sense."""
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
        self._token_known = False
        self._token_lock = Lock()

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

    def whole(self, url: str) -> tuple[bytes, Mapping[str, str]]:
        """The whole body of one address, retried, and its headers by lower-case name."""

        def once() -> tuple[bytes, Mapping[str, str]]:
            with self._sending(url) as headers:
                from huggingface_hub.utils import get_session, hf_raise_for_status

                response: Any = get_session().get(url, headers=headers, timeout=self.settings.timeout_s)
                hf_raise_for_status(response)
                found = {str(name).lower(): str(value) for name, value in response.headers.items()}
                body = cast(bytes, response.content)
            announced = found.get("content-length", "")
            if announced.isdigit() and len(body) != int(announced):
                raise HubUnreachableError(f"the answer broke off after {len(body)} of {announced} bytes")
            return body, found

        return self.retried(once)

    @contextmanager
    def stream(self, url: str, span: str = "") -> Iterator[tuple[int, Iterator[bytes]]]:
        """Status and body of one attempt, as it arrives; `span` as in `bytes=100-`."""
        # Not `file_download.http_get`: it hands over 10 MB at a time, so that a connection that breaks more often than
        # that never makes progress. With requests, a break costs up to one block.
        with ExitStack() as stack:
            with self._sending(url) as headers:
                from huggingface_hub.utils import get_session, hf_raise_for_status

                session: Any = get_session()
                full = headers | ({"Range": span} if span else {})
                if is_httpx(session):
                    response = stack.enter_context(session.stream("GET", url, headers=full))
                    blocks = response.iter_bytes
                else:
                    response = stack.enter_context(session.get(url, headers=full, stream=True))
                    blocks = partial(response.iter_content, BLOCK_BYTES)
                hf_raise_for_status(response)
            yield int(response.status_code), arriving(blocks, url)

    def xet_file(self, url: str) -> Any | None:
        """How to fetch a file by the Xet protocol. None if the hub does not offer it for this file, or where Xet is
        not installed or switched off (`HF_HUB_DISABLE_XET`)."""
        with self._sending(url) as headers:
            from huggingface_hub.file_download import get_hf_file_metadata, is_xet_available

            if not is_xet_available():
                return None
            limit, hub = self.settings.timeout_s, self.settings.endpoint
            found = get_hf_file_metadata(url, token=False, timeout=limit, headers=headers, endpoint=hub)
        data = found.xet_file_data
        # Xet gets its own short-lived token from this address, with ours.
        return data if data is not None and is_trusted(self.settings, data.refresh_route) else None

    def fetch_xet(self, url: str, data: Any, target: Path, size: int) -> None:
        """Fetch a file by the Xet protocol."""
        with self._sending(url) as headers:
            from huggingface_hub.file_download import xet_get

            xet_get(incomplete_path=target, xet_file_data=data, headers=headers, expected_size=size)

    @contextmanager
    def _sending(self, url: str) -> Iterator[dict[str, str]]:
        """The headers of a request, guarded. Errors inside become one of the two failures."""
        try:
            _quieten(self.settings)
            from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
        except ValueError as exc:  # a variable that the library cannot read
            raise ConfigError(f"huggingface_hub cannot be imported: {exc}. Check the HF_… variables") from exc
        self._complete_token()
        # The library's own user agent would name other installed packages.
        headers = {"user-agent": f"benchwright/{VERSION}", "Accept-Encoding": "identity"}
        if self.settings.token and is_trusted(self.settings, url):
            headers["authorization"] = f"Bearer {self.settings.token}"
        try:
            with guarded(self.settings):
                yield headers
        except HfHubHTTPError as exc:
            raise refused(exc) from exc
        except OfflineModeIsEnabled as exc:
            raise ConfigError(
                "huggingface_hub was imported while HF_HUB_OFFLINE was set, and stays offline. Start Python again"
            ) from exc
        except network_errors() as exc:
            raise unreachable(url, exc) from exc

    def _complete_token(self) -> None:
        """Take the token from the library, once. The library renews the token of `hf auth login` and knows those of CI
        services and notebooks."""
        with self._token_lock:
            settings, first, self._token_known = self.settings, not self._token_known, True
            if not first or settings.token_path is None:
                return
            from huggingface_hub import constants, get_token

            if settings.token_path != Path(constants.HF_TOKEN_PATH).absolute():
                return  # the library was imported under other variables
            try:
                token = get_token()
            except Exception as exc:
                raise ConfigError(redact(f"huggingface_hub cannot provide a token: {exc}")) from exc
            if token and token != settings.token:
                source = str(settings.token_path) if settings.token else "huggingface_hub"
                self.settings = replace(settings, token=checked_token(token, source), token_source=source)
