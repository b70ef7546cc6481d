"""`RUN_KINDS`: one row for each kind of run, with the functions that read its records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import (
    BenchwrightError,
    DamagedRecordError,
    JsonObject,
    LoadFile,
    RunFile,
    RunKind,
    UsageError,
    clause,
    kind_title,
)
from benchwright.store import RunRecord, SampleFilter, SampleOrder, Store, whole

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


_DAMAGES = (TypeError, ValueError, KeyError, AttributeError, IndexError)
"""What reading a record raises whose values are not of their types. `DamagedRecordError` is a ValueError."""


def _in_full(place: str) -> Callable[[Store, RunRecord], View]:
    """A function that reads a run in full. A value of a wrong type in its record is told as damage, with the cure."""
    read = _later(place)

    def details(store: Store, run: RunRecord) -> View:
        try:
            found: View = read(store, run)
            return found
        except _DAMAGES as error:
            if isinstance(error, BenchwrightError) and not isinstance(error, DamagedRecordError):
                raise
            told = run.damaged(f"{type(error).__name__}: {clause(error)}")
            raise DamagedRecordError(f"run {run.id} {told}") from error

    return details


class KindRow(Struct, frozen=True):
    """One kind of run."""

    name: RunKind
    """Its name in records."""
    view: Callable[[RunRecord], RunView]
    """A run in a list."""
    details: Callable[[Store, RunRecord], View]
    """A run in full."""
    parts: Callable[[Store, RunRecord, SampleFilter, int | None, int, SampleOrder], View]
    """A page of its samples, requests or steps: those that pass a filter, after a cursor, at most so many, in an order."""
    part: Callable[[Store, RunRecord, str], View]
    """One sample or step in full, by its number or key."""
    compare: Callable[[FoundRun, FoundRun, ComparisonOptions], Comparison | LoadComparison]
    """Compares two runs of this kind."""
    counted: Callable[[Store, int], int]
    """How many samples, requests or steps of a run are recorded."""
    unit: str
    """What is counted."""
    breaks: Callable[[RunRecord, RunRecord], Iterable[str]]
    """Why a run cannot be compared with an earlier one, in words."""
    changes: Callable[[RunRecord, RunRecord, Collection[str]], JsonObject] | None = None
    """The settings in which two runs differ; None: such runs have none."""
    has_result: Callable[[RunRecord], bool] = lambda run: run.summary is not None
    """Whether there is something to compare."""
    starts_program: bool = False
    """Whether a run is a user's program, which records its steps itself."""
    file: str | None = None
    """The file from which lost records are restored; None: such runs write none."""
    samples: Callable[[Store, RunRecord], tuple[RunDetails, RunSamples]] | None = None
    """The samples of a run, with its figures; None: such runs have none."""
    filed: Callable[[RunRecord], RunRecord] | None = None
    """Puts the settings of a run into the form of its files, for comparison with a folder; None: they have it."""
    requests: Callable[[Store, int], Requests] | None = None
    """The requests of a load test that `export` writes; None: such runs are not load tests."""
    judge: Callable[[Policy, FoundRun, FoundRun | None, Collection[str], bool], Verdict] | None = None
    """Judges a run for `gate`; None: such runs have no figures for a policy, and cannot be a baseline. The last arguments name
    settings that change no result, and tell whether replies may be older than the run."""

    def as_filed(self, run: RunRecord) -> RunRecord:
        """The run with its settings in the form of its files."""
        return run if self.filed is None else self.filed(run)

    def contents(self, store: Store, run: RunRecord) -> tuple[Any, ...]:
        """A run in full, and its samples or requests."""
        if self.samples is not None:
            details, samples = self.samples(store, run)
            return (self.details(store, run) if self.starts_program else details), samples
        assert self.requests is not None
        return self.details(store, run), self.requests(store, run.id)


def _samples(store: Store, run: RunRecord) -> tuple[RunDetails, RunSamples]:
    from benchwright.results._benchmarks import benchmark_details
    from benchwright.results._samples import RunSamples

    return benchmark_details(run), RunSamples(store, run)


def _rows(store: Store, run: RunRecord) -> tuple[RunDetails, RunSamples]:
    from benchwright.results._runs import run_details
    from benchwright.results._samples import RunSamples
    from benchwright.results._workflow_rows import rows_summary
    from benchwright.results._workflows import workflow_view

    return run_details(run, workflow_view(run), rows_summary(store, run)[0]), RunSamples(store, run)


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
            details=_in_full("_benchmarks:recorded_benchmark"),
            parts=_later("_benchmarks:benchmark_samples"),
            part=_later("_benchmarks:benchmark_sample"),
            compare=_later("_comparing:compare_benchmarks"),
            counted=lambda store, run_id: store.count_steps(run_id, "score"),
            unit="samples",
            breaks=_later("_comparing:disagreements"),
            changes=_later("_comparing:setting_differences"),
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
            details=_in_full("_workflows:recorded_workflow"),
            parts=_later("_workflows:workflow_steps"),
            part=_later("_workflows:workflow_step"),
            compare=_later("_comparing_workflows:compare_workflows"),
            counted=lambda store, run_id: sum(store.workflow_step_counts(run_id).values()),
            unit="steps",
            breaks=_later("_comparing_workflows:other_code"),
            has_result=lambda run: run.status == "completed",  # it may have no figures
            starts_program=True,
            samples=_rows,
        ),
        KindRow(
            name=RunKind.LOAD,
            view=_later("_load:load_view"),
            details=_in_full("_load:LoadView.recorded"),
            parts=_later("_sent_requests:load_parts"),
            part=_later("_sent_requests:load_part"),
            compare=_later("_load_comparison:compare_loads"),
            counted=_later("_load:count_measured"),
            unit="requests",
            breaks=_later("_load_comparison:other_data"),
            changes=_later("_load_comparison:load_setting_differences"),
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


def view_of(run: RunRecord, store: Store | None = None) -> RunView:
    """The view of a run of any kind in a list; for an unknown kind, only what every run has. With `store`, a run without a
    result has the number of samples or requests recorded so far."""
    if store is not None:
        run = whole(store, run)
    if run.damage:
        return _damaged(run, run.damage)
    try:
        return _view(run, store)
    except _DAMAGES as error:  # one record must not cost the list
        return _damaged(run, run.damaged(clause(error) or type(error).__name__))


def _damaged(run: RunRecord, damage: str) -> RunView:
    """The view of a run whose record cannot be read: what its columns tell without JSON, and what helps."""
    from benchwright.results._runs import plain_view

    bare = replace(
        run, settings={}, manifest={}, summary=None, input=None, output=None, tags=None, progress=None
    )
    return replace(plain_view(bare), error=damage, headline="cannot be read")


def _view(run: RunRecord, store: Store | None) -> RunView:
    if run.kind in RUN_KINDS:
        row = RUN_KINDS[run.kind]
        view = row.view(run)
        if view.progress is not None:
            unit = (
                f" {row.unit}" if row.starts_program else ""
            )  # a list counts rows of a workflow, once it has ended
            return replace(view, counted=f"{view.progress.done:,}{unit}")
        if store is None or run.summary is not None:
            return view
        if row.starts_program:  # it may have rows; how many steps it has says nothing about them
            rows = store.count_steps(run.id, "score")
            return replace(view, counted=f"{rows:,}") if rows else view
        return replace(view, counted=f"{row.counted(store, run.id):,}")
    from benchwright.results._runs import plain_view

    return replace(plain_view(run), summary=None, headline=f"kind {run.kind!r}: needs a newer benchwright")
