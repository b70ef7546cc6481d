"""The HTTP session of `huggingface_hub`, guarded.

The library shares one session among all its callers, sets no time limit for most requests, and sends the token to any host
that a link names. A hook in the session adds what is missing, for requests from here only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast
from urllib.parse import urlsplit

from benchwright.datasets._hf.errors import HubRefusedError, HubUnreachableError
from benchwright.datasets._hf.settings import HubSettings

_current: ContextVar[HubSettings | None] = ContextVar("hub_settings", default=None)


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


@contextmanager
def guarded(settings: HubSettings) -> Iterator[None]:
    """Inside, every request of this thread has the time limit of the settings, and sends the token to the hub only."""
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
    """Adds the check to the session that the library shares among all its callers."""
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
    """Checks one request, redirects included. Leaves requests of other callers alone."""
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
        """One request."""
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
