"""The summary of one stage of a load test: its counts, figures, distributions, errors and notes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, convert, structs

from benchwright.core import JsonObject, LoadProfile, Note, as_json, ready
from benchwright.perf._breakdowns import GroupSummary, by_turn, by_url
from benchwright.perf._columns import compute as pc
from benchwright.perf._distributions import Distribution
from benchwright.perf._figures import (
    StageRequests,
    distributions,
    rate_intervals,
    reasons_for_absence,
    stage_figures,
)
from benchwright.perf._metrics import METRICS, PER_REQUEST, PER_STAGE
from benchwright.perf._notes import fault_counts, repeated_share, stage_notes, token_sources
from benchwright.perf._quality import StageScores
from benchwright.perf._requests import Requests
from benchwright.perf._server_figures import ServerFigures
from benchwright.perf._slo import ProbeEvidence, SloResult, judge_slo, probe_evidence
from benchwright.perf._stalls import Stall
from benchwright.perf._steady import SteadyWindow, steady_window
from benchwright.perf._values import LoadSettings, StageRecord


class Counts(Struct, frozen=True):
    """Measured requests of a stage."""

    planned: int
    """All recorded requests, sent or not."""
    sent: int
    """Sent, or not sent because the connection failed."""
    completed: int
    failed: int
    """Sent and not completed."""
    not_sent: int
    retried: int
    """Completed after more than one attempt."""
    faulty: int
    """Completed, with impossible values."""
    measurable: int
    """Requests that have latencies: completed, at the first attempt, without faults."""


class ErrorClass(Struct, frozen=True):
    """Requests that ended in the same way."""

    outcome: str
    count: int
    first: str
    """The start of the first error message."""


class StageSummary(Struct, frozen=True, kw_only=True):
    """All figures of one stage."""

    stage: int
    level: float | None
    """Requests in flight, or requests per second; None: neither was limited."""
    label: str
    """The level in words."""
    counts: Counts
    figures: dict[str, float]
    """Figures of the stage as a whole, by key: `request_throughput_per_s`."""
    intervals: dict[str, tuple[float, float]]
    """95 % intervals of figures, by key."""
    metrics: dict[str, Distribution]
    """Distributions over requests, by key: `ttft_ms`."""
    absent: dict[str, str]
    """Missing figures, with the reason."""
    outcomes: dict[str, int]
    errors: tuple[ErrorClass, ...]
    faults: dict[str, int]
    token_sources: dict[str, int]
    slo: SloResult | None
    steady: SteadyWindow
    health: dict[str, Any] | None
    """The form of `Health.to_json`; None: the stage did not end."""
    scores: dict[str, Distribution]
    """Scores of replies by name, if the test scores."""
    scores_with_failures: dict[str, float] = {}
    """Mean scores over all sent requests for rows with an answer; those without a score count as 0."""
    score_outcomes: dict[str, int] = {}
    """Replies by the outcome of scoring."""
    score_error: str | None = None
    """The first error of scoring, if there was one."""
    notes: tuple[Note, ...]
    stopped_by: str | None = None
    turns: tuple[GroupSummary, ...] = ()
    """Figures by turn, if there are conversations."""
    urls: tuple[GroupSummary, ...] = ()
    """Figures by server, if there are several."""
    server: ServerFigures | None = None
    """The server's own figures; None: they were not read, or the stage did not end."""
    probe: ProbeEvidence | None = None
    """What it shows as a probe of a search; None: it is none."""
    stalls: tuple[Stall, ...] = ()
    """Spans in which nothing arrived although requests were in flight."""
    started_at: str | None = None
    """When its first measured request was sent, by the wall clock: `2026-11-17T18:52:03.218450Z`."""

    def to_json(self) -> JsonObject:
        """Every figure under its key, null if it is absent; `absent` gives the reason."""
        whole: JsonObject = {metric.key: self.figures.get(metric.key) for metric in PER_STAGE}
        each: JsonObject = {
            metric.key: self.metrics[metric.key].to_json() if metric.key in self.metrics else None
            for metric in PER_REQUEST
        }
        return {
            "stage": self.stage,
            "level": self.level,
            "label": self.label,
            "started_at": self.started_at,
            "stopped_by": self.stopped_by,
            "requests": as_json(self.counts),
            **whole,
            "intervals_ci95": {key: list(ends) for key, ends in self.intervals.items()},
            **each,
            "absent": dict(self.absent),
            "outcomes": dict(self.outcomes),
            "errors": as_json(self.errors),
            "stalls": as_json(self.stalls),
            "probe": None if self.probe is None else as_json(self.probe),
            "by_turn": [group.to_json() for group in self.turns],
            "by_url": [group.to_json() for group in self.urls],
            "faults": dict(self.faults),
            "token_sources": dict(self.token_sources),
            "slo": None if self.slo is None else self.slo.to_json(),
            "steady": self.steady.to_json(),
            "client_health": self.health,
            "scores": {name: found.to_json() for name, found in self.scores.items()},
            "scores_with_failures": dict(self.scores_with_failures),
            "score_outcomes": dict(self.score_outcomes),
            "score_error": self.score_error,
            "server": None if self.server is None else self.server.to_json(),
            "notes": as_json(self.notes),
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> StageSummary:
        """Read the form of `to_json`."""
        keys = [metric.key for metric in PER_STAGE]
        return cls(
            stage=stored["stage"],
            level=stored["level"],
            label=stored["label"],
            counts=convert(stored["requests"], ready(Counts)),
            figures={key: stored[key] for key in keys if stored.get(key) is not None},
            intervals={key: (ends[0], ends[1]) for key, ends in stored["intervals_ci95"].items()},
            metrics={
                metric.key: Distribution.from_json(stored[metric.key])
                for metric in PER_REQUEST
                if stored.get(metric.key) is not None
            },
            absent=stored["absent"],
            outcomes=stored["outcomes"],
            errors=convert(stored["errors"], ready(tuple[ErrorClass, ...])),
            faults=stored["faults"],
            token_sources=stored["token_sources"],
            slo=None if stored["slo"] is None else SloResult.from_json(stored["slo"]),
            steady=SteadyWindow.from_json(stored["steady"]),
            health=stored["client_health"],
            scores={name: Distribution.from_json(found) for name, found in stored["scores"].items()},
            scores_with_failures=stored.get("scores_with_failures", {}),
            score_outcomes=stored.get("score_outcomes", {}),
            score_error=stored.get("score_error"),
            notes=convert(stored["notes"], ready(tuple[Note, ...])),
            stopped_by=stored.get("stopped_by"),
            started_at=stored.get("started_at"),
            probe=None if (probe := stored.get("probe")) is None else convert(probe, ready(ProbeEvidence)),
            stalls=convert(stored.get("stalls", ()), ready(tuple[Stall, ...])),
            turns=tuple(GroupSummary.from_json(group) for group in stored.get("by_turn", ())),
            urls=tuple(GroupSummary.from_json(group) for group in stored.get("by_url", ())),
            server=None if (server := stored.get("server")) is None else ServerFigures.from_json(server),
        )

    @property
    def client_was_limit(self) -> bool:
        """Whether the client was the limit, not the server."""
        return self.health is not None and bool(self.health["verdict"] == "limit")

    def figure(self, name: str) -> float | None:
        """A figure of the stage by name; the mean of a distribution."""
        key = METRICS[name].key
        found = self.metrics.get(key)
        return self.figures.get(key) if found is None else found.mean


def summarise_stage(
    requests: Requests, number: int, settings: LoadSettings, record: StageRecord | None
) -> StageSummary:
    stage = StageRequests(requests.stage(number))
    graded = StageScores(stage.completed.in_order("sent"))
    level = record.level if record is not None else _planned_level(settings, number)
    measured = distributions(stage)
    figures = stage_figures(stage)
    if (repeated := repeated_share(requests, stage.sent)) is not None:
        figures["repeated_prompt_share"] = repeated
    slo, why = _slo(stage, settings, figures)
    intervals = {
        METRICS[name].key: (METRICS[name].rounded(low), METRICS[name].rounded(high))
        for name, (low, high) in rate_intervals(stage, () if slo is None else settings.slo).items()
    }
    return StageSummary(
        stage=number,
        level=level,
        label=settings.label_of(level),
        counts=_counts(stage),
        figures={METRICS[name].key: METRICS[name].rounded(value) for name, value in figures.items()},
        intervals=intervals,
        metrics={METRICS[name].key: found for name, found in measured.items()},
        absent=reasons_for_absence({**figures, **measured}, why),
        outcomes=_outcomes(stage.measured),
        errors=_errors(stage.measured),
        faults=fault_counts(stage),
        token_sources=token_sources(stage),
        slo=slo,
        steady=steady_window(
            stage.sent, stage.measurable, stage.flight, stage.tokens, settings, level, stage.stalls
        ),
        probe=None
        if settings.search is None or slo is None
        else probe_evidence(
            settings.slo, stage.sent, stage.measurable, open_loop=settings.open_loop, share=settings.slo_share
        ),
        stalls=tuple(
            structs.replace(each, start=round(each.start, 6), end=round(each.end, 6)) for each in stage.stalls
        ),
        health=None if record is None else record.health.to_json(),
        scores=graded.distributions(),
        scores_with_failures=graded.means_with_failures(stage.sent),
        score_outcomes=graded.outcomes(),
        score_error=graded.first_error(),
        notes=stage_notes(stage, settings, figures, None if record is None else record.health),
        stopped_by=None if record is None else record.stopped_by,
        turns=by_turn(stage),
        urls=by_url(stage, settings),
        server=None if record is None else record.server,
        started_at=_wall_clock(pc.min(stage.sent["sent_at"]).as_py()),
    )


def _wall_clock(seconds: float | None) -> str | None:
    """
    >>> _wall_clock(1_700_000_000.25)
    '2023-11-14T22:13:20.250000Z'
    """
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _planned_level(settings: LoadSettings, number: int) -> float | None:
    if settings.profile in (LoadProfile.THROUGHPUT, LoadProfile.RAMP):
        return None
    return settings.levels[number] if number < len(settings.levels) else None


def _slo(
    stage: StageRequests, settings: LoadSettings, figures: dict[str, float]
) -> tuple[SloResult | None, str | None]:
    """The verdict on limits, with its figures added; or the reason why there is none."""
    if not settings.slo or not len(stage.sent):
        return None, None
    judged = judge_slo(settings.slo, stage.measurable, len(stage.sent), settings.slo_share)
    if isinstance(judged, str):
        return None, judged
    figures["good_share"] = judged.met / judged.sent
    if "duration" in figures:
        figures["goodput"] = judged.met / figures["duration"]
    return judged, None


def _counts(stage: StageRequests) -> Counts:
    completed = stage.completed
    return Counts(
        planned=len(stage.measured),
        sent=len(stage.sent),
        completed=len(completed),
        failed=len(stage.sent) - len(completed),
        not_sent=len(stage.measured) - len(stage.sent),
        retried=pc.greater(completed["attempts"], 1).true_count,
        faulty=len(stage.faults) - stage.faults.null_count,
        measurable=len(stage.measurable),
    )


def _outcomes(measured: Requests) -> dict[str, int]:
    found = measured["outcome"].value_counts().to_pylist()
    return {
        each["values"]: each["counts"]
        for each in sorted(found, key=lambda each: (-each["counts"], each["values"]))
    }


def _errors(measured: Requests) -> tuple[ErrorClass, ...]:
    """Classes by frequency, each with the words of its first request."""
    found = []
    for outcome, count in _outcomes(measured).items():
        if outcome != "ok":
            words = measured["error"].filter(pc.equal(measured["outcome"], outcome)).drop_null()
            found.append(ErrorClass(outcome, count, words[0].as_py() if len(words) else ""))
    return tuple(found)
