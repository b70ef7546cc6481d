"""Decides which failures are worth another attempt, and how long to wait for it. Pure, apart from the random pause."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from benchwright.core import CallTimes, FailureKind, RequestFailure
from benchwright.endpoints._transport import Headers

if TYPE_CHECKING:
    from random import Random

Again: TypeAlias = Literal["never", "once", "yes"]
"""Whether another attempt makes sense. `once`: if a server has never answered, a second 200 that is not a reply shows that
the URL is wrong; if it has answered, this is a failure like any other."""

_SELDOM: dict[FailureKind, Again] = {
    "bad_reply": "once",
    "rejected": "never",
    "prompt_too_long": "never",
    "budget": "never",
    "step": "never",
}
"""Kinds of failure that are not always worth another attempt. A kind that is missing here costs attempts, not samples."""
_LONGEST_PAUSE_S = 30.0
_TRANSIENT = frozenset({409, 424, 425})  # 424: TGI's status for failed generation
_NO_ROOM = frozenset({429, 503})
_CLOSES_WITHIN_S = 5.0


class FailedAttempt(Struct, frozen=True):
    """One attempt that gave no usable reply."""

    failure: RequestFailure
    """What to report if this was the last attempt."""
    collateral: bool = False
    """Whether the limit was cut after this attempt was sent, so that its refusal tells nothing new."""
    stale: bool = False
    """Whether a kept connection was closed as the attempt was sent."""
    retry_after_s: float | None = None
    """How long the server asks to wait."""
    begun_at: float = 0.0
    """When the attempt began, by the endpoint's clock."""
    times: CallTimes = CallTimes()
    """The times of the attempt, as far as it got."""

    @property
    def again(self) -> Again:
        """Whether another attempt makes sense."""
        return again_of(self.failure.kind)

    def lost_in_closing(self, now: float) -> bool:
        """Whether the attempt probably met a server that was closing the kept connection, and did not read it.

        llama.cpp closes after each stream, although it announces that it keeps connections. Such a close takes no longer
        than a way there and back. A server that closes later has surely read the request, and failed.
        """
        return self.stale and now - self.begun_at < _CLOSES_WITHIN_S

    @property
    def no_room(self) -> bool:
        """Whether the server refused for lack of capacity (429, 503)."""
        return self.failure.http_status in _NO_ROOM and self.again != "never"


def again_of(kind: FailureKind) -> Again:
    """Whether a failure of this kind is worth another attempt."""
    return _SELDOM.get(kind, "yes")


class Tries:
    """Counts the attempts that one request may still make.

    A request may be retried `max_retries` times, and as many times again after failures that say little about the next
    attempt: refusals that came together, and failures of a server that answers most requests. So requests to a server
    that is down end soon, and a server that fails now and then costs no row. Bad replies of a server that has never
    answered are counted separately: one retry.
    """

    __slots__ = ("_bad", "_counted", "_most", "_uncounted", "pauses")

    def __init__(self, max_retries: int) -> None:
        self._most = max_retries
        self._bad = self._counted = self._uncounted = 0
        self.pauses = 0
        """How often the pause has grown."""

    def take(self, trouble: FailedAttempt, *, answered: int, unanswered: int) -> bool:
        """Whether there is another attempt after `trouble`, if the server `answered` this many requests."""
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
    """The kind of failure that an HTTP status means; `words` is the server's message."""
    if status == 429:
        # Waiting does not fill an empty account.
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
"""Matches messages that a prompt does not fit: OpenAI, vLLM, SGLang, llama.cpp, llama-cpp-python, TGI, and others."""
_LENGTH_TOO_LARGE = r"max_(?:completion_|new_|output_)?tokens\W.{0,60}\btoo large"
_LIMIT = r"(?:context length is|must be <=) ?(\d+)"
_PROMPT_TOKENS = r"(\d+) (?:in (?:the|your) (?:messages|prompt)|`inputs`)"


def too_long(status: int, words: str) -> Literal["prompt", "reply", None]:
    """Whether a refusal says that the request exceeds the model's context, and which part is too long: `reply` if the
    prompt alone fits but leaves no room for the longest reply.

    >>> too_long(400, "maximum context length is 512 tokens. However, you requested 4126 (30 in the messages, 4096")
    'reply'
    """
    if status not in (400, 413, 422) or not re.search(_TOO_LONG, words, re.IGNORECASE):
        return None
    if re.search(_LENGTH_TOO_LARGE, words, re.IGNORECASE):
        return None  # or a setting is refused, which has a cure elsewhere
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


def pause_s(trouble: FailedAttempt, retries: int, backoff_s: float, rng: Random | None = None) -> float:
    """How long to wait before the next attempt, the `retries`-th (from 1).

    The pause is random between zero and the doubled back-off, because requests that failed together must not come back
    together. If the server asks for a pause, the random part is added to it. After a kept connection was closed, the
    first retry needs no pause.
    """
    if rng is None:
        from random import Random  # only if an attempt fails

        rng = Random()
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
