"""Which trouble is worth another attempt, and how long to wait for it. Pure but for the random pause."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.core import PERMANENT_FAILURES, CallTimes, FailureKind, RequestFailure
from benchwright.endpoints._transport import Headers

Again: TypeAlias = Literal["never", "once", "yes"]
"""Whether another attempt makes sense. `once`: from a server that has never answered, the second 200 that is no
reply says that the URL is wrong; from one that has, it is a fault like any other."""

_SELDOM: dict[FailureKind, Again] = {"bad_reply": "once"}
_SELDOM.update(dict.fromkeys(PERMANENT_FAILURES, "never"))
"""Failures that are not simply worth another attempt; a kind that nobody names costs attempts, no samples."""
_LONGEST_PAUSE_S = 30.0
_TRANSIENT = frozenset({409, 424, 425})  # 424: how TGI says that generating failed
_NO_ROOM = frozenset({429, 503})


class Trouble(Struct, frozen=True):
    """One attempt that gave no usable reply."""

    failure: RequestFailure
    """What to report if this was the last attempt."""
    collateral: bool = False
    """Whether the limit had been cut after this attempt was sent: it tells nothing new."""
    stale: bool = False
    """Whether a kept connection was closed as the attempt was sent."""
    retry_after_s: float | None = None
    """How long the server asks to be left alone."""
    begun_at: float = 0.0
    """When the attempt began, by the endpoint's clock."""
    times: CallTimes = CallTimes()
    """When the attempt did what, as far as it came."""

    @property
    def again(self) -> Again:
        """Whether another attempt makes sense."""
        return again_of(self.failure.kind)

    @property
    def no_room(self) -> bool:
        """Whether the server refused for lack of room (429, 503)."""
        return self.failure.http_status in _NO_ROOM and self.again != "never"


def again_of(kind: FailureKind) -> Again:
    """Whether a failure of this kind is worth another attempt."""
    return _SELDOM.get(kind, "yes")


class Tries:
    """The attempts that one request may still have.

    `max_retries` count. As many again do not, of attempts that say little about the next one: refusals that came
    together, and faults of a server that answers most requests. So a server that is down is left alone soon, and
    one that fails now and then costs no row. Bad replies of a server that has never answered have a count of their
    own, which allows one.
    """

    __slots__ = ("_bad", "_counted", "_most", "_uncounted", "pauses")

    def __init__(self, max_retries: int) -> None:
        self._most = max_retries
        self._bad = self._counted = self._uncounted = 0
        self.pauses = 0
        """How often the pause has grown."""

    def take(self, trouble: Trouble, *, answered: int, unanswered: int) -> bool:
        """Whether there is another attempt after `trouble`, of a server that `answered` this many requests."""
        most, isolated = self._most, answered > unanswered
        if trouble.again == "never" or self._bad + self._counted + self._uncounted >= 2 * most:
            return False
        if not (trouble.collateral and self.pauses):
            self.pauses += 1
        if (trouble.collateral or isolated) and self._uncounted < most:
            self._uncounted += 1
            return True
        if trouble.again == "once" and not answered:
            self._bad += 1
            return self._bad <= 1
        self._counted += 1
        return self._counted <= most


def kind_of_status(status: int, words: str) -> FailureKind:
    """The kind of failure that an HTTP status stands for; `words` are the server's."""
    if status == 429:
        # No pause will fill an empty account.
        return "rejected" if "insufficient_quota" in words else "rate_limited"
    if status == 408:
        return "timeout"
    if too_long(status, words) == "prompt":
        return "prompt_too_long"
    if status >= 500 or status in _TRANSIENT:
        return "server_error"
    return "rejected"


_TOO_LONG = (
    r"context_length_exceeded|exceed_context_size|(?:context|model) length|context (?:size|window)"
    r"|prompt is too long|too long to fit|`inputs` (?:tokens \+|must have)|input token count"
)
"""How servers say that a prompt does not fit: OpenAI, vLLM, SGLang, llama.cpp, llama-cpp-python, TGI, and others."""
_LENGTH_TOO_LARGE = r"max_(?:completion_|new_|output_)?tokens\W.{0,60}\btoo large"
_LIMIT = r"(?:context length is|must be <=) ?(\d+)"
_PROMPT_TOKENS = r"(\d+) (?:in (?:the|your) (?:messages|prompt)|`inputs`)"


def too_long(status: int, words: str) -> Literal["prompt", "reply", None]:
    """Whether a refusal says that the request exceeds the model's context, and by whose fault: a prompt that fits
    alone leaves no room for the longest reply.

    >>> too_long(400, "maximum context length is 512 tokens. However, you requested 4126 (30 in the messages, 4096")
    'reply'
    """
    if status not in (400, 413, 422) or not re.search(_TOO_LONG, words, re.IGNORECASE):
        return None
    if re.search(_LENGTH_TOO_LARGE, words, re.IGNORECASE):
        return None  # or a setting is refused, which has its own cure
    limit, prompt = re.search(_LIMIT, words), re.search(_PROMPT_TOKENS, words)
    fits = limit is not None and prompt is not None and int(prompt[1]) < int(limit[1])
    return "reply" if fits else "prompt"


def retry_after_s(headers: Headers, now: datetime | None = None) -> float | None:
    """Seconds the server asks to wait (`Retry-After` in seconds or as a date, or `Retry-After-Ms`)."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    if text is None:
        return None
    if (seconds := _number(text)) is not None:
        return seconds
    from email.utils import parsedate_to_datetime  # only when a server sends a date

    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())


def pause_s(trouble: Trouble, retries: int, backoff_s: float, rng: random.Random) -> float:
    """How long to wait before the next attempt, the `retries`-th (from 1).

    Anything between nothing and the doubled back-off: requests that failed together must not come back
    together. What the server asks for comes first, with the random part on top. A kept connection that was
    closed needs none the first time.
    """
    if trouble.stale and retries == 1:
        return 0.0
    ceiling = min(_LONGEST_PAUSE_S, backoff_s * 2.0 ** (retries - 1))
    return (trouble.retry_after_s or 0.0) + rng.uniform(0.0, ceiling)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
