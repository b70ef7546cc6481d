"""Declares every figure of a load test once: its name, unit, definition, and how it is computed from the records.

Tables, files, comparisons, limits (`--slo`), `--explain` and the manual are derived from `METRICS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from benchwright.core import JsonObject, UsageError, suggest
from benchwright.perf._columns import column, compute as pc, constant
from benchwright.perf._requests import Requests

Unit: TypeAlias = Literal["ms", "s", "tokens", "tokens/s", "1/s", "share", "requests", "tokens/event"]

_UNITS: dict[Unit, tuple[str, int, str]] = {
    "ms": ("_ms", 3, "ms"), "s": ("_s", 6, "s"), "tokens": ("", 3, "tokens"), "tokens/s": ("_tokens_per_s", 3, "tokens/s"),
    "1/s": ("_per_s", 4, "per s"), "share": ("_share", 6, ""), "requests": ("", 3, ""),
    "tokens/event": ("", 3, "tokens/event"),
}  # fmt: skip
"""For each unit: the ending of keys in files, the decimals there, and the unit in headings."""


class Metric(Struct, frozen=True, kw_only=True):
    """One figure."""

    name: str
    """The name that users type: `ttft`."""
    title: str
    """A few words, for headings."""
    unit: Unit
    better: Literal["lower", "higher"] | None = None
    """Which is better; None: neither."""
    definition: str
    """The definition in whole sentences, which `--explain` and the manual print."""
    values: Callable[[Requests], Any] | None = None
    """Returns the value of each request, in seconds if the unit is a time; null if it has none. None: a figure of the stage."""
    pooled: bool = False
    """Whether a request has several values, which are pooled over all requests."""
    needs: str = ""
    """What records must have for it; the reason if it is absent."""
    limit: bool = False
    """Whether `--slo` takes it."""
    same_as: str | None = None
    """Another metric that has the same values by definition."""
    one_token: bool = False
    """Whether a reply of one token or one event has no value, and therefore meets every limit."""
    counts: bool = False
    """Whether it needs the number of output tokens."""
    headline: bool = False
    """Whether short tables show it."""

    @property
    def key(self) -> str:
        """Its name in files, which ends with the unit."""
        return f"{self.name}{'' if self.name.endswith('share') else _UNITS[self.unit][0]}"

    @property
    def scale(self) -> float:
        """The factor from seconds, in which values are computed, to the unit."""
        return 1000.0 if self.unit == "ms" else 1.0

    @property
    def digits(self) -> int:
        """Decimals in files: microseconds for times."""
        return _UNITS[self.unit][1]

    @property
    def unit_title(self) -> str:
        """The unit in headings."""
        return _UNITS[self.unit][2]

    def to_json(self) -> JsonObject:
        """`{name, key, title, unit, better, definition}`."""
        names = ("name", "key", "title", "unit", "better", "definition")
        return {name: getattr(self, name) for name in names}

    @property
    def explanation(self) -> str:
        """The definition in words."""
        better = "" if self.better is None else f", {self.better} is better"
        basis = f" {_BOOTSTRAP}" if self.values is not None else ""
        return f"{self.name} ({self.title}, {self.unit}{better}): {self.definition}{basis}"

    def rounded(self, value: float) -> float:
        """A value in the unit, rounded as in files."""
        return round(value, self.digits)

    @staticmethod
    def named(name: str) -> Metric:
        """A figure by its name or key. Raises UsageError with similar names if it is unknown."""
        wanted = name.strip().lower().replace("-", "_")
        for metric in (*METRICS.values(), GAP_PERCENTILE):
            if wanted in (metric.name, metric.key):
                return metric
        names = (*METRICS, GAP_PERCENTILE.name)
        raise UsageError(
            f"no figure of a load test is called {name!r}.{suggest(wanted, names)} Figures: {', '.join(names)}"
        )


def _ratio(top: Callable[[Requests], Any], below: Callable[[Requests], Any]) -> Callable[[Requests], Any]:
    """A ratio that is null if the divisor is not positive, so that there are no infinities or meaningless zeros."""

    def values(requests: Requests) -> Any:
        import pyarrow as pa

        divisor = below(requests).cast(pa.float64())
        positive = pc.if_else(pc.greater(divisor, 0.0), divisor, constant(None, pa.float64()))
        return pc.divide(top(requests).cast(pa.float64()), positive)

    return values


def _from(start: str, end: str) -> Callable[[Requests], Any]:
    return lambda requests: requests.seconds(start, end)


def _of(field: str) -> Callable[[Requests], Any]:
    return lambda requests: requests[field]


def _less_one(counts: Callable[[Requests], Any]) -> Callable[[Requests], Any]:
    def values(requests: Requests) -> Any:
        return pc.subtract(counts(requests), 1)

    return values


def _events(requests: Requests) -> Any:
    return requests.events


def _streamed(requests: Requests) -> Any:
    return requests.streamed_tokens


def _pooled_gaps(requests: Requests) -> Any:
    return requests.gaps


def _longest_gap(requests: Requests) -> Any:
    return requests.longest_gaps()


def _gap_percentile(requests: Requests) -> Any:
    """The 99th percentile of the gaps of each request. Only limits use it, so it may be slow."""
    import pyarrow as pa

    from benchwright.stats import percentile

    gaps: list[list[float]] = [[] for _ in range(len(requests))]
    for at, gap in zip(requests.gap_requests.to_pylist(), requests.gaps.to_pylist(), strict=True):
        gaps[at].append(gap)
    return column([percentile(sorted(own), 99) if own else None for own in gaps], pa.float64())


_STREAM = "needs streamed replies"
_USAGE = "needs token counts: the server sent no usage, and there was nothing else to count"
_ALL_COUNTS = "needs token counts of all completed requests, from one source"
_SCHEDULE = "needs a schedule: in a closed loop nothing is planned"
_DECODE = _from("first_token", "last_content")
_BOOTSTRAP = (
    "Intervals of means and 99th percentiles are 95 % block bootstrap intervals: the requests, in the order in which they were "
    "sent, are cut into at most 50 blocks, and whole blocks are drawn, because requests close in time share the server's state."
)

PER_REQUEST: tuple[Metric, ...] = (
    Metric(
        name="ttft", title="time to first token", unit="ms", better="lower", limit=True, headline=True, needs=_STREAM,
        values=_from("sent", "first_token"),
        definition="From the moment the request was handed to the socket until the first event of the stream that carries "
        "text, reasoning or a tool call. Events that contain only a role, a count or nothing do not count.",
    ),
    Metric(
        name="ttft_planned", title="time to first token, from the plan", unit="ms", better="lower", limit=True,
        needs=_SCHEDULE, values=_from("planned", "first_token"),
        definition="As ttft, but from the planned time of the request. It also includes how long the request waited "
        "in the client, so a server that stalls cannot hide this by slowing the client down.",
    ),
    Metric(
        name="ttft_answer", title="time to first answer token", unit="ms", better="lower", limit=True, needs=_STREAM,
        values=_from("sent", "first_answer"),
        definition="From sending until the first event with text or a tool call. Reasoning does not count.",
    ),
    Metric(
        name="first_event", title="first event", unit="ms", better="lower", needs=_STREAM,
        values=_from("sent", "first_event"),
        definition="From sending until the first event of the stream, whatever it contains.",
    ),
    Metric(
        name="first_byte", title="first byte", unit="ms", better="lower", needs="needs replies",
        values=_from("sent", "first_byte"),
        definition="From sending until the first byte of the reply, its head included.",
    ),
    Metric(
        name="itl", title="inter-token latency, pooled", unit="ms", better="lower", pooled=True, headline=True,
        needs="needs streamed replies with two events", values=_pooled_gaps,
        definition="The time between consecutive content events of a stream, with the gaps of all requests pooled; n counts gaps. It is per "
        "event, not per token: a server that sends four tokens at once has gaps four times as long (see tokens_per_event, tpot).",
    ),
    Metric(
        name="itl_mean", title="inter-token latency of a request", unit="ms", better="lower", limit=True, one_token=True,
        needs="needs streamed replies with two events",
        values=_ratio(_DECODE, _less_one(_events)),
        definition="One value per request: the mean gap between its content events, which is the time from the first to the last "
        "divided by their number minus one. Here every request has the same weight; in itl, every gap has. The limit itl of --slo uses this figure.",
    ),
    Metric(
        name="itl_max", title="longest pause in a stream", unit="ms", better="lower", limit=True, one_token=True,
        needs="needs streamed replies with two events", values=_longest_gap,
        definition="One value per request: its longest gap between content events.",
    ),
    Metric(
        name="tpot", title="time per output token", unit="ms", better="lower", limit=True, one_token=True, headline=True,
        counts=True, needs="needs streamed replies and token counts", values=_ratio(_DECODE, _less_one(_streamed)),
        definition="(e2e − ttft) / (output tokens − 1): the time from the first content event to the last, per token after the first. "
        "A reply of one token has none. Tokens bundled into one event do not change it. Reasoning tokens that the server counts and does "
        "not send are left out, here and in decode_speed and tokens_per_event.",
    ),
    Metric(
        name="itl_per_token", same_as="tpot", title="inter-token latency, per token", unit="ms", better="lower", one_token=True,
        needs="needs streamed replies and token counts", values=_ratio(_DECODE, _less_one(_streamed)),
        definition="(last content event − first content event) / (output tokens − 1), one value per request. The same as tpot, under "
        "a name that goes with itl: the gaps as they would be if every event carried one token.",
    ),
    Metric(
        name="e2e", title="end-to-end latency", unit="ms", better="lower", limit=True, headline=True, needs="needs replies",
        values=_from("sent", "last_content"),
        definition="From sending until the last event with content; for a reply that is not streamed, until its last byte. What follows "
        "the content (usage, end mark, closing) is in stream_close.",
    ),
    Metric(
        name="e2e_planned", title="end-to-end latency, from the plan", unit="ms", better="lower", limit=True, headline=True,
        needs=_SCHEDULE, values=_from("planned", "last_content"),
        definition="As e2e, but from the planned time of the request. The difference from e2e is how long requests waited in the "
        "client, because it was late or because the limit of requests in flight was reached.",
    ),
    Metric(
        name="stream_close", title="end of the stream", unit="ms", better="lower", needs=_STREAM,
        values=_from("last_content", "ended"),
        definition="From the last event with content until the last byte of the reply. No other latency includes it.",
    ),
    Metric(
        name="send_delay", title="sending delay", unit="ms", better="lower", needs=_SCHEDULE, values=_from("planned", "sent"),
        definition="From the planned time of the request until it was handed to the socket.",
    ),
    Metric(
        name="input_tokens", title="input tokens", unit="tokens", needs=_USAGE, values=_of("input_tokens"),
        definition="Tokens of the prompt, cached ones included; token_sources says who counted.",
    ),
    Metric(
        name="output_tokens", title="output tokens", unit="tokens", needs=_USAGE, values=_of("output_tokens"),
        definition="Tokens of the reply, reasoning included: from usage, else from a tokenizer, else from the number of the stream's events, "
        "else estimated from the length of the text: one source for the whole test, which token_sources names. Usage that contradicts the "
        "stream is not used: each event with content carries at least one token.",
    ),
    Metric(
        name="cached_tokens", title="cached input tokens", unit="tokens", needs="the server reports no cached tokens",
        values=_of("cached_tokens"),
        definition="Tokens of the prompt that the server took from its prefix cache, if it reports them.",
    ),
    Metric(
        name="reasoning_tokens", title="reasoning tokens", unit="tokens", needs="the server reports no reasoning tokens",
        values=_of("reasoning_tokens"), definition="Tokens of reasoning in the reply, if the server reports them.",
    ),
    Metric(
        name="tokens_per_event", title="tokens per event", unit="tokens/event", needs="needs streamed replies and token counts",
        values=_ratio(_streamed, _events),
        definition="Output tokens of a request divided by its content events. Above 1, the server bundles tokens, and itl is not per token.",
    ),
    Metric(
        name="output_speed", title="output speed of a request", unit="tokens/s", better="higher", needs=_USAGE,
        values=_ratio(_of("output_tokens"), _from("sent", "last_content")),
        definition="Output tokens of a request divided by its e2e: the speed that one user sees, waiting included.",
    ),
    Metric(
        name="decode_speed", title="decode speed of a request", unit="tokens/s", better="higher",
        needs="needs streamed replies and token counts", values=_ratio(_less_one(_streamed), _DECODE),
        definition="(output tokens − 1) / (e2e − ttft): the speed of a request after its first token.",
    ),
    Metric(
        name="prefill_speed", title="prefill speed of a request", unit="tokens/s", better="higher",
        needs="needs streamed replies and token counts", values=_ratio(_of("input_tokens"), _from("sent", "first_token")),
        definition="Input tokens of a request divided by its ttft, one value per request.",
    ),
)  # fmt: skip
"""Figures with a value for every request. They cover requests whose complete reply came at the first attempt, with possible
times and counts; the others are only counted."""

PER_STAGE: tuple[Metric, ...] = (
    Metric(
        name="duration", title="duration", unit="s",
        definition="From the first planned send (in a closed loop: the first send) to the last byte of the last request, failed ones "
        "included.",
    ),
    Metric(
        name="offered", title="offered rate", unit="1/s", needs=_SCHEDULE,
        definition="Requests per second that the schedule planned: planned requests without the first (in bursts: without the first burst), "
        "divided by the time from the first planned send to the last.",
    ),
    Metric(
        name="attempted", title="sent rate", unit="1/s", needs="needs two requests that were sent",
        definition="Requests per second that were sent: requests without the first (in bursts: without the first burst), divided by the time "
        "from the first send to the last.",
    ),
    Metric(
        name="request_throughput", title="request throughput", unit="1/s", better="higher", headline=True,
        needs="needs a request that was sent",
        definition="Completed requests divided by the duration. Failed requests count towards the duration but not as completed. With few "
        "requests it may exceed the offered rate, which leaves out the first request: 5 requests at 5 a second are sent in 0.8 s. Its interval is a "
        "bootstrap of 20 equal slices of the duration.",
    ),
    Metric(
        name="input_throughput", title="input token throughput", unit="tokens/s", better="higher", needs=_ALL_COUNTS,
        definition="Input tokens of all completed requests divided by the duration.",
    ),
    Metric(
        name="output_throughput", title="output token throughput", unit="tokens/s", better="higher", headline=True, needs=_ALL_COUNTS,
        definition="Output tokens of all completed requests divided by the duration. It counts tokens, not events. Its interval is a bootstrap "
        "of 20 equal slices of the duration.",
    ),
    Metric(
        name="total_throughput", title="total token throughput", unit="tokens/s", better="higher", needs=_ALL_COUNTS,
        definition="Input and output tokens of all completed requests divided by the duration.",
    ),
    Metric(
        name="peak_output_throughput", title="peak output throughput", unit="tokens/s", better="higher",
        needs=f"{_ALL_COUNTS}; or the test took less than a second",
        definition="The largest number of output tokens that arrived within any one second, or the mean over the duration if that is "
        "higher. The tokens of a reply are spread over its content events: by the events' own counts if known, else evenly.",
    ),
    Metric(
        name="mean_concurrency", title="mean concurrency", unit="requests", needs="needs a request that was sent",
        definition="Requests in flight, averaged over the duration: the sum of the times from send to end of all requests, failed ones "
        "included, divided by the duration (Little's law).",
    ),
    Metric(
        name="peak_concurrency", title="peak concurrency", unit="requests", needs="needs a request that was sent",
        definition="The largest number of requests that were in flight at once.",
    ),
    Metric(
        name="error_share", title="share of failed requests", unit="share", better="lower",
        needs="needs a request that was sent",
        definition="Requests that were sent and did not complete, as a share of all that were sent. A request whose connection failed counts as sent.",
    ),
    Metric(
        name="goodput", title="goodput", unit="1/s", better="higher", headline=True, needs="needs limits: --slo ttft=200ms",
        definition="Requests per second that met every limit of --slo: their number divided by the duration. Failed requests do not count. "
        "Its interval is a bootstrap of 20 equal slices of the duration.",
    ),
    Metric(
        name="good_share", title="share of requests within limits", unit="share", better="higher",
        needs="needs limits: --slo ttft=200ms",
        definition="Requests that met every limit of --slo, as a share of all that were sent, failed ones included.",
    ),
    Metric(
        name="cached_share", title="share of input tokens from the cache", unit="share",
        needs="the server reports no cached tokens",
        definition="Cached input tokens divided by input tokens, for the requests for which the server reports both.",
    ),
    Metric(
        name="repeated_prompt_share", title="share of repeated prompts", unit="share", needs="prompts have no hashes",
        definition="Requests whose prompt was sent earlier in the test, warm-up and earlier stages included, as a share of all that were sent. A "
        "server with a prefix cache answers them sooner.",
    ),
    Metric(
        name="output_length_share", title="output length against request", unit="share",
        needs="requests set no max_tokens, or tokens are unknown",
        definition="Output tokens divided by the tokens requested with max_tokens, summed over all completed requests that have both. Below 1, replies "
        "stopped early.",
    ),
)  # fmt: skip
"""Figures of a stage as a whole."""

METRICS: dict[str, Metric] = {metric.name: metric for metric in (*PER_REQUEST, *PER_STAGE)}
"""By name."""

LATENCIES = tuple(
    metric.name for metric in PER_REQUEST if metric.headline and not metric.name.endswith("_planned")
)
"""Names of the times that short tables show, from sending."""

GAP_PERCENTILE = Metric(
    name="itl_p99", title="99th percentile of a request's gaps", unit="ms", better="lower", limit=True, one_token=True,
    needs="needs streamed replies with two events", values=_gap_percentile,
    definition="One value per request: the 99th percentile of its own gaps between content events. Only limits use it.",
)  # fmt: skip

LIMITS: dict[str, Metric] = {
    **{metric.name: metric for metric in (*PER_REQUEST, GAP_PERCENTILE) if metric.limit},
    "itl": METRICS["itl_mean"],
}
"""The limits of `--slo`. There `itl` is the mean of a request, because pooled gaps belong to no single request."""
