"""Failures of the hub and their messages: which dataset, why, and the cure."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.core import DatasetError, redact, suggest
from benchwright.datasets._hf.settings import HubSettings

TOKENS_PAGE = "https://huggingface.co/settings/tokens"
"""Where tokens are made."""


HubTrouble: TypeAlias = Literal["not_found", "forbidden", "unreachable", "timeout", "refused"]
"""The kind of a failure, for programs."""


class HubError(DatasetError):
    """The hub did not provide the dataset."""

    def __init__(self, message: str, kind: HubTrouble) -> None:
        super().__init__(message)
        self.kind = kind
        """The kind of failure."""


class RepoRef(Struct, frozen=True):
    """The repository that a URI names, for requests and messages."""

    uri: str
    """The URI as the user wrote it."""
    repo: str
    """`org/name`."""
    revision: str | None
    """Branch, tag or commit as the user wrote it; None for the default branch."""


def complaint(
    failure: HubRefusedError | HubUnreachableError,
    ref: RepoRef,
    settings: HubSettings,
    known_revisions: Sequence[str] = (),
) -> HubError:
    """An error that the user can act on. It never shows the token, even if the hub repeated it."""
    if isinstance(failure, HubUnreachableError):
        text = (
            f"the hub at {settings.endpoint} cannot be reached ({failure}). Check the network and HF_ENDPOINT; "
            "with the data in the cache, revision=<commit> reads it without any network"
        )
    else:
        text = _refusal(failure, ref, settings, known_revisions)
    return HubError(redact(f"{ref.uri}: {text}"), _kind(failure))


def _kind(failure: HubRefusedError | HubUnreachableError) -> HubTrouble:
    if isinstance(failure, HubUnreachableError):
        return "timeout" if "timed out" in str(failure).lower() else "unreachable"
    if failure.code in ("RepoNotFound", "RevisionNotFound", "EntryNotFound"):
        return "not_found"
    if failure.code == "GatedRepo" or failure.status in (401, 403):
        return "forbidden"
    if failure.status == 404:
        return "not_found"
    return "unreachable" if failure.status >= 500 or failure.status == 429 else "refused"


def _refusal(failure: HubRefusedError, ref: RepoRef, settings: HubSettings, known: Sequence[str]) -> str:
    page = settings.page(ref.repo)
    status, code, message = failure.status, failure.code, failure.message
    lowered = message.lower()
    # Without a token the same words only mean that the hub does not say whether the dataset exists.
    if settings.token and ("invalid credentials" in lowered or "invalid username or password" in lowered):
        return (
            f"the hub does not accept the token from {settings.token_source}. Make a new one on {TOKENS_PAGE} and "
            f"put it into HF_TOKEN, or unset it to read public datasets anonymously"
        )
    if code == "GatedRepo":
        return _gated(page, settings)
    if "disabled" in lowered and status == 403:
        return f"the hub has disabled this dataset ({message}). See {page}"
    if code == "RevisionNotFound":
        listed = f" It has: {', '.join(known[:20])}{' …' if len(known) > 20 else ''}." if known else ""
        revision = ref.revision or "main"
        return f"{ref.repo} has no revision {revision!r}.{listed}{suggest(revision, known)} See {page}"
    if code == "EntryNotFound":
        return f"the file is not there: {failure.url}"
    if code == "RepoNotFound" or status in (401, 404):
        return _not_found(ref, page, settings)
    if status == 403:
        return f"the hub forbids it ({message or 'status 403'}). See {page}{_token_hint(settings)}"
    if status == 429:
        wait = f" and demands a wait of {failure.wait_s:.0f} s" if failure.wait_s else ""
        return f"the hub limits the rate of requests{wait}. Try again later{_token_hint(settings)}"
    if status >= 500:
        return (
            f"the hub answered {status} to every attempt ({message or 'no reason given'}). Nothing else is read in "
            "its place. Try again later, or read a commit that is in the cache: revision=<commit>"
        )
    return f"the hub answered {status}: {message or 'no reason given'} ({failure.url})"


def _gated(page: str, settings: HubSettings) -> str:
    if settings.token is None:
        return (
            f"the dataset is gated: its owners want to know who reads it. Accept the conditions on {page}, then set "
            f"HF_TOKEN to a token of yours ({TOKENS_PAGE})"
        )
    return f"the dataset is gated and the account of {settings.token_source} has no access yet. Request access on {page}"


def _not_found(ref: RepoRef, page: str, settings: HubSettings) -> str:
    if settings.token is None:
        return (
            f"there is no public dataset {ref.repo!r} on {settings.endpoint}: it does not exist or is private. Check "
            f"the name on {page}; for a private one set HF_TOKEN ({TOKENS_PAGE})"
        )
    return (
        f"there is no dataset {ref.repo!r} on {settings.endpoint}, or the account of {settings.token_source} may "
        f"not see it. Check the name on {page}, and whether the token may read it"
    )


def _token_hint(settings: HubSettings) -> str:
    return "" if settings.token else f"; readers with a token (HF_TOKEN, from {TOKENS_PAGE}) are allowed more"


_WINDOW = re.compile(
    r";\s*r=0\b.*;\s*t=(\d{1,9})"
)  # of a used-up `RateLimit`: seconds until it is filled again


class HubRefusedError(Exception):
    """The hub answered with an error status."""

    def __init__(self, url: str, status: int, headers: Mapping[str, str], text: str) -> None:
        super().__init__(f"{status} for {url}")
        self.url = url
        self.status = status
        self.code = headers.get("x-error-code", "")
        self.message = headers.get("x-error-message", "") or text
        self.wait_s = _required_wait(headers)


class HubUnreachableError(Exception):
    """No answer, or one that broke off."""


def _required_wait(headers: Mapping[str, str]) -> float:
    """The seconds that the hub demands, given as a number or as a date; 0 when it demands none."""
    text = headers.get("retry-after", "").strip()
    if not text:
        reset = _WINDOW.search(headers.get("ratelimit", ""))
        return float(reset[1]) if reset else 0.0
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0
