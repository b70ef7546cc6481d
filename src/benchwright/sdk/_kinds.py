"""`RUN_KINDS`: one row for each kind of run, with the functions of the commands for it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

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
    as_filed,
    benchmark_details,
    compare_benchmarks,
    compare_loads,
    compare_workflows,
    load_requests,
    plain_view,
)
from benchwright.sdk._upkeep import Canceled, cancel_benchmark, cancel_workflow
from benchwright.store import RunRecord, Store

if TYPE_CHECKING:
    from benchwright.gates import Baseline, Policy, Verdict


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
    """Whether `resume` starts a user's program, which records its steps itself. Otherwise the engine resumes the run."""
    samples: Callable[[Store, RunRecord], tuple[RunDetails, RunSamples]] | None
    """The samples that `export` writes and `rescore` scores again; None: such runs have none."""
    counts: str | None = None
    """The steps that count as the work done so far in a run without a result; None: no kind of step does."""
    requests: Callable[[Store, int], Requests] | None = None
    """The requests of a load test that `export` writes; None: such runs are not load tests."""
    judge: (
        Callable[[SamplesOf, RunRecord, Policy, Baseline | None, Collection[str], bool], Verdict] | None
    ) = None
    """Judges a run for `gate`; None: such runs have no figures for a policy. The last arguments name settings that change no
    result, and tell whether replies may be older than the run."""
    baseline: Callable[[SamplesOf, RunRecord], Baseline] | None = None
    """Makes a baseline of a run."""


def _samples(store: Store, run: RunRecord) -> tuple[RunDetails, RunSamples]:
    return benchmark_details(run), RunSamples(store, run)


def _compare_steps(samples: SamplesOf, a: RunRecord, b: RunRecord, options: ComparisonOptions) -> Comparison:
    assert samples.store is not None  # folders are of benchmarks
    return compare_workflows(samples.store, a, b, options)


def _judge_benchmark(
    samples: SamplesOf,
    run: RunRecord,
    policy: Policy,
    baseline: Baseline | None,
    harmless: Collection[str],
    accept_cached: bool,
) -> Verdict:
    from benchwright.gates import judge_benchmark  # only gates need it

    if baseline is not None and baseline.filed and run.id > 0:
        run = as_filed(run, benchmark_details(run))
    return judge_benchmark(policy, run, samples, baseline, harmless, accept_cached=accept_cached)


def _judge_load(
    samples: SamplesOf,
    run: RunRecord,
    policy: Policy,
    baseline: Baseline | None,
    harmless: Collection[str],
    accept_cached: bool,
) -> Verdict:
    from benchwright.gates import judge_load

    assert samples.store is not None  # folders are of benchmarks
    return judge_load(policy, run, load_requests(samples.store, run.id), baseline, harmless)


def _benchmark_baseline(samples: SamplesOf, run: RunRecord) -> Baseline:
    from benchwright.gates import baseline_of

    return baseline_of(run, samples)


def _load_baseline(samples: SamplesOf, run: RunRecord) -> Baseline:
    from benchwright.gates import Baseline
    from benchwright.perf import recorded_requests

    assert samples.store is not None
    return Baseline(f"run {run.id}", run, requests=tuple(recorded_requests(samples.store, run.id)))


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
            judge=_judge_benchmark,
            baseline=_benchmark_baseline,
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
            compare=compare_loads,
            cancel=cancel_benchmark,
            starts_program=False,
            samples=None,
            counts="request",
            requests=load_requests,
            judge=_judge_load,
            baseline=_load_baseline,
        ),
    )
}
"""By name. A new kind is a member of `core.RunKind` and a row here."""


def kind_of(run: RunRecord) -> KindRow:
    """The row of a run's kind. Raises UsageError for a kind that only a newer version knows."""
    if run.kind not in RUN_KINDS:
        raise UsageError(f"run {run.id} ({run.name}) is {kind_title(run.kind)}. Update benchwright to use it")
    return RUN_KINDS[run.kind]


def view_of(run: RunRecord, store: Store | None = None) -> RunView:
    """The view of a run of any kind in a list; for an unknown kind, only what every run has. With `store`, a run without a
    result has the number of samples or requests recorded so far."""
    if store is not None:
        run = store.whole(run)
    if run.kind in RUN_KINDS:
        row = RUN_KINDS[run.kind]
        view = row.reports.view(run)
        if store is None or row.counts is None or run.summary is not None:
            return view
        if run.kind == RunKind.LOAD:
            from benchwright.perf import count_requests

            return replace(view, counted=f"{count_requests(store, run.id):,}")
        return replace(view, counted=f"{store.count_steps(run.id, row.counts):,}")
    return replace(plain_view(run), summary=None, headline=f"kind {run.kind!r}: needs a newer benchwright")


def cancel_run(store: Store, run: RunRecord) -> Canceled:
    """End a run for good: its process stops, and the run is `canceled`. Raises UsageError if it has ended."""
    return kind_of(run).cancel(store, run)
