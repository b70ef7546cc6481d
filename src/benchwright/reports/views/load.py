"""Load tests as values: in a list, and in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec import Struct

from benchwright.core import JsonObject
from benchwright.perf import METRICS, LoadSettings, LoadSummary, Metric, StageSummary
from benchwright.reports.views.runs import EventView, RunView, event_view, plain_view
from benchwright.reports.views.settings import endpoint_of, table_of
from benchwright.store import Event, RunRecord


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
    return replace(view, summary=shown, counted=f"{summary.sent:,}", headline=headline(summary))


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
    """The stage that a list shows: with the most requests per second within limits, else with the most of all."""
    if not summary.stages:
        return None

    def rank(stage: StageSummary) -> float:
        good = stage.figure("goodput")
        return (stage.figure("request_throughput") or 0.0) if good is None else good

    return max(summary.stages, key=rank)


def headline(summary: LoadSummary) -> str:
    """The figures that stand for the test, in a cell: `41.2/s, ttft p99 210 ms`."""
    stage = best_stage(summary)
    if stage is None or stage.figure("request_throughput") is None:
        return "–"
    parts = [f"{short(stage.figure('request_throughput'), METRICS['request_throughput'])}/s"]
    for name in ("ttft", "e2e"):
        found = stage.metrics.get(METRICS[name].key)
        if found is not None:
            parts.append(f"{name} p99 {short(found.percentiles['p99'], METRICS[name])} ms")
            break
    if len(summary.stages) > 1:
        parts.append(f"at {stage.label}, of {len(summary.stages)} levels")
    return ", ".join(parts)


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
    found.append(_of_client(summary.stages))
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


def _of_client(stages: Sequence[StageSummary]) -> tuple[str, str]:
    known = [stage for stage in stages if stage.health is not None]
    for verdict, state, words in (
        ("limit", "bad", "the client was the limit"),
        ("strained", "warn", "the client was strained"),
    ):
        hit = [stage for stage in known if stage.health is not None and stage.health["verdict"] == verdict]
        if hit:
            reasons = (hit[0].health or {})["reasons"]
            where = "" if len(stages) == 1 else f" at {', '.join(stage.label for stage in hit)}"
            return state, f"{words}{where}: {'; '.join(reasons)}"
    if not known:
        return "warn", "the client's health is not on record: no stage ended"
    worst = max((stage.health or {})["send_lateness_p99_ms"] for stage in known)
    lag = max((stage.health or {})["event_loop_lag_p99_ms"] for stage in known)
    return (
        "ok",
        f"the client kept up: requests sent {worst:.1f} ms late and event loop {lag:.1f} ms behind, at the 99th percentile",
    )


def _of_steadiness(stages: Sequence[StageSummary]) -> list[tuple[str, str]]:
    found = []
    for verdict, state, words in (
        ("not_steady", "warn", "the server was not steady"),
        ("unclear", "warn", "whether the server was steady is unclear"),
        ("absent", "warn", "there is no steady window"),
    ):
        hit = [stage for stage in stages if stage.steady.verdict == verdict]
        if hit:
            where = "" if len(stages) == 1 else f" at {', '.join(stage.label for stage in hit)}"
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
