"""The summary of a load test: its stages, and figures over all of them. It can be recomputed from records at any time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, convert, structs

from benchwright.core import DamagedRecordError, JsonObject, Note, as_json, percent, ready
from benchwright.perf._backlog import Trace
from benchwright.perf._boundary import Probe
from benchwright.perf._figures import StageRequests
from benchwright.perf._health import LIMIT_CPU
from benchwright.perf._metrics import METRICS
from benchwright.perf._quality import ScoreDifference, StageScores, score_differences
from benchwright.perf._requests import Requests
from benchwright.perf._search import SearchResult, search_result
from benchwright.perf._slo import probe_trace
from benchwright.perf._stage_summary import StageSummary, summarise_stage
from benchwright.perf._values import LoadSettings, StageRecord

MAX_ERROR_SHARE = 0.05
"""Share of errors above which figures are not comparable, unless the settings give another."""

_SMALL = 0.1
"""Delays of the client that are at most this share of the smallest limit do not decide a probe."""
_REACHED = 0.9
"""The share of a number in flight that a probe must reach to tell anything about it."""


class QualityChange(Struct, frozen=True):
    """How one score changes under load."""

    lowest: str
    """The level with the lowest load, in words."""
    highest: str
    change: ScoreDifference


class LoadSummary(Struct, frozen=True, kw_only=True, rename={"sent": "evaluated"}):
    """All stages of a load test."""

    profile: str
    started_at: str | None = None
    """When its first measured request was sent, by the wall clock."""
    sent: int
    """Measured requests, over all stages."""
    failed: int
    comparable: bool
    """Whether few enough requests failed, and the client was not the limit."""
    partial: bool
    """Whether the test ended before its plan did."""
    search: SearchResult | None = None
    """The result of a search for the largest load."""
    quality: tuple[QualityChange, ...] = ()
    """How scores change from the lowest level to the highest."""
    cost: dict[str, Any] | None = None
    """The cost of all replies by the prices at the start: `amount`, `spent`, `currency`, `as_of`, `source`, `coverage`,
    `per_1000_requests`; None if no price is known."""
    notes: tuple[Note, ...]
    """The notes of all stages, each kind once, with its stages if there are several."""
    stages: tuple[StageSummary, ...]

    def to_json(self) -> JsonObject:
        """The fields in their order; `sent` is `evaluated`, as in the summaries of other runs."""
        return {field.encode_name: _as_json(getattr(self, field.name)) for field in structs.fields(self)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> LoadSummary:
        """Read the form of `to_json`. Raises `DamagedRecordError` for anything else."""
        try:
            return cls._read(stored)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise DamagedRecordError(
                f"the figures of the load test cannot be read: {type(error).__name__}: {error}"
            ) from None

    @classmethod
    def _read(cls, stored: Mapping[str, Any]) -> LoadSummary:
        return cls(
            profile=stored["profile"],
            started_at=stored.get("started_at"),
            stages=tuple(StageSummary.from_json(stage) for stage in stored["stages"]),
            notes=convert(stored["notes"], ready(tuple[Note, ...])),
            sent=stored["evaluated"],
            failed=stored["failed"],
            comparable=stored["comparable"],
            partial=stored["partial"],
            search=None if (found := stored.get("search")) is None else SearchResult.from_json(found),
            quality=convert(stored.get("quality", ()), ready(tuple[QualityChange, ...])),
            cost=stored.get("cost"),
        )


def _as_json(value: Any) -> Any:
    if isinstance(value, SearchResult | StageSummary):
        return value.to_json()
    return [_as_json(item) for item in value] if isinstance(value, tuple) else as_json(value)


def summarise(
    requests: Requests, settings: LoadSettings, stages: Sequence[StageRecord] = (), *, partial: bool = False
) -> LoadSummary:
    """Summarise recorded requests. `stages` are the records of stages that ended; others are summarised without their health.
    `partial`: the test ended before its plan."""
    ended = {stage.stage: stage for stage in stages}
    found = tuple(
        summarise_stage(requests, number, settings, ended.get(number))
        for number in sorted({*requests.stages(), *ended})
    )
    sent, failed = (sum(getattr(stage.counts, name) for stage in found) for name in ("sent", "failed"))
    allowed = MAX_ERROR_SHARE if settings.max_error_share is None else settings.max_error_share
    comparable = sent > 0 and failed <= allowed * sent and not any(stage.client_was_limit for stage in found)
    partial = partial or any(stage.stopped_by in ("interrupt", "watchdog") for stage in found)
    search = None
    if settings.search is not None:
        # A stage that was stopped early had less load than its level.
        whole = [stage for stage in found if stage.stage in ended and stage.stopped_by != "interrupt"]
        judged = [probe_of(stage, settings, requests) for stage in whole]
        search = search_result(judged, settings, stopped=partial)
        # Requests of probes beyond the boundary may fail. If there is an answer, it counts.
        comparable = search.answered or search.status == "not_met"
    else:
        partial = partial or any(stage.stopped_by == "errors" for stage in found)
    return LoadSummary(
        profile=settings.profile,
        started_at=next((stage.started_at for stage in found if stage.started_at is not None), None),
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
    """Compare the scores at the lowest level with those at the highest, row by row."""
    scored = [stage for stage in stages if stage.scores and stage.level is not None]
    if len({stage.level for stage in scored}) > 1:
        low, high = (chosen(scored, key=lambda stage: stage.level or 0.0) for chosen in (min, max))
        sides = [StageScores(requests.stage(each.stage).sent.completed) for each in (low, high)]
        for change in score_differences(*sides):
            yield QualityChange(low.label, high.label, change)


def probe_of(stage: StageSummary, settings: LoadSettings, requests: Requests | None = None) -> Probe:
    """A stage as a probe of a search: it passed if enough requests met all limits, and the server kept up. `requests` are those of all stages."""
    seen = stage.probe
    share = seen.met / seen.sent if seen is not None and seen.sent else 0.0
    why, overload = "", False
    if seen is None or not seen.sent:
        why = stage.absent.get(METRICS["good_share"].key, "no request was sent")
    elif seen.sent - seen.met > (1 - settings.slo_share) * seen.sent + 1e-9:
        why = f"{100 * share:.4g} % of {seen.sent:,} requests met the limits"
    elif seen.rise is not None:
        why, overload = (
            f"latency kept rising, by {percent(seen.rise)} from the first half to the second",
            True,
        )
    elif any(note.kind == "not_kept_up" for note in stage.notes):
        why, overload = "requests came faster than they were answered", True
    peak = stage.figures.get(METRICS["peak_concurrency"].key, 0.0)
    reached = settings.open_loop or peak >= _REACHED * min(stage.level or 0.0, stage.counts.sent)
    if not reached:
        why = f"no more than {peak:g} {'was' if peak == 1 else 'were'} in flight at once"
    return Probe(
        stage=stage.stage,
        level=stage.level or 0.0,
        passed=not why,
        share=round(share, 6),
        requests=0 if seen is None else seen.sent,
        why=why,
        client_limit=(stage.client_was_limit and _decides(stage, settings, passed=not why)) or not reached,
        overload=overload,
        spread=1.0 if seen is None else seen.spread,
        answered=stage.figures.get("request_throughput_per_s"),
        room_s=None if seen is None else seen.room_s,
        failed=0 if seen is None else seen.failed,
        scatter=None if seen is None else seen.scatter,
        tail=None if seen is None or seen.tail is None else (seen.tail.share, seen.tail.misses),
        seconds=stage.figures.get(METRICS["duration"].key, 0.0),
        trace=None
        if requests is None or not settings.open_loop or seen is None or not seen.sent
        else _trace(requests, stage.stage, settings),
    )


def _decides(stage: StageSummary, settings: LoadSettings, *, passed: bool) -> bool:
    """Whether a client at its limit may have decided a probe: a busy machine alone is no reason to end a search. Its delays only make latencies
    longer. So a probe that passed counts, and one that failed if they are a small part of every limit, or less than
    the median latency was beyond it."""
    health = stage.health or {}
    if max(health["cpu_shares"], default=0.0) >= LIMIT_CPU:
        return True
    late_ms = health["send_lateness_p99_ms"] if settings.open_loop else 0.0
    delay, smallest = (
        (health["event_loop_lag_p99_ms"] + late_ms) / 1000,
        min((limit for _, limit in settings.slo), default=0.0),
    )
    beyond = -(stage.probe.room_s or 0.0) if stage.probe is not None else 0.0
    return bool(delay > (smallest if passed else max(_SMALL * smallest, beyond)))


def _trace(requests: Requests, number: int, settings: LoadSettings) -> Trace:
    stage = StageRequests(requests.stage(number))
    return probe_trace(settings.slo, stage.sent, stage.measurable)


def _at_the_boundary(stages: Sequence[StageSummary], search: SearchResult) -> Sequence[StageSummary]:
    """The deciding probes of a search; problems of the others do not matter."""
    return [stage for stage in stages if stage.level in (search.level, search.failing_level)] or stages


def _joined_notes(stages: Sequence[StageSummary]) -> tuple[Note, ...]:
    """Each kind of note once, in the words of the last level that has it, with the levels if not all have it."""
    kinds: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for stage in stages:
        for note in stage.notes:
            kinds.setdefault((note.kind, note.grade), []).append((stage.label, note.text))
    found = []
    for (kind, grade), texts in kinds.items():
        labels, words = [*dict.fromkeys(label for label, _ in reversed(texts))][::-1], texts[-1][1]
        if len({text for _, text in texts}) == 1 and len(texts) == len(stages):
            found.append(Note(kind, words, grade))
        else:
            others = "" if len(labels) == 1 else f". Also at {', '.join(labels[:-1])}"
            found.append(Note(kind, f"{labels[-1]}: {words}{others}", grade))
    return tuple(found)
