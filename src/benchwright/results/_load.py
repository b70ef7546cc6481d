"""Views of load tests: in a list, and in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import DEMO_KIND, DEMO_NOTE, JsonObject, Note, NoteGrade, RunProgress, percent
from benchwright.perf import (
    LATENCIES,
    METRICS,
    Distribution,
    GroupSummary,
    LoadSettings,
    LoadSummary,
    Metric,
    Requests,
    StageSummary,
    summarise,
)
from benchwright.results._figures import gravest_first, notes_json, plural
from benchwright.results._runs import (
    EventView,
    RunView,
    details_json,
    plain_view,
    progress_sentence,
)
from benchwright.results._settings import endpoint_of, recorded_origins, table_of
from benchwright.store import Event, RunRecord, Store

_DEMO = "The demo model answered: these figures don't describe a real server"


class LoadView(Struct, frozen=True, kw_only=True):
    """One load test in full."""

    run: RunView
    """As in a list."""
    summary: LoadSummary
    """Its figures."""
    settings: LoadSettings
    origins: JsonObject | None = None
    """Where each setting comes from that has not its default, by the name of its flag; None: not recorded."""
    endpoint: JsonObject = {}
    """The model under test, without secrets."""
    manifest: JsonObject = {}
    """Hashes, versions, seed."""
    stopped_because: str = ""
    """Why it stopped early."""
    events: tuple[EventView, ...] = ()
    """What happened, oldest first."""

    @classmethod
    def of(
        cls, run: RunRecord, summary: LoadSummary, *, stopped_because: str = "", events: Iterable[Event] = ()
    ) -> LoadView:
        """A load test in full, with figures that were just computed or come from its record."""
        seen = load_view(run)
        if any(note.kind == DEMO_KIND for note in summary.notes):  # a killed test has no recorded summary
            seen = replace(seen, demo=True)
        return cls(
            run=seen,
            summary=summary,
            settings=settings_of(run),
            origins=recorded_origins(run.settings),
            endpoint=endpoint_of(run),
            manifest=run.manifest,
            stopped_because=stopped_because or run.error or "",
            events=tuple(map(EventView.of, events)),
        )

    @classmethod
    def recorded(cls, store: Store, run: RunRecord) -> LoadView:
        """A load test in full, with its events."""
        progress = RunProgress.from_json(run.progress)
        running = (
            "the test is running"
            if progress is None
            else f"the test is running ({progress_sentence(progress)})"
        )
        why = running if run.status == "running" else "the test was stopped before it could write its files"
        why = "" if run.summary is not None else f"{why}; the figures cover the requests that had ended"
        return cls.of(run, recorded_summary(store, run), stopped_because=why, events=store.events(run.id))

    @property
    def notes(self) -> list[Note]:
        """Notes on the figures, and on data and model that were known before the first request, the gravest first. Notes on the
        client are among the verdicts."""
        figures = [note for note in self.summary.notes if not note.kind.startswith("client_")]
        return gravest_first(
            (
                *(Note("", note.text, note.grade) for note in figures if note.kind != DEMO_KIND),
                *self.known_before,
                *([Note.of(_DEMO)] if self.run.demo else []),
            )
        )

    @property
    def known_before(self) -> list[Note]:
        """The notes on data and model, without that on the demo model."""
        told, grades = self.manifest.get("notes"), table_of(self.manifest.get("note_grades"))
        return [
            Note("", str(note), str(grades.get(str(note), NoteGrade.CAUTION.value)))
            for note in (told if isinstance(told, list) else [])
            if note != DEMO_NOTE
        ]

    def page(self, requests: Requests) -> JsonObject:
        """The document of its page."""
        from benchwright.results._load_page import load_page  # which draws views

        return load_page(self, requests)

    @property
    def verdicts(self) -> list[tuple[str, str]]:
        """Whether the figures can be trusted, and the answer of a search: `ok`, `warn` or `bad`, each with a sentence."""
        from benchwright.results._load_verdicts import verdicts  # which judges views

        return verdicts(self)

    @property
    def shown_stages(self) -> tuple[StageSummary, ...]:
        """All stages; of a search, those at the load found and at the next."""
        return stages_of_interest(self.summary)

    @property
    def best_words(self) -> tuple[str, str]:
        """What the figures of the best stage are, as a heading; and the levels from which it was chosen."""
        return best_title(self.summary), best_of(self.summary)

    @property
    def probes(self) -> list[str]:
        """How the probe of each stage ended; empty if nothing was searched."""
        return [] if self.summary.search is None else probe_words(self.summary)

    def to_json(self) -> JsonObject:
        """`{run: as in a list, summary, notes, settings, origins, stopped_because, endpoint, manifest, events}`."""
        return details_json(
            self,
            self.summary.to_json(),
            notes=notes_json(self.notes),
            settings=self.settings.to_json(),
            origins=self.origins,
            stopped_because=self.stopped_because,
        )

    @staticmethod
    def best_stage(summary: LoadSummary) -> StageSummary | None:
        """The best level, which a list shows: of the stages in which enough requests met all limits, the one with the most requests
        per second within them. If there are none, or no limits, it is chosen from all stages; without limits, by all requests per
        second. Steady stages go first. For a search, the first of `stages_of_interest`."""
        if not summary.stages:
            return None
        if summary.search is not None:
            return stages_of_interest(summary)[0]

        def rank(stage: StageSummary) -> float:
            good = stage.figure("goodput")
            return (stage.figure("request_throughput") or 0.0) if good is None else good

        among = _within_limits(summary) or summary.stages
        return max(_steady(among) or among, key=rank)

    @staticmethod
    def group_tables(stage: StageSummary) -> list[tuple[str, list[tuple[str, list[str]]]]]:
        """The groups into which a stage is divided: their title, and the headings and cells of a table."""
        found = [("turn of the conversation", stage.turns), ("server", stage.urls)]
        return [(what, _group_columns(what, groups)) for what, groups in found if groups]


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
        "outcomes": {**outcomes_of(summary.stages)},
        "metrics": {key: {"value": figure} for key, figure in figures.items()},
    }
    # The time under load, without the time for the summary, which does not interest readers of a list.
    worked = sum(stage.figure("duration") or 0.0 for stage in summary.stages)
    return replace(
        view,
        summary=shown,
        counted=f"{summary.sent:,}",
        headline=headline(summary),
        worked=worked or view.worked,
    )


def settings_of(run: RunRecord) -> LoadSettings:
    """The settings that were recorded before the first request."""
    return LoadSettings.from_json(table_of(run.settings.get("load")))


def count_measured(store: Store, run_id: int) -> int:
    """The measured requests that a test has recorded so far: without warm-ups and cool-downs, as in its summary."""
    from benchwright.perf import count_requests  # as in `load_requests`

    load = settings_of(store.run(run_id))
    return count_requests(store, run_id, only_measured=not (load.warmup or load.cooldown))


def stages_of_interest(summary: LoadSummary) -> tuple[StageSummary, ...]:
    """All stages; for a search, the last probes that passed at the load found and failed at the next. If no probe counts, the
    last one."""
    search = summary.search
    if search is None:
        return summary.stages
    stages = {stage.stage: stage for stage in summary.stages}
    last = {(probe.level, probe.passed): probe.stage for probe in search.probes if not probe.client_limit}
    # A search that ran out of time may not have probed its answer.
    below = [level for level, passed in last if passed and search.level is not None and level <= search.level]
    passing = search.held if search.level is None else max(below, default=search.level)
    ends = ((passing, True), (search.failing_level, False))
    # Probes that passed one by one may have too many misses together.
    numbers = [last.get((level, passed), last.get((level, not passed))) for level, passed in ends if level]
    return tuple(stages[number] for number in numbers if number is not None) or summary.stages[-1:]


def _steady(stages: Sequence[StageSummary]) -> list[StageSummary]:
    return [stage for stage in stages if stage.steady.verdict == "steady"]


def _within_limits(summary: LoadSummary) -> list[StageSummary]:
    return [stage for stage in summary.stages if stage.slo is not None and stage.slo.enough]


def none_within_limits(summary: LoadSummary) -> bool:
    """Whether limits were judged, and too few requests met them at every level."""
    return any(stage.slo is not None for stage in summary.stages) and not _within_limits(summary)


def best_of(summary: LoadSummary) -> str:
    """The levels from which the best was chosen: `of 4 levels, none steady`."""
    if summary.search is not None:
        probes = plural(len(summary.search.probes), "probe")
        if summary.search.status == "not_met":
            return f"does not meet the limits even at the lowest level, after {probes}"
        if summary.search.level is None:
            return f"not known to meet the limits after {probes}"
        if not summary.search.passed[1]:
            return f"after {probes}"
        return f"found by {probes}" if summary.search.status == "found" else f"or more, after {probes}"
    steady, count = len(_steady(summary.stages)), len(summary.stages)
    limits = ", none within the limits" if none_within_limits(summary) else ""
    return (
        f"of {count} levels{limits}, {'none' if not steady else 'all' if steady == count else steady} steady"
    )


def best_title(summary: LoadSummary) -> str:
    """What the figures of `best_stage` are, as a heading."""
    if summary.search is None:
        return "Highest goodput" if none_within_limits(summary) else "Best level"
    if summary.search.level is None:
        return "No largest load was found. Figures of one probe"
    if summary.search.answered and summary.search.passed[1]:
        return "Largest load"
    return "Largest load that passed" if summary.search.passed[1] else "Figures of the nearest probe below"


def probe_words(summary: LoadSummary) -> list[str]:
    """How the probe of each stage ended."""
    probes = () if summary.search is None else summary.search.probes
    words = {
        probe.stage: "not counted" if probe.client_limit else "passed" if probe.passed else "failed"
        for probe in probes
    }
    return [words.get(stage.stage, "–") for stage in summary.stages]


def limit_text(seconds: float) -> str:
    """A limit of `--slo`, in its most readable unit.

    >>> limit_text(0.2), limit_text(60), limit_text(1.5)
    ('200 ms', '60 s', '1.5 s')
    """
    return f"{seconds:,.6g} s" if seconds >= 1 else f"{seconds * 1000:.6g} ms"


def headline(summary: LoadSummary) -> str:
    """The main figures of the test for a table cell: `41.2/s, ttft p99 210 ms`."""
    stage = LoadView.best_stage(summary)
    if stage is None or stage.figure("request_throughput") is None:
        return "–"
    parts = [f"{short(stage.figure('request_throughput'), METRICS['request_throughput'])}/s"]
    for name in ("ttft", "e2e"):
        found = stage.metrics.get(METRICS[name].key)
        if found is not None:
            key = "p99" if Distribution.enough(found.n, "p99") else "p50"
            parts.append(f"{name} {key} {short(found.percentiles[key], METRICS[name])} ms")
            break
    if len(summary.stages) > 1:
        parts.append(f"at {stage.label}, {best_of(summary)}")
    return ", ".join(parts)


def _group_columns(what: str, groups: Sequence[GroupSummary]) -> list[tuple[str, list[str]]]:
    """Headings and cells of a table of parts; columns without values are left out."""
    columns = [
        (what, [group.label for group in groups]),
        ("sent", [f"{group.sent:,}" for group in groups]),
        ("failed", [f"{group.failed:,}" for group in groups]),
        ("not sent", [f"{group.not_sent:,}" if group.not_sent else "–" for group in groups]),
    ]
    for name in LATENCIES:
        metric = METRICS[name]
        found = [group.metrics.get(metric.key) for group in groups]
        for key in ("mean", "p50", "p99"):
            cells = [None if each is None else each.shown(key) for each in found]
            columns.append((f"{name}\n{key}, ms", [short(value, metric) for value in cells]))
    columns.append(
        (
            "input\ntokens",
            ["–" if each.input_tokens is None else f"{each.input_tokens:,.0f}" for each in groups],
        )
    )
    shares = [each.cached_share for each in groups]
    columns.append(("from\ncache", ["–" if share is None else percent(share) for share in shares]))
    errors = [
        ", ".join(f"{name} {n:,}" for name, n in each.outcomes.items() if name != "ok") for each in groups
    ]
    columns.append(("errors", [each or "–" for each in errors]))
    return [(heading, cells) for heading, cells in columns if set(cells) != {"–"}]


def short(value: float | None, metric: Metric) -> str:
    """A figure in few digits, for tables.

    >>> short(12.3456, METRICS["ttft"]), short(1234.5, METRICS["ttft"]), short(0.0512, METRICS["error_share"])
    ('12.3', '1,234', '5.1 %')
    """
    if value is None:
        return "–"
    if metric.unit == "share":
        return f"{100 * value:.3g} %" if 0 < abs(value) < 0.001 else percent(value, 1)
    if metric.name == "peak_concurrency":
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def _of_best(summary: LoadSummary, name: str) -> float | None:
    stage = LoadView.best_stage(summary)
    return None if stage is None else stage.figure(name)


def outcomes_of(stages: Sequence[StageSummary]) -> dict[str, int]:
    """Requests of all stages by outcome."""
    found: dict[str, int] = {}
    for stage in stages:
        for outcome, count in stage.outcomes.items():
            found[outcome] = found.get(outcome, 0) + count
    return found


def load_requests(store: Store, run_id: int) -> Requests:
    """All recorded requests, as columns."""
    from benchwright.perf import recorded_requests  # not for lists: it knows how requests are made

    return Requests.of(recorded_requests(store, run_id))


def recorded_summary(store: Store, run: RunRecord, requests: Requests | None = None) -> LoadSummary:
    """The recorded figures; for a test that was killed, figures of the requests that had ended."""
    if run.summary is not None:
        return LoadSummary.from_json(run.summary)
    from benchwright.perf import recorded_stages

    found = load_requests(store, run.id) if requests is None else requests
    return summarise(found, settings_of(run), recorded_stages(store, run.id), partial=True)
