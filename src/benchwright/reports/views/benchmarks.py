"""Runs of benchmarks as values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from msgspec import structs

from benchwright.core import OUTCOMES, Outcome, RunSummary, UsageError, printable
from benchwright.reports.views.figures import first_two, summary_of
from benchwright.reports.views.runs import PartsRequest, RunDetails, RunView, plain_view, run_details
from benchwright.reports.views.samples import SampleList, filtered_samples, find_samples
from benchwright.store import Event, RunRecord, SampleFilter, Store


def benchmark_view(run: RunRecord) -> RunView:
    """A benchmark run in a list."""
    summary = summary_of(run)
    if summary is None:
        return plain_view(run)
    return replace(
        plain_view(run),
        counted=f"{summary.evaluated:,}",
        headline=_headline(summary),
        outcomes=tuple(summary.outcomes.get(outcome, 0) for outcome in OUTCOMES),
    )


def benchmark_details(run: RunRecord, events: Iterable[Event] = ()) -> RunDetails:
    """A benchmark run in full."""
    return run_details(run, benchmark_view(run), summary_of(run), events)


def recorded_benchmark(store: Store, run: RunRecord) -> RunDetails:
    """A benchmark run in full, with its events; without a result, with the number of samples recorded so far."""
    details = benchmark_details(run, store.events(run.id))
    if details.result is not None:
        return details
    return structs.replace(details, recorded=store.count_steps(run.id, "score"))


def benchmark_samples(store: Store, run: RunRecord, request: PartsRequest) -> SampleList:
    """The samples that flags of `show` request. They may be combined, except that failed samples have no verdict."""
    outcome = request.outcome
    if request.unparsed:
        if outcome not in (None, Outcome.UNPARSED):
            raise UsageError(
                f"--unparsed is --outcome unparsed, which is not --outcome {outcome}; give one of them"
            )
        outcome = Outcome.UNPARSED.value
    where = SampleFilter(outcome, "wrong" if request.wrong else None, False if request.failed else None)
    empty = {
        SampleFilter(): "no samples",
        SampleFilter(verdict="wrong"): "no sample was judged wrong",
        SampleFilter(Outcome.UNPARSED.value): "an answer was read out of every reply",
        SampleFilter(scored=False): "every sample has a score",
    }.get(where, "no sample is like that")
    return filtered_samples(store, run.id, where, request.limit, empty=empty, reasons=request.failed)


def benchmark_sample(store: Store, run: RunRecord, requested: str) -> SampleList:
    """One row's samples in full."""
    return find_samples(store, run.id, requested)


def _headline(summary: RunSummary) -> str:
    """The metric that stands for the run, else at most two: a list is for finding a run, not for reading it."""
    if not summary.metrics:
        return "not scored" if summary.unscored else "–"
    if summary.headline in summary.metrics:
        return f"{printable(summary.headline)} {summary.metrics[summary.headline].value:.3f}"
    return first_two({name: metric.value for name, metric in summary.metrics.items()})
