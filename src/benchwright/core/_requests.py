"""Requests to models and their replies: the values that benchmarks, engine and endpoints exchange.

Values made for every sample are msgspec structs: as immutable as a named tuple, and four times as fast to make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from benchwright.core._json import JsonObject, JsonValue
from benchwright.core._sample_record import RecordColumns

LENGTH_LIMITS = ("max_tokens", "max_completion_tokens")
"""Fields of a request that limit the length of a reply."""

Route: TypeAlias = Literal["chat", "completions"]
"""Which OpenAI-compatible route a body is for."""

ROUTE_PATHS: Mapping[Route, str] = {"chat": "/chat/completions", "completions": "/completions"}
"""The end of each route's URL. No other route has an URL that ends like that of `chat`."""

LEFT_OUT: Literal["none"] = "none"
"""What users write to leave a sampling setting out of requests, so that the server's default applies."""

ReplyStatus: TypeAlias = Literal["answered", "empty", "truncated", "refused", "failed"]
"""The kind of a reply, known before any scorer has seen it."""

FailureKind: TypeAlias = Literal[
    "timeout", "connection", "rate_limited", "server_error", "rejected", "prompt_too_long", "bad_reply",
    "broken_stream", "budget", "step",
]  # fmt: skip
"""Why a request failed. `connection`: nothing came back. `broken_stream`: the reply stopped half-way. `rejected` is
permanent (400, 401, 403, 404, 422 and similar) and is never retried; so is `prompt_too_long`, a rejection because the
prompt exceeds the model's context. `bad_reply`: a status of 200 without the JSON of the route (HTML, missing choices).
`step`: a step of the pipeline failed."""


class ModelRequest(Struct, frozen=True):
    """One complete call. Exactly `payload` is sent."""

    route: Route
    """Which route the body is for."""
    body: JsonObject
    payload: bytes
    """`body` as JSON, encoded once by the code that built it."""
    repeat: int = 0
    """The repeat of the sample. It is part of the cache key, so repeats never share a reply."""
    record: bytes | None = None
    """What is recorded instead of a payload with media: the same JSON with each file replaced by its hash. None: the
    payload itself is recorded."""


def completions_body(
    model: str, prompt: JsonValue, max_tokens: JsonValue, temperature: JsonValue = 0.0, **more: JsonValue
) -> JsonObject:
    """Build a body for the completions route; greedy unless a temperature is given.

    >>> completions_body("m", "Hi", 1, echo=True)
    {'model': 'm', 'prompt': 'Hi', 'max_tokens': 1, 'temperature': 0.0, 'echo': True}
    """
    return {"model": model, "prompt": prompt, "max_tokens": max_tokens, "temperature": temperature, **more}


class TokenUsage(Struct, frozen=True, gc=False):
    """Tokens of one call."""

    prompt: int
    """Prompt tokens, cached ones included."""
    completion: int
    """Completion tokens, reasoning included."""
    source: Literal["server", "estimated"] = "server"
    """Whether the server counted or we did."""
    cached: int | None = None
    """Prompt tokens that the server took from its cache, if it reports them."""
    reasoning: int | None = None
    """Completion tokens spent on reasoning, if the server reports them. Not recorded with samples."""


class RequestFailure(Struct, frozen=True):
    """Why a request gave no usable reply."""

    kind: FailureKind
    message: str
    """The reason in plain words, with the server's message if it sent one. Never contains a secret."""
    http_status: int | None = None
    """HTTP status of the last attempt, if the server answered."""


class EchoedTokens(Struct, frozen=True):
    """The `logprobs` object of a completions reply with `echo`, as the server sent it."""

    tokens: list[str]
    """The text of each token."""
    token_logprobs: list[float | None]
    """Natural-log probability of each token; the first is usually null."""
    text_offset: list[int | None]
    """Start of each token in the echoed text; empty if the server sends no offsets."""
    top_logprobs: list[dict[str, float] | None]
    """Alternatives at each position; empty if the server sends none."""


class CallTimes(Struct, frozen=True):
    """The times of a call's last attempt, in monotonic seconds. None: the event did not happen, or its time is unknown.

    A recorded reply keeps only durations: its `sent` is 0.

    >>> CallTimes(planned=5.0, sent=5.25, first_byte=6.0, last_byte=7.25).latency_s
    2.0
    """

    planned: float | None = None
    """When it was due: the time of a schedule, or when its turn came."""
    sent: float | None = None
    """When the request was handed to the socket."""
    first_byte: float | None = None
    """When the first byte of the reply arrived, including its headers."""
    first_event: float | None = None
    """When the first event of any kind arrived; streams only."""
    first_token: float | None = None
    """When the first event with text, reasoning, a refusal or a tool call arrived; streams only."""
    first_answer: float | None = None
    """When the first of these events that was not reasoning arrived. Text between `<think>` tags is reasoning; the time of
    the text after them is known only if `arrivals` are."""
    last_byte: float | None = None
    """When the last byte arrived; for a stream, the last byte of the event that ended it."""
    arrivals: tuple[float, ...] = ()
    """When each event with content arrived, if the policy requests it."""
    failed: float | None = None
    """When the attempt was known to have failed."""

    @classmethod
    def lasting(cls, latency_s: float, ttft_s: float | None = None) -> CallTimes:
        """Make the times of a call of which only the durations are known."""
        return cls(sent=0.0, first_token=ttft_s, last_byte=latency_s)

    @property
    def latency_s(self) -> float:
        """Seconds from sending to the last byte, or to the failure."""
        end = self.last_byte if self.failed is None else self.failed
        start = self.planned if self.sent is None else self.sent
        return 0.0 if end is None or start is None else end - start

    @property
    def ttft_s(self) -> float | None:
        """Seconds from sending to the first token."""
        return None if self.first_token is None or self.sent is None else self.first_token - self.sent


UNKNOWN_TIMES = CallTimes()
"""The times of a call that was never sent or not timed."""


Copied: TypeAlias = Literal["left_out", "suspected"]
"""What is known of events of a stream that came more than once: the copies were left out; or the text may contain some, because
fewer tokens were counted than pieces came, and equal ones came in a row."""


_KEYS = {
    "status": "s",
    "text": "t",
    "reasoning": "r",
    "finish_reason": "f",
    "usage": "u",
    "failure": "x",
    "echoed": "e",
    "tool_calls": "c",
    "attempts": "n",
    "lost": "o",
    "started_at": "at",
    "latency_s": "l",
    "ttft_s": "tt",
    "served": "m",
    "copied": "d",
}
"""The fields of a reply and their names in its record."""


class ModelReply(Struct, frozen=True):
    """The result of one request after all its attempts. A failure is a value here, not an exception."""

    status: ReplyStatus
    """The kind of reply."""
    text: str = ""
    """The answer, without the reasoning."""
    reasoning: str = ""
    """The model's thinking, from `reasoning_content` or `<think>` tags."""
    finish_reason: str | None = None
    """As the server gave it: stop, length, content_filter, tool_calls, …"""
    usage: TokenUsage | None = None
    """Tokens, when known."""
    failure: RequestFailure | None = None
    """Set exactly when `status` is `failed`."""
    echoed: EchoedTokens | None = None
    """Echoed tokens with log-probabilities, if requested."""
    tool_calls: list[JsonValue] | None = None
    """Tool calls as the server sent them."""
    attempts: int = 1
    """Requests actually sent for this reply."""
    started_at: float = 0.0
    """Wall-clock time (seconds since the epoch) of the first attempt."""
    times: CallTimes = UNKNOWN_TIMES
    """The times of the last attempt."""
    served: str | None = None
    """The model name in the server's reply, if it differs from the requested one."""
    copied: Copied | None = None
    """Whether events of its stream came more than once."""
    untried: bool = False
    """Whether a failed request had attempts left that its run could no longer make. Such replies are never recorded."""
    reply_id: str | None = None
    """The `id` of the reply, in load tests. Not recorded with samples, like `request_id`."""
    request_id: str | None = None
    """The `x-request-id` header of the reply, in load tests."""
    lost: int = 0
    """How many of the attempts were lost on a kept connection that the server was closing. Sending these again is no retry."""

    @property
    def latency_s(self) -> float:
        """Seconds of the last attempt from sending to the last byte, or to the failure."""
        return self.times.latency_s

    @property
    def ttft_s(self) -> float | None:
        """Seconds of the last attempt from sending to the first content token; streams only."""
        return self.times.ttft_s

    def to_json(self) -> dict[str, Any]:
        """Return the recorded form of a self. Defaults are left out, so that a plain answer stays small."""
        usage, times = self.usage, self.times
        record: dict[str, Any] = {"s": self.status, "t": self.text}
        if self.reasoning:
            record["r"] = self.reasoning
        if self.finish_reason is not None:
            record["f"] = self.finish_reason
        if usage is not None:
            record["u"] = [usage.prompt, usage.completion, usage.source]
            if usage.cached:
                record["u"].append(usage.cached)
        if (failure := self.failure) is not None:
            record["x"] = [failure.kind, failure.message, failure.http_status]
        if (echoed := self.echoed) is not None:
            record["e"] = [echoed.tokens, echoed.token_logprobs, echoed.text_offset, echoed.top_logprobs]
        if self.tool_calls is not None:
            record["c"] = self.tool_calls
        if self.attempts != 1:
            record["n"] = self.attempts
        if self.lost:
            record["o"] = self.lost
        record["at"] = self.started_at
        record["l"] = times.latency_s
        if times.first_token is not None:
            record["tt"] = times.ttft_s
        if self.served is not None:
            record["m"] = self.served
        if self.copied is not None:
            record["d"] = self.copied
        return record

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> ModelReply:
        """Decode a reply that `to_json` encoded."""
        usage = record.get("u")
        failure = record.get("x")
        echoed = record.get("e")
        return cls(
            status=record["s"],
            text=record["t"],
            reasoning=record.get("r", ""),
            finish_reason=record.get("f"),
            usage=None if usage is None else TokenUsage(*usage),
            failure=None if failure is None else RequestFailure(*failure),
            echoed=None if echoed is None else EchoedTokens(*echoed),
            tool_calls=record.get("c"),
            attempts=record.get("n", 1),
            started_at=record.get("at", 0.0),
            times=CallTimes.lasting(record.get("l", 0.0), record.get("tt")),
            served=record.get("m"),
            copied=record.get("d"),
            lost=record.get("o", 0),
        )

    @staticmethod
    def columns(texts: Sequence[bytes]) -> RecordColumns:
        """The fields of many recorded replies as columns."""
        return RecordColumns(texts, _KEYS)
