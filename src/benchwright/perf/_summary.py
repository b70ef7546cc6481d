"""The summary of a load test: one value per stage and one for the test, recomputed from records at any time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, convert, to_builtins

from benchwright.core import JsonObject, LoadProfile
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
from benchwright.perf._notes import Note, fault_counts, repeated_share, stage_notes, token_sources
from benchwright.perf._quality import (
    ScoreDifference,
    StageScores,
    score_differences,
    scores_with_failures,
)
from benchwright.perf._requests import Requests
from benchwright.perf._search import Probe, SearchResult, search_result
from benchwright.perf._server_figures import ServerFigures
from benchwright.perf._slo import SloResult, judge_slo
from benchwright.perf._steady import SteadyWindow, steady_window
from benchwright.perf._values import LoadSettings, StageRecord

MAX_ERROR_SHARE = 0.05
"""Above it the figures are not comparable, unless the settings say otherwise."""


class Counts(Struct, frozen=True):
    """Measured requests of a stage."""

    planned: int
    """All that are on record, sent or not."""
    sent: int
    """Sent, or not sent because the connection failed."""
    completed: int
    failed: int
    """Sent and not completed."""
    not_sent: int
    retried: int
    """Completed after more than one attempt."""
    faulty: int
    """Completed, with values that cannot be."""
    measurable: int
    """Requests that have latencies: completed, at the first attempt, without faults."""


class ErrorClass(Struct, frozen=True):
    """Requests that ended in the same way."""

    outcome: str
    count: int
    first: str
    """The first words of the first of them."""


class StageSummary(Struct, frozen=True, kw_only=True):
    """All figures of one stage."""

    stage: int
    level: float | None
    """Requests in flight, or requests per second; None: neither was limited."""
    label: str
    """The level in words."""
    counts: Counts
    figures: dict[str, float]
    """Of the stage as a whole, by key: `request_throughput_per_s`."""
    intervals: dict[str, tuple[float, float]]
    """95 % intervals of figures, by key."""
    metrics: dict[str, Distribution]
    """Over requests, by key: `ttft_ms`."""
    absent: dict[str, str]
    """Figures that there are none of, with the reason."""
    outcomes: dict[str, int]
    errors: tuple[ErrorClass, ...]
    faults: dict[str, int]
    token_sources: dict[str, int]
    slo: SloResult | None
    steady: SteadyWindow
    health: dict[str, Any] | None
    """As `Health.to_json` gives it; None: the stage did not end."""
    scores: dict[str, Distribution]
    """Scores of replies by name, where the test scores."""
    scores_with_failures: dict[str, float] = {}
    """Their means over all requests that were sent: those without a score count as 0."""
    score_outcomes: dict[str, int] = {}
    """Replies by what came of scoring them."""
    score_error: str | None = None
    """Why the first of those could not be scored that were not."""
    notes: tuple[Note, ...]
    stopped_by: str | None = None
    turns: tuple[GroupSummary, ...] = ()
    """By the place in a conversation, where there are conversations."""
    urls: tuple[GroupSummary, ...] = ()
    """By the server, where there are several."""
    server: ServerFigures | None = None
    """What the server counted itself; None: it was not asked, or the stage did not end."""

    def to_json(self) -> JsonObject:
        """Every figure under its key, null where it is absent; `absent` says why."""
        whole: JsonObject = {metric.key: self.figures.get(metric.key) for metric in PER_STAGE}
        each: JsonObject = {
            metric.key: self.metrics[metric.key].to_json() if metric.key in self.metrics else None
            for metric in PER_REQUEST
        }
        return {
            "stage": self.stage,
            "level": self.level,
            "label": self.label,
            "stopped_by": self.stopped_by,
            "requests": to_builtins(self.counts),
            **whole,
            "intervals_ci95": {key: list(ends) for key, ends in self.intervals.items()},
            **each,
            "absent": dict(self.absent),
            "outcomes": dict(self.outcomes),
            "errors": to_builtins(self.errors),
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
            "notes": to_builtins(self.notes),
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> StageSummary:
        """What `to_json` gave."""
        keys = [metric.key for metric in PER_STAGE]
        return cls(
            stage=stored["stage"],
            level=stored["level"],
            label=stored["label"],
            counts=convert(stored["requests"], Counts),
            figures={key: stored[key] for key in keys if stored.get(key) is not None},
            intervals={key: (ends[0], ends[1]) for key, ends in stored["intervals_ci95"].items()},
            metrics={
                metric.key: Distribution.from_json(stored[metric.key])
                for metric in PER_REQUEST
                if stored.get(metric.key) is not None
            },
            absent=stored["absent"],
            outcomes=stored["outcomes"],
            errors=convert(stored["errors"], tuple[ErrorClass, ...]),
            faults=stored["faults"],
            token_sources=stored["token_sources"],
            slo=None if stored["slo"] is None else SloResult.from_json(stored["slo"]),
            steady=SteadyWindow.from_json(stored["steady"]),
            health=stored["client_health"],
            scores={name: Distribution.from_json(found) for name, found in stored["scores"].items()},
            scores_with_failures=stored.get("scores_with_failures", {}),
            score_outcomes=stored.get("score_outcomes", {}),
            score_error=stored.get("score_error"),
            notes=convert(stored["notes"], tuple[Note, ...]),
            stopped_by=stored.get("stopped_by"),
            turns=tuple(GroupSummary.from_json(group) for group in stored.get("by_turn", ())),
            urls=tuple(GroupSummary.from_json(group) for group in stored.get("by_url", ())),
            server=None if (server := stored.get("server")) is None else ServerFigures.from_json(server),
        )

    def figure(self, name: str) -> float | None:
        """A figure of the stage by name; the mean of a distribution."""
        key = METRICS[name].key
        found = self.metrics.get(key)
        return self.figures.get(key) if found is None else found.mean


class QualityChange(Struct, frozen=True):
    """How one score changes under load."""

    lowest: str
    """The level with the least load, in words."""
    highest: str
    change: ScoreDifference


class LoadSummary(Struct, frozen=True, kw_only=True):
    """All stages of a load test."""

    profile: str
    stages: tuple[StageSummary, ...]
    notes: tuple[Note, ...]
    """Of all stages, each kind once; with the stages that it is of where there are several."""
    sent: int
    """Measured requests, over all stages."""
    failed: int
    comparable: bool
    """Whether few enough requests failed, and the client was not the limit."""
    partial: bool
    """Whether the test ended before its plan did."""
    search: SearchResult | None = None
    """What a search for the largest load found."""
    quality: tuple[QualityChange, ...] = ()
    """How scores change from the lowest level to the highest."""

    def to_json(self) -> JsonObject:
        """`{profile, evaluated, failed, comparable, partial, search, quality, notes, stages}`."""
        return {
            "profile": self.profile,
            "evaluated": self.sent,
            "failed": self.failed,
            "comparable": self.comparable,
            "partial": self.partial,
            "search": None if self.search is None else self.search.to_json(),
            "quality": to_builtins(self.quality),
            "notes": to_builtins(self.notes),
            "stages": [stage.to_json() for stage in self.stages],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> LoadSummary:
        """What `to_json` gave."""
        return cls(
            profile=stored["profile"],
            stages=tuple(StageSummary.from_json(stage) for stage in stored["stages"]),
            notes=convert(stored["notes"], tuple[Note, ...]),
            sent=stored["evaluated"],
            failed=stored["failed"],
            comparable=stored["comparable"],
            partial=stored["partial"],
            search=None if (found := stored.get("search")) is None else SearchResult.from_json(found),
            quality=convert(stored.get("quality", ()), tuple[QualityChange, ...]),
        )


def summarise(
    requests: Requests, settings: LoadSettings, stages: Sequence[StageRecord] = (), *, partial: bool = False
) -> LoadSummary:
    """The summary of recorded requests. `stages` are the records of the stages that ended; others are summed up without
    their health. `partial`: the test ended before its plan did."""
    ended = {stage.stage: stage for stage in stages}
    found = tuple(
        summarise_stage(requests, number, settings, ended.get(number))
        for number in sorted({*requests.stages(), *ended})
    )
    sent, failed = (sum(getattr(stage.counts, name) for stage in found) for name in ("sent", "failed"))
    allowed = MAX_ERROR_SHARE if settings.max_error_share is None else settings.max_error_share
    comparable = sent > 0 and failed <= allowed * sent and not any(map(client_was_limit, found))
    partial = partial or any(stage.stopped_by in ("interrupt", "watchdog") for stage in found)
    search = None
    if settings.search is not None:
        # One that was stopped before its end shows less load than its level.
        whole = [stage for stage in found if stage.stage in ended and stage.stopped_by != "interrupt"]
        probes = [probe_of(stage, settings) for stage in whole]
        search = search_result(probes, settings.search, whole=not settings.open_loop)
        # Requests of probes beyond the boundary may well fail. The answer counts where there is one.
        comparable = search.status in ("found", "at_least", "not_met")
    else:
        partial = partial or any(stage.stopped_by == "errors" for stage in found)
    return LoadSummary(
        profile=settings.profile,
        stages=found,
        notes=_joined_notes(found if search is None else _at_the_boundary(found, search)),
        sent=sent,
        failed=failed,
        comparable=comparable,
        partial=partial,
        search=search,
        quality=tuple(_quality(requests, found)) if settings.score else (),
    )


def _quality(requests: Requests, stages: Sequence[StageSummary]) -> Iterator[QualityChange]:
    """The scores at the lowest level against those at the highest, row by row."""
    scored = [stage for stage in stages if stage.scores and stage.level is not None]
    if len({stage.level for stage in scored}) > 1:
        low, high = (chosen(scored, key=lambda stage: stage.level or 0.0) for chosen in (min, max))
        sides = [StageScores(requests.stage(each.stage).sent.completed) for each in (low, high)]
        for change in score_differences(*sides):
            yield QualityChange(low.label, high.label, change)


def client_was_limit(stage: StageSummary) -> bool:
    """Whether the client was the limit in a stage."""
    return stage.health is not None and bool(stage.health["verdict"] == "limit")


def probe_of(stage: StageSummary, settings: LoadSettings) -> Probe:
    """A stage as a probe of a search: it passed if enough requests kept all limits, and the server kept up."""
    slo = stage.slo
    share = slo.met / slo.sent if slo is not None and slo.sent else 0.0
    why = ""
    if slo is None:
        why = stage.absent.get(METRICS["good_share"].key, "no request was sent")
    elif share < settings.slo_share:
        why = f"{100 * share:.4g} % of requests kept the limits"
    elif any(note.kind == "not_kept_up" for note in stage.notes):
        why = "requests came faster than they were answered"
    return Probe(
        stage=stage.stage,
        level=stage.level or 0.0,
        passed=not why,
        share=round(share, 6),
        requests=stage.counts.sent,
        why=why,
        client_limit=client_was_limit(stage),
    )


def summarise_stage(
    requests: Requests, number: int, settings: LoadSettings, record: StageRecord | None
) -> StageSummary:
    """One stage."""
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
        for name, (low, high) in rate_intervals(stage).items()
    }
    return StageSummary(
        stage=number,
        level=level,
        label=level_label(settings, level),
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
        steady=steady_window(stage.sent, stage.measurable, stage.flight, stage.tokens, settings, level),
        health=None if record is None else record.health.to_json(),
        scores=graded.distributions(),
        scores_with_failures=scores_with_failures(graded.totals(), len(stage.sent)),
        score_outcomes=graded.outcomes(),
        score_error=graded.first_error(),
        notes=stage_notes(stage, settings, figures, None if record is None else record.health),
        stopped_by=None if record is None else record.stopped_by,
        turns=by_turn(stage),
        urls=by_url(stage, settings),
        server=None if record is None else record.server,
    )


def level_label(settings: LoadSettings, level: float | None) -> str:
    """A level in words: `8 in flight`, `12.5/s`."""
    if level is None:
        return settings.profile
    if settings.profile == LoadProfile.TRACE:
        return f"{level:g}× speed"
    return f"{level:g}/s" if settings.open_loop else f"{level:g} in flight"


def _planned_level(settings: LoadSettings, number: int) -> float | None:
    if settings.profile in (LoadProfile.THROUGHPUT, LoadProfile.RAMP):
        return None
    return settings.levels[number] if number < len(settings.levels) else None


def _slo(
    stage: StageRequests, settings: LoadSettings, figures: dict[str, float]
) -> tuple[SloResult | None, str | None]:
    """The verdict on limits, with its figures added; or why there is none."""
    if not settings.slo or not len(stage.sent):
        return None, None
    judged = judge_slo(settings.slo, stage.measurable, len(stage.sent))
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


def _at_the_boundary(stages: Sequence[StageSummary], search: SearchResult) -> Sequence[StageSummary]:
    """The probes of a search that decide: what holds for the others misleads nobody."""
    return [stage for stage in stages if stage.level in (search.level, search.failing_level)] or stages


def _joined_notes(stages: Sequence[StageSummary]) -> tuple[Note, ...]:
    """Each kind once, in the words of the last level that has it; and which levels have it, if not all do."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for stage in stages:
        for note in stage.notes:
            kinds.setdefault(note.kind, []).append((stage.label, note.text))
    found = []
    for kind, texts in kinds.items():
        labels, words = [*dict.fromkeys(label for label, _ in reversed(texts))][::-1], texts[-1][1]
        if len({text for _, text in texts}) == 1 and len(texts) == len(stages):
            found.append(Note(kind, words))
        else:
            others = "" if len(labels) == 1 else f". Also at {', '.join(labels[:-1])}"
            found.append(Note(kind, f"{labels[-1]}: {words}{others}"))
    return tuple(found)
