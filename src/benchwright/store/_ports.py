"""The interface of every backend of the store. Other parts of the package know these protocols and the values that they
exchange, and nothing of the database."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

from benchwright.core import JsonObject, JsonValue, RunKind, RunProgress, RunStatus, StepValues
from benchwright.store._labels import Label, Trial
from benchwright.store._owner import Lease
from benchwright.store._records import Event, RecordedStep, RunRecord, SampleSteps
from benchwright.store._sample_filters import Facet, SampleFilter, SampleOrder
from benchwright.store._workflow_records import (
    BeginDecision,
    MetricPoint,
    MetricTotals,
    Page,
    StepRequest,
    WorkflowStep,
)
from benchwright.store._workspace import Workspace


class RunStore(Protocol):
    """Runs of every kind, and their events. A store remembers the leases of the runs that it created or claimed, and refuses to
    write to one of them that it has lost."""

    def create_run(
        self, *, name: str, target: str, model: str = "", folder: Path | None = None, settings: JsonObject | None = None,
        manifest: JsonObject | None = None, status: RunStatus = "running", kind: str = RunKind.BENCHMARK,
        input_json: bytes | None = None, tags: JsonObject | None = None, message: str | None = None,
    ) -> RunRecord:  # fmt: skip
        """Record a new run, with the `message` of its first event. This process owns it."""

    def claim_run(
        self, run_id: int, *, check: Callable[[RunRecord], None] | None = None, token: str | None = None,
        force: bool = False, start: bool = False, data: JsonValue = None,
    ) -> RunRecord:  # fmt: skip
        """Take over a run. `RunOwnedError` while a live process owns it, unless forced, or handed over with its `token`. `check` may
        refuse the run before that; `start` also begins to work on it; `data` is kept with the event."""

    def lease(self, run_id: int) -> Lease:
        """The right to write to a run that this store created or claimed. `RunOwnedError` for others."""

    def start_run(self, run_id: int, manifest: JsonObject | None = None) -> RunRecord:
        """Begin to work on a queued or claimed run. Until then it keeps its end, its duration and its starts. The time of a
        queued run counts from here."""

    def beat(self, run_id: int, progress: RunProgress | None = None) -> bool:
        """Show that the owner is alive, and how far it has come; without `progress`, the last one stays. Returns whether the run is
        still this store's."""

    def update_run(
        self, run_id: int, *, settings: JsonObject | None = None, manifest: JsonObject | None = None,
        summary: JsonObject | None = None, status: RunStatus | None = None, error: str | None = None,
        input_value: JsonValue = None, output: bytes | None = None, event: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Replace what is given, and add an event, given as its kind and its message."""

    def relabel_run(
        self,
        run_id: int,
        *,
        name: str | None = None,
        tags: JsonObject | None = None,
        verdict: JsonObject | None = None,
    ) -> None:
        """Give a run another name, other tags or the verdict of a gate, whoever owns it. An event `run.renamed` has the name before, `from`;
        `run.judged` has the `verdict`, the `policy` and the `baseline`."""

    def record_end(self, run_id: int, summary: JsonObject) -> RunRecord:
        """Record the time and the figures of a run that has ended. It stays `running`, and this process's, until its files
        are written: a run that is killed meanwhile has an end and can be resumed."""

    def keep_overview(self, run: RunRecord, found: JsonObject) -> None:
        """Keep what was found in all samples of a run that has ended. A later end makes it void."""

    def overview(self, run: RunRecord) -> JsonObject | None:
        """What the last end of a run found in all its samples, if that was kept and none has been lost since."""

    def finish_run(
        self, run_id: int, status: RunStatus, *, summary: JsonObject | None, error: str | None = None
    ) -> None:
        """Record how a run ended, and release it."""

    def conclude_run(
        self, run_id: int, status: RunStatus, *, error: str | None = None, whoever_owns_it: bool = False
    ) -> None:
        """Record how a run ended by the exit of its process, with the figures of its recorded steps, and release it. A run that
        another process has taken over or canceled is left alone, unless `whoever_owns_it`."""

    def release_run(self, run_id: int) -> None:
        """Give up a run. If it has not ended, it counts as interrupted."""

    def interrupt_dead(self, kind: str) -> list[int]:
        """Mark runs of a kind whose process died as interrupted. Returns their numbers."""

    def restore_run(self, run: RunRecord, steps: Iterable[StepValues]) -> int:
        """Record a run that was read from its folder and returns the number of its steps; or, if it is on record, add steps that
        it has lost, and return the number of those added."""

    def copy_to(
        self, other: Store, numbers: Sequence[int], told: Callable[[RunRecord, int], None]
    ) -> tuple[list[int], list[int]]:
        """Copy runs with their records, labels and files to another store, and compare what arrived. They keep their numbers. `told` gets
        each run with the number of its records. Returns the runs that were copied, and those that were there already."""

    def remove_run(self, run_id: int, *, number_is_free: bool = False) -> None:
        """Delete a run and everything recorded under it. `number_is_free` for one that could not start."""

    def run(self, run_id: int) -> RunRecord:
        """A run by number. `NotFoundError` if there is none."""

    def runs(
        self, *, after: int | None = None, limit: int | None = None, kind: str | None = None,
        name: str | None = None,
    ) -> list[RunRecord]:  # fmt: skip
        """Runs, newest first, each as it was recorded: see `whole`. `after` is the number of the last run of the page before."""

    def run_marks(self) -> dict[int, tuple[object, ...]]:
        """A mark of each run, oldest first, which changes with everything that a list shows of it. Quick for thousands of runs."""

    def events(
        self, run_id: int, *, after: int = 0, limit: int | None = None, step_id: int | None = None
    ) -> list[Event]:
        """Events of a run, or of one of its steps, oldest first."""


class StepWriter(Protocol):
    """The sink for the steps of one run. It belongs to one event loop."""

    def append(self, rows: Sequence[StepValues]) -> asyncio.Future[None]:
        """Take rows. The future is done when they are committed."""

    def replace(self, kinds: Sequence[str], rows: Sequence[StepValues]) -> asyncio.Future[None]:
        """Take all rows of one sample, the score last. They replace its recorded steps of these kinds in one commit."""

    async def close(self) -> None:
        """Commit the rest, and close."""


class StepStore(Protocol):
    """Steps of benchmark runs: calls, judges' calls, scores."""

    local: bool
    """Whether it answers so soon that an event loop may wait for it; else in a thread."""

    def step_writer(self, run_id: int) -> StepWriter:
        """Open the sink for a run's steps, inside a running event loop. This store must own the run, and every
        commit checks that it still does."""

    def recorded(self, run_id: int, kind: str, first_index: int, last_index: int) -> dict[str, RecordedStep]:
        """Steps of a batch of samples, by key."""

    def calls(
        self, run_id: int, first_index: int, last_index: int, kind: Literal["call", "judge"] = "call"
    ) -> dict[str, RecordedStep]:
        """Recorded calls of a batch of samples, to the model or to judges, by key."""

    def taken_over(self, run_id: int) -> Iterator[tuple[str, RecordedStep]]:
        """The calls of a run that were answered by the reply of another one, streamed."""

    async def replies_of(
        self, run_id: int, requests: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], bytes]:
        """A run's replies to requests, given as hash and number among equal ones. Requests without one are left out."""

    def index_replies(self) -> bool:
        """Update the index of reusable replies. Returns whether it holds any."""

    async def reusable(
        self, run_id: int, input_hashes: Sequence[bytes], preferred: Sequence[int] = ()
    ) -> dict[bytes, bytes]:
        """The replies of other runs to equal requests, by hash, of `preferred` runs where they have one. Requests without one are
        left out."""

    def count_steps(self, run_id: int, kind: str) -> int:
        """The number of recorded steps of a kind."""

    def forget_step(self, run_id: int, key: str) -> None:
        """Delete one step."""


class SampleStore(Protocol):
    """Scored samples of benchmark runs, in sample order."""

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """(index, repeat, hash of the row, result JSON) of every sample, streamed."""

    def row_texts(self, run_id: int) -> Iterator[tuple[int, bytes | None]]:
        """(index, JSON of the row) of every sample, streamed; None for a row that could not be read."""

    def rows_scored(self, run_id: int) -> Iterator[tuple[bytes, bytes | None, bytes]]:
        """(hash of the row, JSON of the row, result JSON) of every sample, streamed."""

    def samples(self, run_id: int, index: int | None = None) -> Iterator[SampleSteps]:
        """Every sample with its calls, streamed; or those of one row."""

    def same_row(
        self, run_id: int, index: int, repeat: int = 0, *, limit: int = 50, patience_s: float = math.inf
    ) -> tuple[list[tuple[int, SampleSteps]], int]:
        """Samples of other runs on the same row content, whatever its number there: the run and the sample with the same repeat, else the
        first, the newest run first. Of copies of a workflow's row, that with the same name. Then how many runs could not be searched within
        `patience_s`; the next call goes on."""

    def differing(self, run_id: int, other: int) -> list[tuple[int, int, bytes, bytes]] | None:
        """(index, repeat, result JSON of the other run, result JSON) of samples whose records differ, if both runs have the same rows under
        the same numbers; None if not."""

    def find_text(
        self, run_id: int, text: str, *, after: str = "", limit: int = 100, most: int = 5_000
    ) -> tuple[list[tuple[str, str, str]], int, str | None]:
        """Steps of samples with a text in prompt, reply, reasoning, target or a judge's reply, in any case, after a key. Looks at no
        more than `most` steps, and at some megabytes. Returns what it found in the order of keys, how many steps it looked at, and the key at
        which the search continues; None: the run has no more."""

    def sample_counts(self, run_id: int) -> dict[Facet, int]:
        """How many samples of a run have the same values for filters."""

    def index_samples(self, at_least: int = 1) -> None:
        """Index new samples, if there are this many. Without it the next page takes longer, and is right too."""

    def page_samples(
        self, run_id: int, where: SampleFilter | None = None, *, after: int | None = None, limit: int = 100,
        order: SampleOrder | None = None, patience_s: float | None = None,
    ) -> Page[SampleSteps]:  # fmt: skip
        """A page of the samples that pass a filter, by row unless another order is given. A page that must look at samples one by
        one looks at a limited number: it may be shorter than `limit` though `next` names where the search continues. The first page by
        a figure indexes it, which takes seconds for a million samples; after `patience_s` it is empty, and `indexed` tells how far that is."""


class LabelStore(Protocol):
    """What people say of samples, and samples that they sent again."""

    def add_label(self, label: Label) -> Label:
        """Record a label in place of the same person's earlier one on the same thing. One that says the same stays as it is."""

    def remove_label(self, number: int) -> Label:
        """Delete a label, and return it. `NotFoundError` if there is none."""

    def labels(
        self, rows: Collection[str] | None = None, *, kind: str | None = None, who: str | None = None,
        after: int | None = None, limit: int | None = None,
    ) -> list[Label]:  # fmt: skip
        """Labels, newest first; those of rows, a kind or a person. `after` is the number of the last one of the page before."""

    def labelled(self, run_id: int, kind: str | None = None) -> Iterator[tuple[int, int, str]]:
        """Row number, repeat and row identity of the samples of a run whose rows have labels, in sample order."""

    def add_trial(self, trial: Trial) -> Trial:
        """Record a trial."""

    def trials(self, run_id: int, sample: tuple[int, int] | None = None) -> list[Trial]:
        """Trials of a run, or of one of its samples, newest first."""


class WorkflowWriter(Protocol):
    """The sink for workflow records of any number of runs. It belongs to one event loop, and is the only way in which steps,
    metric points and events of workflows are written."""

    def begin(self, lease: Lease, request: StepRequest) -> BeginDecision:
        """Decide about a step, and record that it has begun."""

    async def complete(self, lease: Lease, step_id: int, attempt: int | None, output: bytes) -> None:
        """Record a step's output. Returns after the commit."""

    async def fail(
        self, lease: Lease, step_id: int, attempt: int | None, error: str, *, interrupted: bool = False
    ) -> None:
        """Record why an attempt failed. Returns after the commit."""

    def add_metric(
        self, lease: Lease, name: str, value: float, *, unit: str | None = None, step_id: int | None = None,
        attempt: int = 0, tags: JsonObject | None = None, slot: int | None = None,
    ) -> None:  # fmt: skip
        """Record a metric point."""

    def add_event(
        self, lease: Lease, kind: str, message: str, *, data: JsonValue = None, step_id: int | None = None
    ) -> None:
        """Record an event."""

    async def settled(self, lease: Lease, *, events: bool = False) -> None:
        """Wait until everything appended is committed; with `events`, also the events of steps, which may wait."""

    def finish(
        self, lease: Lease, status: RunStatus, *, output: bytes | None = None, error: str | None = None
    ) -> None:
        """Record how the run ended, and release it."""

    async def close(self) -> None:
        """Commit the rest, and close."""


class WorkflowStore(Protocol):
    """The steps and metric points of workflow runs."""

    def workflow_writer(self, *, alone: bool = True) -> WorkflowWriter:
        """Open a sink that commits many records together, inside a running event loop. It is not `alone` if another process
        may record steps of the same runs."""

    def workflow_step(self, step: int | tuple[int, str]) -> WorkflowStep:
        """A step by number; or, by its run and key, its newest generation."""

    def workflow_step_counts(self, run_id: int) -> dict[str, int]:
        """Steps per status, newest generations only."""

    def page_steps(
        self, run_id: int, *, after: int = 0, limit: int = 100, status: str | None = None
    ) -> Page[WorkflowStep]:
        """A page of steps, in the order in which they began."""

    def page_metrics(
        self, run_id: int, *, after: int = 0, limit: int = 1000, name: str | None = None
    ) -> Page[MetricPoint]:
        """A page of metric points, in the order in which they came."""

    def metric_totals(self, run_id: int) -> dict[str, MetricTotals]:
        """Metrics of a run by name, with count, mean, extremes and the newest value."""


class Store(RunStore, StepStore, SampleStore, LabelStore, WorkflowStore, Protocol):
    """An open store. Leave its `with` block, or call `close`, to release it."""

    @property
    def workspace(self) -> Workspace:
        """Where the files of the runs are."""

    def close(self) -> None:
        """Release the store."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
