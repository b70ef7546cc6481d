"""Views of benchmark runs: in a list, in full, and their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, structs
from msgspec.structs import replace

from benchwright.core import (
    JsonObject,
    MetricSummary,
    Note,
    NotFoundError,
    Outcome,
    Row,
    RunFile,
    RunStatus,
    RunSummary,
    load_exact_json,
    load_json,
    open_artifacts,
    printable,
    suggest,
)
from benchwright.results._figures import (
    first_two,
    graded_notes,
    headline_of,
    notes_json,
    result_sentence,
    summary_of,
)
from benchwright.results._notebooks import ShownInNotebooks
from benchwright.results._runs import (
    RunDetails,
    RunView,
    plain_view,
    run_details,
)
from benchwright.store import Event, RunRecord, SampleFilter, SampleOrder, Store

if TYPE_CHECKING:
    from benchwright.results._samples import SampleList


class RunResult(ShownInNotebooks, Struct, frozen=True, kw_only=True):
    """One finished, failed or stopped run, with its figures and the effort of its last start."""

    run: RunView
    """The run, as in a list."""
    summary: RunSummary
    """The figures."""
    exit_code: int = 0
    """The exit code of a command that ran only this."""
    stopped_because: str = ""
    """Why it stopped early."""
    first_failure: str = ""
    """The most common failure in plain words."""
    requests_sent: int | None = None
    """Requests of the last start, including retries; None: not recorded."""
    retries: int = 0
    """How many of them repeated a failed attempt."""
    sent_again: int = 0
    """How many of them repeated one that was lost on a connection which the server was closing."""
    from_cache: int = 0
    """Replies of the last start that came from earlier runs."""
    seconds: float | None = None
    """Time that the last start spent on requests; None: not recorded."""
    samples_per_s: float = 0.0
    """Samples finished per second of that time."""
    report_problems: tuple[str, ...] = ()
    """Errors of reports of installed packages."""
    resumable: bool = True
    """Whether `resume` takes it: not if its record was lost and it was read from its files."""

    @classmethod
    def recorded(cls, details: RunDetails) -> RunResult | None:
        """The result of a recorded run; None while there is none. The requests of its last start are not recorded."""
        run = details.run
        if details.result is None:
            return None
        failed = run.status == "failed"
        return cls(
            run=run,
            summary=details.result,
            stopped_because="" if failed else run.error or "",
            first_failure=run.error or "" if failed else "",
            resumable=not details.settings.get("adopted"),
        )

    @property
    def run_id(self) -> int:
        """Number in the workspace; `benchwright show` takes it."""
        return self.run.id

    @property
    def name(self) -> str:
        """Normalised benchmark name."""
        return self.run.name

    @property
    def model(self) -> str:
        """Model id."""
        return self.run.model or ""

    @property
    def demo(self) -> bool:
        """Whether the demo model answered, embedded or as a server; its numbers say nothing about a real model."""
        return self.run.demo

    @property
    def status(self) -> RunStatus:
        """completed, failed or interrupted."""
        return self.run.status

    @property
    def folder(self) -> Path:
        """Where results.yml and the other files are."""
        return self.run.folder

    @property
    def metrics(self) -> dict[str, MetricSummary]:
        """The metrics by name."""
        return self.summary.metrics

    def __getitem__(self, metric: str) -> float:
        """The value of one metric: `result["correct"]`."""
        known = self.summary.metrics
        if metric not in known:
            names = ", ".join(known) or "none"
            raise KeyError(f"no metric {metric!r} in this run.{suggest(metric, known)} It has: {names}")
        return known[metric].value

    def __iter__(self) -> Iterator[str]:
        """Names of the metrics."""
        return iter(self.summary.metrics)

    def __repr__(self) -> str:
        """The same line as `str`; `to_json` has everything."""
        return f"<RunResult {self}>"

    def __str__(self) -> str:
        """One line: the benchmark, the model and the main figures."""
        return f"run {self.run_id}, {self.status}: {self.sentence}"

    def samples(self) -> list[Row]:
        """Prompts, replies and scores, with one row per sample and repeat, like `samples.parquet`; messages, scores and
        metadata are values rather than JSON. For many samples, `arrow()` takes less memory."""
        from benchwright.results._sample_columns import COLUMNS  # not for lists of runs

        rows: list[Row] = self.arrow().to_pylist()
        for row in rows:
            for name, column in COLUMNS.items():
                if column.type == "json" and isinstance(text := row.get(name), str):
                    row[name] = load_json(text)
        return rows

    def arrow(self) -> Any:
        """The samples as a `pyarrow.Table`, for pandas, polars or duckdb."""
        import pyarrow.parquet as pq

        files = open_artifacts(self.folder)
        if not files.exists(RunFile.SAMPLES):
            raise NotFoundError(
                f"run {self.run_id} has no file {files.location(RunFile.SAMPLES)}; write its samples again: "
                f"benchwright export {self.run_id}"
            )
        with files.open(RunFile.SAMPLES) as data:
            return pq.read_table(data, use_threads=False)

    @property
    def sentence(self) -> str:
        return result_sentence(self.run.title, self.summary)

    @property
    def notes(self) -> list[Note]:
        """All notes with their grades, the gravest first."""
        return graded_notes(self.summary, self.stopped_because)

    def to_json(self) -> JsonObject:
        """The common JSON of a run, with `run_id`, `exit_code`, `sentence`, `notes`, `summary` and the effort of its last start."""
        return {
            **self.run.to_json(),
            "run_id": self.run.id,
            "exit_code": self.exit_code,
            "sentence": self.sentence,
            "notes": notes_json(self.notes),
            "summary": self.summary.to_json(),
            "stopped_because": self.stopped_because,
            "first_failure": self.first_failure,
            "requests_sent": self.requests_sent or 0,
            "retries": self.retries,
            "sent_again": self.sent_again,
            "from_cache": self.from_cache,
            "seconds": round(self.seconds or 0.0, 3),
            "samples_per_s": round(self.samples_per_s, 1),
            "ttft_s": self.run.first_token_times(),
            "report_problems": list(self.report_problems),
        }


def benchmark_view(run: RunRecord) -> RunView:
    """A benchmark run in a list."""
    summary = summary_of(run)
    if summary is None:
        return plain_view(run)
    return replace(
        plain_view(run),
        counted=f"{summary.evaluated:,}",
        headline=_headline(summary),
        figure=_figure(summary),
        outcomes=tuple(summary.outcomes.get(outcome, 0) for outcome in Outcome),
    )


def benchmark_details(run: RunRecord, events: Iterable[Event] = ()) -> RunDetails:
    """A benchmark run in full."""
    return run_details(run, benchmark_view(run), summary_of(run), events)


def recorded_benchmark(store: Store, run: RunRecord) -> RunDetails:
    """A benchmark run in full, with its events; without a result, with the number of samples recorded so far."""
    from benchwright.results._labels import judged_in_words, label_effect  # not for lists

    details = benchmark_details(run, store.events(run.id))
    details = structs.replace(details, judged=judged_in_words(store, run.id, details.result))
    effect = label_effect(store, run, details.result)
    if effect is not None:
        details = structs.replace(details, labels=effect.to_json(run.id))
    if details.result is not None:
        from benchwright.results._distributions import MOST_READ, run_distributions  # not for lists

        few = details.result.evaluated <= MOST_READ or store.overview(run) is not None
        return structs.replace(
            details, read_distributions=partial(run_distributions, store, run) if few else None
        )
    return structs.replace(details, recorded=store.count_steps(run.id, "score"))


_BY_ROW = SampleOrder()


def benchmark_samples(
    store: Store,
    run: RunRecord,
    where: SampleFilter,
    after: int | None,
    limit: int,
    order: SampleOrder = _BY_ROW,
) -> SampleList:
    """A page of the samples that pass a filter, in an order. Raises NotFoundError for a metric that the run does not have."""
    return filtered_samples(store, run, summary_of(run), where, after, limit, order)


def filtered_samples(
    store: Store,
    run: RunRecord,
    summary: RunSummary | None,
    where: SampleFilter,
    after: int | None,
    limit: int,
    order: SampleOrder,
) -> SampleList:
    """The same for a run of any kind, by its figures."""
    from benchwright.results._samples import (  # not for lists of runs
        StoreSamples,
        listed_samples,
        verdict_note,
    )

    metrics = [name for name in (where.metric, (order.by or "").partition("metric:")[2]) if name]
    for name in metrics if summary is not None else ():
        known = () if summary is None else summary.metrics
        if name not in known:
            there, near = ", ".join(known) or "none", suggest(name, known)
            raise NotFoundError(f"run {run.id} has no metric {name!r}.{near} It has: {there}")
    note = verdict_note(store, run.id, summary) if where.verdict is not None else ""
    sofar = "" if summary is not None and not summary.partial else " evaluated so far"
    samples = StoreSamples(store, run.id)
    messages = (
        (SampleFilter(), "no samples"),
        (SampleFilter(verdict="wrong"), note or "no sample was judged wrong"),
        (SampleFilter(Outcome.UNPARSED.value), "every reply has a readable answer"),
        (SampleFilter(scored=False), f"every sample{sofar} has a score"),
        (
            SampleFilter(verdict="wrong", scored=False),
            "No samples match: a failed sample has no verdict. Use --failed or --wrong alone",
        ),
        (SampleFilter(places=where.places), "no sample that both runs have changed"),
    )
    empty = next((words for each, words in messages if each == where), "No samples match.")
    failed = where.scored is False
    found = listed_samples(
        samples, run.id, where, after=after, limit=limit, order=order, empty=empty, reasons=failed
    )
    if where.column is not None and not found.samples:
        _refuse_unknown_column(store, run, where.column)
    graded = tuple(samples.with_judges(each.sample for each in found.samples))
    return structs.replace(
        found, samples=graded, note=note if found.samples else "", shown=tuple(dict.fromkeys(metrics))
    )


def _refuse_unknown_column(store: Store, run: RunRecord, column: str) -> None:
    """Raise NotFoundError if the first sample has no such column in its row or among the texts of its scores."""
    from benchwright.results._samples import StoreSamples
    from benchwright.results._slices import column_names, value_in  # not for runs

    first = next(StoreSamples.views_of(store.page_samples(run.id, limit=1).items), None)
    if first is None or first.metadata is None:
        return
    row = load_exact_json(first.metadata)
    texts = SampleFilter.text_scores(first.scores)
    known = [*column_names(row), *filter(SampleFilter.is_of_judge, texts)]
    if column not in {*known, *texts} and value_in(row, column) is UNSET:
        raise NotFoundError(
            f"no row of run {run.id} has a column {column!r}.{suggest(column, known)} Columns: {', '.join(known)}"
        )


def benchmark_sample(store: Store, run: RunRecord, requested: str) -> SampleList:
    """One row's samples in full."""
    from benchwright.results._samples import find_samples  # not for lists of runs

    return find_samples(store, run.id, requested)


def _figure(summary: RunSummary) -> tuple[str, MetricSummary] | None:
    name = headline_of(summary)
    return None if name is None else (name, summary.metrics[name])


def _headline(summary: RunSummary) -> str:
    """The headline metric, else at most two metrics, because a list is only for finding a run."""
    if not summary.metrics:
        return "not scored" if summary.unscored else "–"
    if summary.headline in summary.metrics:
        return f"{printable(summary.headline)} {summary.metrics[summary.headline].value:.3f}"
    return first_two({name: metric.value for name, metric in summary.metrics.items()})
