"""Load tests as values: in a list, in full, and single requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from msgspec import Struct, to_builtins

from benchwright.core import JsonObject, NotFoundError, UsageError
from benchwright.perf import (
    METRICS,
    STRAINED_LAG_S,
    STRAINED_LATE_S,
    Distribution,
    LoadSettings,
    LoadSummary,
    Metric,
    RequestRecord,
    Requests,
    StageSummary,
    summarise,
)
from benchwright.reports.views.runs import EventView, PartsRequest, RunView, event_view, plain_view
from benchwright.reports.views.settings import endpoint_of, table_of
from benchwright.store import Event, RunRecord, Store


class LoadView(Struct, frozen=True, kw_only=True):
    """One load test in full."""

    run: RunView
    """As in a list."""
    summary: LoadSummary
    """Its figures."""
    settings: LoadSettings
    """What decided them."""
    endpoint: JsonObject = {}
    """The model under test, without secrets."""
    manifest: JsonObject = {}
    """Hashes, versions, seed."""
    stopped_because: str = ""
    """Why it stopped early."""
    events: tuple[EventView, ...] = ()
    """What happened, oldest first."""

    def to_json(self) -> JsonObject:
        """`{run: as in a list, summary, settings, endpoint, manifest, stopped_because, events}`."""
        return {
            "run": self.run.to_json(),
            "summary": self.summary.to_json(),
            "settings": self.settings.to_json(),
            "endpoint": self.endpoint,
            "manifest": self.manifest,
            "stopped_because": self.stopped_because,
            "events": [event.to_json() for event in self.events],
        }


def load_view(run: RunRecord) -> RunView:
    """A load test in a list."""
    view = plain_view(run)
    if run.summary is None:
        return view
    summary = LoadSummary.from_json(run.summary)
    figures = {
        METRICS[name].key: figure for name in METRICS if (figure := _of_best(summary, name)) is not None
    }
    shown: JsonObject = {
        **{name: value for name, value in run.summary.items() if name != "stages"},
        "outcomes": {**_outcomes(summary.stages)},
        "metrics": {key: {"value": figure} for key, figure in figures.items()},
    }
    # How long the server was under load; a reader of the list does not ask how long the summary took.
    worked = sum(stage.figure("duration") or 0.0 for stage in summary.stages)
    return replace(
        view,
        summary=shown,
        counted=f"{summary.sent:,}",
        headline=headline(summary),
        worked=worked or view.worked,
    )


def load_details(
    run: RunRecord, summary: LoadSummary, *, stopped_because: str = "", events: Iterable[Event] = ()
) -> LoadView:
    """A load test in full, with figures that were just computed or come from its record."""
    return LoadView(
        run=load_view(run),
        summary=summary,
        settings=settings_of(run),
        endpoint=endpoint_of(run),
        manifest=run.manifest,
        stopped_because=stopped_because or run.error or "",
        events=tuple(map(event_view, events)),
    )


def settings_of(run: RunRecord) -> LoadSettings:
    """The settings that were recorded before the first request."""
    return LoadSettings.from_json(table_of(run.settings.get("load")))


def best_stage(summary: LoadSummary) -> StageSummary | None:
    """The stage that a list shows: with the most requests per second within limits, else with the most of all; of those that
    were steady, where there are any."""
    if not summary.stages:
        return None

    def rank(stage: StageSummary) -> float:
        good = stage.figure("goodput")
        return (stage.figure("request_throughput") or 0.0) if good is None else good

    return max(_steady(summary) or summary.stages, key=rank)


def _steady(summary: LoadSummary) -> list[StageSummary]:
    return [stage for stage in summary.stages if stage.steady.verdict == "steady"]


def best_of(summary: LoadSummary) -> str:
    """What the best level was chosen from: `of 4 levels, none steady`."""
    steady, count = len(_steady(summary)), len(summary.stages)
    return f"of {count} levels, {'none' if not steady else 'all' if steady == count else steady} steady"


def headline(summary: LoadSummary) -> str:
    """The figures that stand for the test, in a cell: `41.2/s, ttft p99 210 ms`."""
    stage = best_stage(summary)
    if stage is None or stage.figure("request_throughput") is None:
        return "–"
    parts = [f"{short(stage.figure('request_throughput'), METRICS['request_throughput'])}/s"]
    for name in ("ttft", "e2e"):
        found = stage.metrics.get(METRICS[name].key)
        if found is not None:
            key = "p99" if told(found, "p99") else "p50"
            parts.append(f"{name} {key} {short(found.percentiles[key], METRICS[name])} ms")
            break
    if len(summary.stages) > 1:
        parts.append(f"at {stage.label}, {best_of(summary)}")
    return ", ".join(parts)


_LEAST = {"p99": 100, "p99.9": 1000}
"""With fewer values, such a percentile is little more than the largest."""


def told(found: Distribution, key: str) -> bool:
    """Whether there are enough values for a percentile to be shown."""
    return found.n >= _LEAST.get(key, 1)


def short(value: float | None, metric: Metric) -> str:
    """A figure in few digits, for tables.

    >>> short(12.3456, METRICS["ttft"]), short(1234.5, METRICS["ttft"]), short(0.0512, METRICS["error_share"])
    ('12.3', '1,234', '5.1 %')
    """
    if value is None:
        return "–"
    if metric.unit == "share":
        return f"{100 * value:.3g} %" if 0 < abs(value) < 0.001 else f"{100 * value:.1f} %"
    if metric.name == "peak_concurrency":
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def unit_of(metric: Metric) -> str:
    """The unit as headings show it."""
    return {"1/s": "per s", "tokens/s": "tokens/s", "share": "", "requests": ""}.get(metric.unit, metric.unit)


def verdicts(view: LoadView) -> list[tuple[str, str]]:
    """What a reader needs first: `ok`, `warn` or `bad`, and a sentence."""
    summary = view.summary
    found: list[tuple[str, str]] = []
    if view.stopped_because:
        found.append(("bad" if view.run.status == "failed" else "warn", view.stopped_because))
    found.append(_of_requests(summary))
    found.append(_of_client(summary.stages, open_loop=view.settings.open_loop))
    found += _of_steadiness(summary.stages)
    if view.settings.slo:
        found.append(_of_limits(view))
    return found


def _of_requests(summary: LoadSummary) -> tuple[str, str]:
    if not summary.sent:
        return "bad", "no request was sent"
    if not summary.failed:
        return "ok", f"all {summary.sent:,} requests completed"
    share = f"{summary.failed:,} of {summary.sent:,} requests failed ({100 * summary.failed / summary.sent:.1f} %)"
    return ("warn", share) if summary.comparable else ("bad", f"{share}; not comparable with other tests")


_NEVER_THERE = frozenset({"connect", "not_sent", "cancelled"})
"""Outcomes of requests that tell nothing about the client, because no server saw them."""


def _of_client(stages: Sequence[StageSummary], *, open_loop: bool) -> tuple[str, str]:
    if _outcomes(stages).keys() <= _NEVER_THERE:
        return "warn", "the client cannot be judged: no request was connected"
    known = [stage for stage in stages if stage.health is not None]
    for verdict, state, words in (
        ("limit", "bad", "the client was the limit"),
        ("strained", "warn", "the client was strained"),
    ):
        hit = [stage for stage in known if stage.health is not None and stage.health["verdict"] == verdict]
        if hit:
            reasons = (hit[0].health or {})["reasons"]
            where = _where(hit, stages)
            return state, f"{words}{where}: {'; '.join(reasons)}"
    if not known:
        return "warn", "the client's health is not on record: no stage ended"
    paused = [stage for stage in known if any(note.kind == "idle_gaps" for note in stage.notes)]
    if paused:
        return "warn", f"the client paused{_where(paused, stages)} although requests were due: see the note"
    judged = [stage for stage in known if (stage.health or {})["verdict"] == "ok"]
    others = [stage for stage in known if stage not in judged]
    if not judged:
        return "warn", f"the client was not judged: {'; '.join((others[0].health or {})['reasons'])}"
    lag = max((stage.health or {})["event_loop_lag_p99_ms"] for stage in judged)
    words = f"its event loop was {lag:.1f} ms late at the 99th percentile (below {STRAINED_LAG_S * 1000:g} ms is good)"
    if open_loop:
        late = max((stage.health or {})["send_lateness_p99_ms"] for stage in judged)
        words += f" and requests {late:.1f} ms (below {STRAINED_LATE_S * 1000:g} ms is good)"
    if others:
        words += f"; not judged{_where(others, stages)}"
    return "ok", f"the client kept up: {words}"


def _where(hit: Sequence[StageSummary], stages: Sequence[StageSummary]) -> str:
    return "" if len(stages) == 1 else f" at {', '.join(stage.label for stage in hit)}"


def _of_steadiness(stages: Sequence[StageSummary]) -> list[tuple[str, str]]:
    found = []
    for verdict, state, words in (
        ("not_steady", "warn", "the server was not steady"),
        ("unclear", "warn", "whether the server was steady is unclear"),
        ("absent", "warn", "there is no steady window"),
    ):
        hit = [stage for stage in stages if stage.steady.verdict == verdict]
        if hit:
            where = _where(hit, stages)
            found.append((state, f"{words}{where}: {'; '.join(hit[0].steady.reasons)}"))
    return found or [("ok", "the server was steady")]


def _of_limits(view: LoadView) -> tuple[str, str]:
    limits = ", ".join(f"{name} ≤ {seconds * 1000:,.6g} ms" for name, seconds in view.settings.slo)
    judged = [(stage, stage.slo) for stage in view.summary.stages if stage.slo is not None]
    if not judged:
        return "warn", f"limits ({limits}) could not be judged"
    best = best_stage(view.summary)
    stage, slo = next((each for each in judged if each[0] is best), judged[0])
    share = slo.met / max(1, slo.sent)
    where = "" if len(view.summary.stages) == 1 else f" at the best level, {stage.label}"
    state = "ok" if share >= 0.99 else "warn" if share >= 0.9 else "bad"
    return state, f"{100 * share:.1f} % of requests kept all limits{where}: {limits}"


def _of_best(summary: LoadSummary, name: str) -> float | None:
    stage = best_stage(summary)
    return None if stage is None else stage.figure(name)


def _outcomes(stages: Sequence[StageSummary]) -> dict[str, int]:
    found: dict[str, int] = {}
    for stage in stages:
        for outcome, count in stage.outcomes.items():
            found[outcome] = found.get(outcome, 0) + count
    return found


class RequestList(Struct, frozen=True):
    """Some requests of a load test."""

    run_id: int
    requests: tuple[RequestRecord, ...]
    in_full: bool = False
    """Whether one was requested by its number."""

    def to_json(self) -> JsonObject:
        """`{run_id, requests: [fields of the record]}`."""
        return {"run_id": self.run_id, "requests": [record_json(each) for each in self.requests]}


def record_json(record: RequestRecord) -> JsonObject:
    """The fields of a record by name."""
    return {name: to_builtins(getattr(record, name)) for name in record.__struct_fields__}


def load_requests(store: Store, run_id: int) -> Requests:
    """All recorded requests, as columns."""
    from benchwright.perf import recorded_requests  # not for lists: it knows how requests are made

    return Requests.of(recorded_requests(store, run_id))


def recorded_summary(store: Store, run: RunRecord, requests: Requests | None = None) -> LoadSummary:
    """The figures on record; of a test that was killed, those of what had ended."""
    if run.summary is not None:
        return LoadSummary.from_json(run.summary)
    from benchwright.perf import recorded_stages

    found = load_requests(store, run.id) if requests is None else requests
    return summarise(found, settings_of(run), recorded_stages(store, run.id), partial=True)


def recorded_load(store: Store, run: RunRecord) -> LoadView:
    """A load test in full, with its events."""
    why = "" if run.summary is not None else "it has not ended: figures are of the requests recorded so far"
    return load_details(run, recorded_summary(store, run), stopped_because=why, events=store.events(run.id))


def load_parts(store: Store, run: RunRecord, request: PartsRequest) -> RequestList:
    """The first requests, or the first that failed."""
    if request.wrong or request.unparsed or request.outcome is not None:
        raise UsageError(
            f"run {run.id} is a load test: its requests have no verdicts. List them with --steps, failed ones with --failed"
        )
    from benchwright.perf import recorded_requests

    records = (each for each in recorded_requests(store, run.id) if not (request.failed and each.ok))
    return RequestList(run.id, tuple(islice(records, request.limit)))


def load_part(store: Store, run: RunRecord, wanted: str) -> RequestList:
    """One request by its number."""
    if not wanted.isdecimal():
        raise UsageError(f"requests of a load test have numbers from 0 on, not {wanted!r}")
    from benchwright.perf import recorded_requests

    for record in recorded_requests(store, run.id):
        if record.number == int(wanted):
            return RequestList(run.id, (record,), in_full=True)
    raise NotFoundError(f"run {run.id} has no request {wanted}. See: benchwright show {run.id} --steps")
