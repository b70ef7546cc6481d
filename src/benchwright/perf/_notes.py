"""Notes on the figures of a stage: repeated prompts, short replies, a rate that was not met."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.core import DEMO_KIND, DEMO_NOTE, Note, NoteGrade, percent
from benchwright.endpoints import SERVED_BY_DEMO
from benchwright.perf._columns import column, compute as pc
from benchwright.perf._distributions import Distribution
from benchwright.perf._faults import FAULTS
from benchwright.perf._figures import StageRequests
from benchwright.perf._metrics import LIMITS
from benchwright.perf._requests import Requests
from benchwright.perf._slo import Limits
from benchwright.perf._stalls import stall_words
from benchwright.perf._values import ClientHealth, LoadSettings

REPEATED = 0.05
"""Share of repeated prompts from which there is a note."""
SHORT = 0.9
"""Share of the requested output length below which replies count as short."""
RATE_MET = 0.97
"""Share of the offered rate that must be sent."""
KEPT_UP = 0.95
"""Share of the offered rate that must be completed while requests are being sent."""
IDLE = 0.01
"""Share of idle time from which there is a note."""
IDLE_S = 0.01
"""Shorter pauses are the client's usual step from one request to the next and do not count."""
_SHOWN_NAMES = 5
BUNDLED = 1.05
"""Tokens per event from which they count as bundled."""


_PROBLEM, _INFORMATION = NoteGrade.PROBLEM.value, NoteGrade.INFORMATION.value


def repeated_share(everything: Requests, measured: Requests) -> float | None:
    """The share of the requests whose prompt was sent earlier, in any stage or phase; None: prompts have no hashes."""
    import pyarrow as pa

    sent = everything.where(
        pc.and_(pc.is_valid(everything["sent"]), pc.is_valid(everything["prompt_hash"]))
    ).in_order("sent")
    own = measured.where(pc.and_(pc.is_valid(measured["sent"]), pc.is_valid(measured["prompt_hash"])))
    if not len(own):
        return None
    # Dictionary codes increase with the first appearance of each value.
    codes = sent["prompt_hash"].dictionary_encode().indices
    before = pc.cumulative_max(codes).slice(0, len(codes) - 1)
    again = pc.less_equal(codes.slice(1), before)
    later = sent["number"].slice(1).filter(pc.invert(again))
    new = pc.is_in(own["number"], value_set=pa.concat_arrays([sent["number"].slice(0, 1), later]))
    return 1 - float(new.true_count) / len(own)


def stage_notes(
    stage: StageRequests, settings: LoadSettings, figures: dict[str, float], health: ClientHealth | None
) -> tuple[Note, ...]:
    """The notes, the most important first."""
    found: list[Note] = []
    if health is not None and health.verdict in ("strained", "limit"):
        limit = "The client was the limit" if health.verdict == "limit" else "The client was under strain"
        grade = _PROBLEM if health.verdict == "limit" else NoteGrade.CAUTION.value
        found.append(Note(f"client_{health.verdict}", f"{limit}: {'; '.join(health.reasons)}", grade))
    found += _servers(stage)
    found += _faults(stage)
    found += _stalls(stage, health)
    found += _rates(stage, settings, figures)
    found += _prompts(figures)
    found += _made(settings)
    found += _lengths(stage, settings.usual_tokens)
    found += _tokens(stage, settings.slo)
    found += _counts(stage)
    return tuple(found)


def _servers(stage: StageRequests) -> Iterator[Note]:
    """Notes on the model that answered, if it is not the requested one."""
    names = [str(name) for name in stage.completed["served"].drop_null().unique().to_pylist()]
    if SERVED_BY_DEMO in names:
        yield Note(DEMO_KIND, DEMO_NOTE)
    others = [name for name in names if name != SERVED_BY_DEMO]
    if others:
        more = ", …" if len(others) > _SHOWN_NAMES else ""
        yield Note(
            "other_model",
            f"the server answered as {', '.join(others[:_SHOWN_NAMES])}{more}, which is not the requested name",
        )


def _stalls(stage: StageRequests, health: ClientHealth | None) -> Iterator[Note]:
    """Stalls, which averages hide: in a closed loop, no request is sent while one lasts."""
    if not stage.stalls or stage.span is None:
        return
    words = stall_words(stage.stalls, stage.span[0])
    longest = max(stall.seconds for stall in stage.stalls)
    own = health is not None and health.lag.max >= longest / 2
    cause = (
        "The client itself was held up: its event loop stood still"
        if own
        else "The server or the network stalled"
    )
    yield Note("stalled", f"{cause}: {words}. Averages hide this: see the maxima and the curves over time")


def _faults(stage: StageRequests) -> Iterator[Note]:
    for name, count in fault_counts(stage).items():
        yield Note(
            "impossible_values",
            f"{count:,} of {len(stage.completed):,} completed requests have impossible values ({FAULTS[name]}). This is a "
            "measurement error; averages exclude them",
        )


def fault_counts(stage: StageRequests) -> dict[str, int]:
    """Completed requests by fault."""
    found = stage.faults.drop_null().value_counts().to_pylist()
    return {each["values"]: each["counts"] for each in sorted(found, key=lambda each: str(each["values"]))}


def _rates(stage: StageRequests, settings: LoadSettings, figures: dict[str, float]) -> Iterator[Note]:
    offered, attempted = figures.get("offered"), figures.get("attempted")
    if offered and attempted and attempted < RATE_MET * offered:
        yield Note(
            "offered_rate",
            f"{offered:,.4g} requests per second were offered and {attempted:,.4g} sent. Latencies from the planned time "
            "(ttft_planned, e2e_planned) include the wait; those from sending do not",
        )
    if (
        offered
        and (completed := _completed_while_sending(stage)) is not None
        and completed < KEPT_UP * offered
    ):
        yield Note(
            "not_kept_up",
            f"The server did not keep up: {offered:,.4g} requests per second were offered and {completed:,.4g} completed "
            "while they were being sent. Latency grows with the length of such a test",
            _PROBLEM,
        )
    delayed = stage.sent["delayed_s"]
    waited = _above_zero(delayed)
    if waited:
        why = "as many as allowed were in flight"
        if settings.max_concurrency is None:
            why = "the client cannot open more files (raise the limit with ulimit -n, or use --workers)"
        yield Note(
            "delayed",
            f"{waited:,} of {len(stage.sent):,} requests waited because {why}, {pc.max(delayed).as_py():,.3g} s at most",
        )
    yield from _idle(stage, settings)


def _above_zero(values: Any) -> int:
    return int(pc.greater(values, 0.0).true_count)


def _completed_while_sending(stage: StageRequests) -> float | None:
    """Completed requests per second between the first end and the last send; None: too short to tell."""
    ends = stage.completed["ended"].drop_null()
    if not len(ends):
        return None
    first, last = pc.min(ends).as_py(), pc.max(stage.sent["sent"]).as_py()
    inside = pc.and_(pc.greater_equal(ends, first), pc.less_equal(ends, last)).true_count
    # The spread of a Poisson count of 400 is 5 %, so fewer requests cannot show a shortfall of that size.
    return (inside - 1) / (last - first) if inside >= 400 and last > first else None


def _idle(stage: StageRequests, settings: LoadSettings) -> Iterator[Note]:
    """Time in which nothing was in flight: in a closed loop any, in an open loop only if a request was due."""
    if stage.span is None or not len(stage.completed):
        return
    gaps = stage.flight.idle()
    if settings.turn_mode is not None and not settings.open_loop:
        return  # users think
    if settings.open_loop:
        gaps = _while_due(stage, gaps)
    gaps = [(start, end) for start, end in gaps if end - start >= IDLE_S]
    idle = sum(end - start for start, end in gaps)
    if idle > IDLE * (stage.span[1] - stage.span[0]):
        longest = max(end - start for start, end in gaps)
        yield Note(
            "idle_gaps",
            f"Nothing was in flight for {idle:,.3g} s of {stage.span[1] - stage.span[0]:,.3g} s, {longest:,.3g} s at a time at "
            "most, although requests were due. The client paused, so the server's throughput is understated",
        )


def _while_due(stage: StageRequests, gaps: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The part of idle spans after the planned time of the request that ends them."""
    due = dict(zip(stage.sent["sent"].to_pylist(), stage.sent["planned"].to_pylist(), strict=True))
    found = []
    for start, end in gaps:
        planned = due.get(end)
        if planned is not None and planned < end:
            found.append((max(start, planned), end))
    return found


def _prompts(figures: dict[str, float]) -> Iterator[Note]:
    share = figures.get("repeated_prompt_share", 0.0)
    if share >= REPEATED:
        cached = figures.get("cached_share")
        seen = "" if cached is None else f" The server took {percent(cached)} of input tokens from its cache."
        yield Note(
            "repeated_prompts",
            f"{percent(share)} of the requests repeat a prompt that was sent before, and a server with a prefix cache answers these "
            f"sooner than new ones.{seen} Use more rows, or --cache-bust",
        )


def _made(settings: LoadSettings) -> Iterator[Note]:
    if settings.prompt_lengths == "approximate":
        yield Note(
            "approximate_lengths",
            "Generated prompts consist of English words, one for each token, so their lengths are approximate. For exact "
            "lengths, give the model's tokenizer: --tokenizer PATH",
            _INFORMATION,
        )

    made = settings.synthetic
    if made is not None:
        shared = made["cacheable_share"]
        prefix = (
            f"If each is sent once, an unlimited prefix cache can serve {percent(shared)} of their tokens"
            if shared
            else "They share no prefix"
        )
        yield Note(
            "made_prompts",
            f"{made['prompts']:,} prompts were generated, with {_few_digits(made['mean_input_tokens'])} tokens on average, for replies of "
            f"{_few_digits(made['mean_output_tokens'])}; the server's chat template adds to that. {prefix}",
            _INFORMATION,
        )


def _lengths(stage: StageRequests, usual: int | None) -> Iterator[Note]:
    """Notes on replies with a requested length."""
    requested = stage.completed["requested_tokens"]
    counted = pc.and_(pc.is_valid(stage.completed["output_tokens"]), pc.is_valid(requested))
    if usual is not None:
        counted = pc.and_(counted, pc.fill_null(pc.not_equal(requested, usual), False))
    known = stage.completed.where(counted)
    given, expected = (pc.mean(known[name]).as_py() for name in ("output_tokens", "requested_tokens"))
    if not expected or SHORT <= (share := given / expected) <= 1.001:
        return
    lengths = f"Replies had {_few_digits(given)} of {_few_digits(expected)} requested output tokens on average ({percent(share)})"
    if share < SHORT:
        yield Note(
            "short_replies",
            f"{lengths}: they stopped early. For equal lengths use --exact-output, which not every server supports; otherwise compare figures per token",
        )
    else:
        yield Note("long_replies", f"{lengths}: the server ignores max_tokens")


def _few_digits(number: float) -> str:
    """
    >>> _few_digits(53.5273), _few_digits(64.0), _few_digits(4096.3)
    ('53.5', '64', '4,096')
    """
    return f"{number:,.0f}" if number >= 100 or number == round(number) else f"{number:.1f}"


def _tokens(stage: StageRequests, limits: Limits) -> Iterator[Note]:
    import pyarrow as pa

    sources = token_sources(stage)
    whole, how = (
        stage.completed,
        {"counted": "one per content event", "estimated": "by the length of the text"},
    )
    ways = " and ".join(how[name] for name in sources if name in how)
    refused = pc.is_valid(whole["reported_tokens"])
    doubted = whole.where(
        pc.and_(
            refused,
            pc.invert(pc.fill_null(pc.equal(whole["reported_tokens"], whole["output_tokens"]), False)),
        )
    )
    if len(doubted):
        first = doubted.at([0])
        reported, events = first["reported_tokens"][0].as_py(), first.events[0].as_py()
        against = f"{events:,} events with content" if events else "a reply with text"
        used = ", ".join(["output tokens are counted", ways] if ways else ["they are not used"])
        yield Note(
            "usage_contradicted",
            f"The server's token counts contradict {len(doubted):,} of {len(whole):,} replies (the first: {reported:,} tokens "
            f"reported, {against}): {used}",
        )
    silent = whole.where(
        pc.and_(pc.invert(refused), pc.is_in(whole["token_source"], value_set=column([*how], pa.string())))
    )
    if len(silent):
        same = ", as many as it reports for the others" if "usage" in sources else ""
        more = "" if same or "counted" not in sources else ". If events carry several tokens, there are more"
        yield Note(
            "token_source",
            f"The server sent no usage for {len(silent):,} of {len(whole):,} replies: output tokens are counted, {ways}{same}{more}",
        )
    unknown = whole["output_tokens"].null_count
    if unknown and (sources or pc.any(pc.greater(whole.events, 0)).as_py()):
        known = len(whole) - unknown
        rest = (
            f"figures per token are those of the other {known:,}, and" if known else "figures per token and"
        )
        missed = [name for name, _ in limits if LIMITS[name].counts]
        yield Note(
            "tokens_unknown",
            f"The server gave no token count that can be used for {unknown:,} of {len(whole):,} completed requests, and counts of several "
            f"sources are not mixed: {rest} token throughput {'is' if known else 'are'} unknown"
            + "".join(f". Requests without a count miss the limit {name}" for name in missed),
        )
    total = stage.measurable.streamed_tokens
    events = stage.measurable.events
    produced, arrived = pc.sum(total.filter(pc.greater(events, 0))).as_py(), pc.sum(events).as_py()
    if produced and arrived and produced > BUNDLED * arrived:
        yield Note(
            "bundled_tokens",
            f"Events carry {produced / arrived:.2g} tokens on average, and itl is per event. For times per token, see tpot. Throughput counts tokens",
            _INFORMATION,
        )


def token_sources(stage: StageRequests) -> dict[str, int]:
    """Completed requests by who counted their output tokens."""
    whole = stage.completed
    counted = whole.where(pc.is_valid(whole["output_tokens"]))
    found = pc.fill_null(counted["token_source"], "unknown").value_counts().to_pylist()
    return {each["values"]: each["counts"] for each in sorted(found, key=lambda each: str(each["values"]))}


def _counts(stage: StageRequests) -> Iterator[Note]:
    retried = stage.completed.where(_more_than_one(stage.completed["attempts"]))
    if len(retried):
        yield Note(
            "retried",
            f"{len(retried):,} completed {'requests were' if len(retried) > 1 else 'request was'} sent again, because the server "
            "was closing the connection; latencies exclude them",
            _INFORMATION,
        )
    count = len(stage.measurable)
    if count and not Distribution.enough(count, "p99"):
        yield Note(
            "few_requests",
            f"{count:,} request{'s have' if count > 1 else ' has'} latencies: too few for a 99th percentile",
        )


def _more_than_one(attempts: Any) -> Any:
    return pc.greater(attempts, 1)
