"""`RUN_KINDS`: one row for each kind of run, with what the commands mean for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from msgspec import Struct

from benchwright.core import RunKind, UsageError, kind_title
from benchwright.perf import Requests
from benchwright.reports import (
    BENCHMARK_REPORTS,
    LOAD_REPORTS,
    WORKFLOW_REPORTS,
    Comparison,
    ComparisonOptions,
    KindReports,
    LoadComparison,
    RunDetails,
    RunSamples,
    RunView,
    SamplesOf,
    benchmark_details,
    compare_benchmarks,
    compare_loads,
    compare_workflows,
    load_requests,
    plain_view,
)
from benchwright.sdk._upkeep import Canceled, cancel_benchmark, cancel_workflow
from benchwright.store import RunRecord, Store


class KindRow(Struct, frozen=True):
    """One kind of run."""

    name: RunKind
    """Its name in records."""
    reports: KindReports
    """Its views, with its summary type, and how `list` and `show` present them."""
    compare: Callable[[SamplesOf, RunRecord, RunRecord, ComparisonOptions], Comparison | LoadComparison]
    """Compares two runs of this kind."""
    cancel: Callable[[Store, RunRecord], Canceled]
    """Stops the process of a run and ends the run for good."""
    starts_program: bool
    """Whether `resume` starts a program of the user's, which records its own steps. Else the engine resumes the run."""
    samples: Callable[[Store, RunRecord], tuple[RunDetails, RunSamples]] | None
    """What `export` writes and `rescore` scores again; None: such runs have no samples."""
    counts: str | None = None
    """The steps that count as the work done so far in a run without a result; None: no kind of step does."""
    requests: Callable[[Store, int], Requests] | None = None
    """What `export` writes of a load test; None: such runs are none."""


def _samples(store: Store, run: RunRecord) -> tuple[RunDetails, RunSamples]:
    return benchmark_details(run), RunSamples(store, run)


def _compare_steps(samples: SamplesOf, a: RunRecord, b: RunRecord, options: ComparisonOptions) -> Comparison:
    assert samples.store is not None  # folders are of benchmarks
    return compare_workflows(samples.store, a, b, options)


def _compare_loads(
    samples: SamplesOf, a: RunRecord, b: RunRecord, options: ComparisonOptions
) -> LoadComparison:
    assert samples.store is not None  # folders are of benchmarks
    return compare_loads(samples.store, a, b, options)


RUN_KINDS: dict[str, KindRow] = {
    row.name: row
    for row in (
        KindRow(
            name=RunKind.BENCHMARK,
            reports=BENCHMARK_REPORTS,
            compare=compare_benchmarks,
            cancel=cancel_benchmark,
            starts_program=False,
            samples=_samples,
            counts="score",
        ),
        KindRow(
            name=RunKind.WORKFLOW,
            reports=WORKFLOW_REPORTS,
            compare=_compare_steps,
            cancel=cancel_workflow,
            starts_program=True,
            samples=None,
        ),
        KindRow(
            name=RunKind.LOAD,
            reports=LOAD_REPORTS,
            compare=_compare_loads,
            cancel=cancel_benchmark,
            starts_program=False,
            samples=None,
            counts="request",
            requests=load_requests,
        ),
    )
}
"""By name. A new kind is a member of `core.RunKind` and a row here."""


def kind_of(run: RunRecord) -> KindRow:
    """The row of a run's kind. UsageError for a kind that only a newer version knows."""
    if run.kind not in RUN_KINDS:
        raise UsageError(f"run {run.id} ({run.name}) is {kind_title(run.kind)}. Update benchwright to use it")
    return RUN_KINDS[run.kind]


def view_of(run: RunRecord, store: Store | None = None) -> RunView:
    """A run in a list, of any kind; of an unknown one only what every run has. With its store, a run without a result
    has the number of samples or requests recorded so far."""
    if run.kind in RUN_KINDS:
        row = RUN_KINDS[run.kind]
        view = row.reports.view(run)
        if store is None or row.counts is None or run.summary is not None:
            return view
        return replace(view, counted=f"{store.count_steps(run.id, row.counts):,}")
    return replace(plain_view(run), summary=None, headline=f"kind {run.kind!r}: needs a newer benchwright")


def cancel_run(store: Store, run: RunRecord) -> Canceled:
    """End a run for good: its process stops, and the run is `canceled`. UsageError for one that has ended."""
    return kind_of(run).cancel(store, run)
