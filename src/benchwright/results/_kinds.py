"""`RUN_KINDS`: one row for each kind of run, with the functions that read its records."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import LoadFile, RunFile, RunKind, UsageError, kind_title
from benchwright.store import RunRecord, SampleFilter, Store, whole

if TYPE_CHECKING:
    from benchwright.perf import Requests
    from benchwright.results._comparison import Comparison, ComparisonOptions
    from benchwright.results._found_runs import FoundRun
    from benchwright.results._gates.policy import Policy
    from benchwright.results._gates.verdict import Verdict
    from benchwright.results._load_comparison import LoadComparison
    from benchwright.results._runs import RunDetails, RunView, View
    from benchwright.results._samples import RunSamples


def _later(place: str) -> Callable[..., Any]:
    """A function of this room, whose module is loaded by the commands that call it: lists need few."""
    module, _, name = place.partition(":")

    def call(*given: Any, **named: Any) -> Any:
        return attrgetter(name)(import_module(f"benchwright.results.{module}"))(*given, **named)

    return call


class KindRow(Struct, frozen=True):
    """One kind of run."""

    name: RunKind
    """Its name in records."""
    view: Callable[[RunRecord], RunView]
    """A run in a list."""
    details: Callable[[Store, RunRecord], View]
    """A run in full."""
    parts: Callable[[Store, RunRecord, SampleFilter, int | None, int], View]
    """A page of its samples, requests or steps: those that pass a filter, after a cursor, at most so many."""
    part: Callable[[Store, RunRecord, str], View]
    """One sample or step in full, by its number or key."""
    compare: Callable[[FoundRun, FoundRun, ComparisonOptions], Comparison | LoadComparison]
    """Compares two runs of this kind."""
    counted: Callable[[Store, int], int]
    """How many samples, requests or steps of a run are recorded."""
    unit: str
    """What is counted."""
    starts_program: bool = False
    """Whether a run is a user's program, which records its steps itself."""
    file: str | None = None
    """The file from which lost records are restored; None: such runs write none."""
    samples: Callable[[Store, RunRecord], tuple[RunDetails, RunSamples]] | None = None
    """The samples that `export` writes and `rescore` scores again; None: such runs have none."""
    filed: Callable[[RunRecord], RunRecord] | None = None
    """Puts the settings of a run into the form of its files, for comparison with a folder; None: they have it."""
    requests: Callable[[Store, int], Requests] | None = None
    """The requests of a load test that `export` writes; None: such runs are not load tests."""
    judge: Callable[[Policy, FoundRun, FoundRun | None, Collection[str], bool], Verdict] | None = None
    """Judges a run for `gate`; None: such runs have no figures for a policy, and cannot be a baseline. The last arguments name
    settings that change no result, and tell whether replies may be older than the run."""


def _samples(store: Store, run: RunRecord) -> tuple[RunDetails, RunSamples]:
    from benchwright.results._benchmarks import benchmark_details
    from benchwright.results._samples import RunSamples

    return benchmark_details(run), RunSamples(store, run)


def _filed(run: RunRecord) -> RunRecord:
    from benchwright.results._benchmarks import benchmark_details
    from benchwright.results._run_folders import as_filed

    return as_filed(run, benchmark_details(run))


_judge_benchmark = _later("_gates.judge:judge_benchmark")
_judge_load = _later("_gates.judge:judge_load")

RUN_KINDS: dict[str, KindRow] = {
    row.name: row
    for row in (
        KindRow(
            name=RunKind.BENCHMARK,
            view=_later("_benchmarks:benchmark_view"),
            details=_later("_benchmarks:recorded_benchmark"),
            parts=_later("_benchmarks:benchmark_samples"),
            part=_later("_benchmarks:benchmark_sample"),
            compare=_later("_comparing:compare_benchmarks"),
            counted=lambda store, run_id: store.count_steps(run_id, "score"),
            unit="samples",
            file=RunFile.SAMPLES,
            samples=_samples,
            filed=_filed,
            judge=lambda policy, run, before, harmless, cached: _judge_benchmark(
                policy, run, before, harmless, accept_cached=cached
            ),
        ),
        KindRow(
            name=RunKind.WORKFLOW,
            view=_later("_workflows:workflow_view"),
            details=_later("_workflows:recorded_workflow"),
            parts=_later("_workflows:workflow_steps"),
            part=_later("_workflows:workflow_step"),
            compare=_later("_comparing_workflows:compare_workflows"),
            counted=lambda store, run_id: sum(store.workflow_step_counts(run_id).values()),
            unit="steps",
            starts_program=True,
        ),
        KindRow(
            name=RunKind.LOAD,
            view=_later("_load:load_view"),
            details=_later("_load:LoadView.recorded"),
            parts=_later("_sent_requests:load_parts"),
            part=_later("_sent_requests:load_part"),
            compare=_later("_load_comparison:compare_loads"),
            counted=_later("_load:count_measured"),
            unit="requests",
            file=LoadFile.REQUESTS,
            requests=_later("_load:load_requests"),
            judge=lambda policy, run, before, harmless, _: _judge_load(policy, run, before, harmless),
        ),
    )
}
"""By name. A new kind is a member of `core.RunKind`, a row here and, to be resumed and canceled, one of
`RUN_ACTS` in `benchwright.runs`."""


def kind_of(run: RunRecord) -> KindRow:
    """The row of a run's kind. Raises UsageError for a kind that only a newer version knows."""
    if run.kind not in RUN_KINDS:
        raise UsageError(f"run {run.id} ({run.name}) is {kind_title(run.kind)}. Update benchwright to use it")
    return RUN_KINDS[run.kind]


def filed(run: RunRecord) -> RunRecord:
    """The run with its settings in the form of its files."""
    form = kind_of(run).filed
    return run if form is None else form(run)


def view_of(run: RunRecord, store: Store | None = None) -> RunView:
    """The view of a run of any kind in a list; for an unknown kind, only what every run has. With `store`, a run without a
    result has the number of samples or requests recorded so far."""
    if store is not None:
        run = whole(store, run)
    if run.kind in RUN_KINDS:
        row = RUN_KINDS[run.kind]
        view = row.view(run)
        if view.progress is not None:
            return replace(view, counted=f"{view.progress.done:,}")
        if store is None or row.file is None or run.summary is not None:
            return view
        return replace(view, counted=f"{row.counted(store, run.id):,}")
    from benchwright.results._runs import plain_view

    return replace(plain_view(run), summary=None, headline=f"kind {run.kind!r}: needs a newer benchwright")
