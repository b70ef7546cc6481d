"""The records of a load test: one per request, one per stage, the health of the client, and the settings.

All times are seconds since the start of the test's clock, which is monotonic and the same for all workers.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, TypeAlias

from msgspec import Struct, convert, msgpack

from benchwright.core import FailureKind, LoadProfile, as_json, ready
from benchwright.perf._server_figures import ServerFigures

PhaseName: TypeAlias = Literal["warmup", "measured", "cooldown"]
"""Warm-up and cool-down requests are sent and recorded like others, but no figure includes them."""

StopCause: TypeAlias = Literal["interrupt", "watchdog", "errors", "seconds", "data", "requests"]
"""Why a stage stopped sending, the most serious first. If workers differ, the first one in this list counts."""

TurnMode: TypeAlias = Literal["every", "every_with_gt", "last"]
"""What conversations send: every turn, after the model's replies or after those of the data, or only the last turn."""

Verdict: TypeAlias = Literal["ok", "strained", "limit", "not_judged"]
"""The verdict on the client."""

TokenSource: TypeAlias = Literal["usage", "tokenizer", "counted", "estimated"]
"""Who counted tokens: the server, a tokenizer, the events of the stream, or the length of the text."""


class RequestOutcome(StrEnum):
    """The outcome of a request of a load test: `ok`, or the class of its error, with the failures of this class."""

    failures: tuple[FailureKind, ...]
    """The failures that the endpoint reports."""

    def __new__(cls, value: str, *failures: FailureKind) -> RequestOutcome:
        member = str.__new__(cls, value)
        member._value_ = value
        member.failures = failures
        return member

    OK = "ok"
    CONNECT = "connect", "connection"
    TIMEOUT = "timeout", "timeout"
    HTTP_4XX = "http_4xx", "rejected", "prompt_too_long"
    HTTP_429 = "http_429", "rate_limited"
    HTTP_5XX = "http_5xx", "server_error"
    PROTOCOL = "protocol", "bad_reply", "step"
    EMPTY = "empty"
    CANCELLED = "cancelled"
    RESET = "reset"
    BROKEN_STREAM = "broken_stream", "broken_stream"
    NOT_SENT = "not_sent", "budget"


class RequestRecord(Struct, frozen=True, array_like=True, omit_defaults=True, gc=False):
    """One request of the plan, sent or not. Fields are stored by position: append new ones, with a default."""

    number: int
    """Its place in the plan of the test, from 0."""
    stage: int = 0
    """Index of the stage: the levels of a sweep, or the probes of a search."""
    phase: PhaseName = "measured"
    row: int = 0
    """Index of the row in the data."""
    conversation: int | None = None
    turn: int = 0
    worker: int = 0
    """Index of the process that sent it."""
    url: int = 0
    """Index of the address that got it."""
    planned: float | None = None
    """When the schedule planned it; None in a closed loop."""
    sent: float | None = None
    """When it was handed to the socket; None if it never was."""
    first_byte: float | None = None
    first_event: float | None = None
    """The first event of the stream, of any kind."""
    first_token: float | None = None
    """The first event with text, reasoning or a tool call."""
    first_answer: float | None = None
    """The first event with text or a tool call, without reasoning."""
    last_content: float | None = None
    """The last event with content; for a reply that was not streamed, its last byte."""
    ended: float | None = None
    """The last byte, or when it was known to have failed."""
    arrivals: tuple[float, ...] = ()
    """When each event with content arrived, in seconds after `sent`; empty if the reply was not streamed."""
    event_tokens: tuple[int, ...] | None = None
    """Tokens of each of these events, if known."""
    outcome: RequestOutcome = RequestOutcome.OK
    error: str | None = None
    """The start of the error message."""
    http_status: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    token_source: TokenSource | None = None
    """The source of `output_tokens`."""
    requested_tokens: int | None = None
    """The `max_tokens` of the request."""
    finish_reason: str | None = None
    prompt_hash: str | None = None
    """Equal for equal prompts: 16 hexadecimal digits."""
    scores: dict[str, float] | None = None
    delayed_s: float = 0.0
    """How long it waited because the allowed number of requests was in flight."""
    attempts: int = 1
    reply: str | None = None
    """The reply as JSON, if the test scores replies."""
    score_outcome: str | None = None
    """The outcome of scoring it; None: it was not scored."""
    score_error: str | None = None
    served: str | None = None
    """The model name in the reply, if it is not the requested one, or the mark of `simulate`."""
    reported_tokens: int | None = None
    """Output tokens that the server reported, if they are not used: this count or most of its server's cannot be true."""
    sent_at: float | None = None
    """`sent` by the wall clock, in seconds since 1970."""
    reply_id: str | None = None
    """The `id` of the reply, for the server's log."""
    request_id: str | None = None
    """The `x-request-id` header of the reply."""

    @property
    def ok(self) -> bool:
        """Whether the reply is complete."""
        return self.outcome is RequestOutcome.OK


_RECORD = msgpack.Decoder(ready(RequestRecord))
_ENCODER = msgpack.Encoder()


def encode_record(record: RequestRecord) -> bytes:
    """As it is stored."""
    return _ENCODER.encode(record)


def decode_record(stored: bytes) -> RequestRecord:
    """Decode what `encode_record` of this or an older version stored."""
    return _RECORD.decode(stored)


USUAL_THROUGHPUT = 256
"""Requests in flight in profile `throughput`, if no other limit is given."""


class LoadSearch(Struct, frozen=True):
    """Settings of the search for the largest load. Levels are requests in flight or per second, depending on the loop."""

    lowest: float = 1.0
    highest: float = 4096.0
    repeats: int = 3
    """Probes at each end of the last bracket."""
    share: float | None = None
    """Share of requests that must keep the limits; None: only the verdicts of probes count."""
    sized: bool = False
    """Whether a probe also lasts until it has enough requests to tell, because its size was not given as a number of requests."""
    most_probes: int = 40
    seconds: float = 600.0
    """No probe begins later than this after the first."""


class LoadSettings(Struct, frozen=True):
    """Everything that decides the figures of a load test. Recorded before its first request."""

    profile: LoadProfile = LoadProfile.CONCURRENT
    levels: tuple[float, ...] = (1.0,)
    """One stage each: requests in flight in a closed loop, requests per second in an open one, the speed of a trace."""
    burstiness: float = 1.0
    """Shape of the gamma distribution of the gaps: 1 is Poisson, lower is burstier, higher is smoother."""
    ramp: Literal["linear", "exponential"] = "linear"
    ramp_start: float | None = None
    ramp_end: float | None = None
    trace_field: str | None = None
    """The column with the timestamps of a trace, and their unit; levels of a trace are its speeds."""
    trace_unit: str | None = None
    trace_start: float = 0.0
    """The part of the trace that is sent, in seconds after its earliest stamp."""
    trace_end: float | None = None
    tokenizer: str | None = None
    """The tokenizer that counted the tokens of generated prompts."""
    prompt_lengths: Literal["exact", "approximate"] | None = None
    """How exact the lengths of generated prompts are; None: the prompts come from the data."""
    synthetic: dict[str, Any] | None = None
    """Facts about generated prompts: their number, mean lengths, and the share that a prefix cache can serve."""
    exact_output: bool = False
    """Whether requests ask for replies of exactly `max_tokens`."""
    turn_mode: TurnMode | None = None
    """What conversations send; None: requests are not conversations. `requests` then counts conversations."""
    think_time: str | None = None
    """How long users think between turns, if the data do not say."""
    burst_size: int | None = None
    """Requests sent together in profile `burst`; None: those of one second at the rate of each stage."""
    requests: int | None = None
    """Measured requests of each stage; None: until `seconds` have passed."""
    seconds: float | None = None
    """How long each stage sends measured requests."""
    max_error_share: float | None = None
    """Share of errors above which the test is not comparable."""
    stop_error_share: float | None = None
    """Share of errors above which the test stops early."""
    warmup: int = 0
    cooldown: int = 0
    max_concurrency: int | None = None
    """The most requests in flight, over all workers; None: no limit."""
    seed: int = 0
    """Seed of arrival times and of sampling."""
    stream: bool = True
    score: bool = False
    min_score: float | None = None
    """The lowest mean of the headline score at which a level is good enough."""
    workers: int = 1
    cache_bust: str | None = None
    """The common part of the first words of all prompts, if each prompt begins with unique words."""
    urls: tuple[str, ...] = ()
    """Addresses that get requests in turn, without secrets."""
    slo: tuple[tuple[str, float], ...] = ()
    """Names of limits, and their largest allowed values in seconds."""
    slo_share: float = 0.99
    """Share of requests that must keep all limits."""
    search: LoadSearch | None = None
    """The search for the largest load that keeps the limits. Each stage depends on earlier ones; `levels` has the first."""
    request_timeout_s: float = 120.0
    usual_tokens: int | None = None
    """The longest reply of requests without a requested length: a limit, not an expectation."""
    drain_s: float = 30.0
    """How long an interrupted test waits for requests in flight."""

    @property
    def open_loop(self) -> bool:
        """Whether requests are sent at their time, independent of earlier ones."""
        return LoadProfile(self.profile).open_loop

    def label_of(self, level: float | None) -> str:
        """A level in words: `8 in flight`, `12.5/s`."""
        if level is None:
            return self.profile
        if self.profile == LoadProfile.TRACE:
            return f"{level:g}× speed"
        return f"{level:g}/s" if self.open_loop else f"{level:g} in flight"

    def slots_of(self, level: float) -> int | None:
        """Requests that a stage of this level keeps in flight; None in an open loop."""
        if self.open_loop:
            return None
        if self.profile == LoadProfile.THROUGHPUT:
            return self.max_concurrency or USUAL_THROUGHPUT
        slots = int(level)
        return slots if self.max_concurrency is None else min(slots, self.max_concurrency)

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        found: dict[str, Any] = as_json(self)
        return found

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> LoadSettings:
        """Read the JSON form; keys of newer versions are ignored."""
        return convert(stored, ready(cls))


class DurationSpread(Struct, frozen=True):
    """Number, mean, 99th percentile and maximum of durations, in seconds."""

    n: int = 0
    mean: float = 0.0
    p99: float = 0.0
    max: float = 0.0


class ClientHealth(Struct, frozen=True):
    """The health of the client in one stage. It tells whether the figures describe the server or the client."""

    lag: DurationSpread = DurationSpread()
    """How late the event loop ran a timer."""
    lateness: DurationSpread = DurationSpread()
    """How late requests were sent after their planned time or, in a closed loop, after their slot became free."""
    cpu_shares: tuple[float, ...] = ()
    """CPU time over wall time, for each worker."""
    gc_s: float = 0.0
    """Time in garbage collection, over all workers."""
    verdict: Verdict = "ok"
    """`limit`: the client was the limit, and the figures do not describe the server."""
    reasons: tuple[str, ...] = ()
    """The reasons and cures; or why nothing could be judged."""

    def to_json(self) -> dict[str, Any]:
        """Times in milliseconds."""
        found: dict[str, Any] = {}
        for name, spread in (("event_loop_lag", self.lag), ("send_lateness", self.lateness)):
            found |= {
                f"{name}_mean_ms": spread.mean * 1000,
                f"{name}_p99_ms": spread.p99 * 1000,
                f"{name}_max_ms": spread.max * 1000,
            }
        found |= {"cpu_shares": list(self.cpu_shares), "gc_ms": self.gc_s * 1000}
        return found | {"verdict": self.verdict, "reasons": list(self.reasons)}


class StageRecord(Struct, frozen=True, array_like=True, omit_defaults=True):
    """One stage of a load test: a level of a sweep. It is recorded when the stage ends, so a killed stage has none."""

    stage: int
    level: float | None = None
    """Requests in flight, or requests per second; None: neither is limited."""
    started: float = 0.0
    """When the first measured request may be sent."""
    ended: float = 0.0
    """The end of its last request."""
    offered: int = 0
    """Measured requests that the schedule planned before the stage stopped."""
    delayed: int = 0
    """Requests that waited because the allowed number was in flight."""
    delayed_s: float = 0.0
    stopped_by: StopCause = "requests"
    health: ClientHealth = ClientHealth()
    server: ServerFigures | None = None
    """The server's own figures; None: they were not read."""


_STAGE = msgpack.Decoder(ready(StageRecord))


def encode_stage(stage: StageRecord) -> bytes:
    """As it is stored."""
    return _ENCODER.encode(stage)


def decode_stage(stored: bytes) -> StageRecord:
    """Decode what `encode_stage` stored."""
    return _STAGE.decode(stored)
