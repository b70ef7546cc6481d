"""What can go wrong between here and the hub. Apart from the requests themselves, so that whoever only wants to
catch it loads no HTTP client."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

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
        self.wait_s = _asked_to_wait(headers)


class HubUnreachableError(Exception):
    """No answer, or one that broke off."""


def _asked_to_wait(headers: Mapping[str, str]) -> float:
    """Seconds the hub asks for, as a number or as a date; 0 when it does not."""
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
