"""The interface of every backend of the store. Other parts of the package know these protocols and the values that they
exchange, and nothing of the database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

from benchwright.core import JsonObject, JsonValue, RunKind, RunStatus, StepValues
from benchwright.store._owner import Owner
from benchwright.store._records import CallStep, Event, RunRecord, SampleSteps, StepOutput, TakenOver
from benchwright.store._sample_filters import SampleFilter
from benchwright.store._workflow_records import (
    BeginDecision,
    Lease,
    MetricPoint,
    MetricTotals,
    Page,
    StepRequest,
    WorkflowStep,
)
from benchwright.store._workspace import Workspace


class RunStore(Protocol):
    """Runs of every kind, and their events."""

    def create_run(
        self, *, name: str, target: str, model: str, folder: Path | None, settings: JsonObject,
        manifest: JsonObject, status: RunStatus = "running", kind: str = RunKind.BENCHMARK,
    ) -> RunRecord:  # fmt: skip
        """Record a new run of a benchmark, or a load test. This process owns it."""

    def claim_run(self, run_id: int, *, force: bool = False) -> RunRecord:
        """Take over a benchmark run. `RunOwnedError` while a live process owns it, unless forced."""

    def start_run(self, run_id: int, manifest: JsonObject) -> RunRecord:
        """Turn a queued run into a running one. Its time counts from here."""

    def restart_run(self, run_id: int) -> RunRecord:
        """Begin to work on a claimed run once more. Until then it keeps its end, its duration and its starts."""

    def record_end(self, run_id: int, summary: JsonObject) -> RunRecord:
        """Record the time and the figures of a run that has ended. It stays `running`, and this process's, until its files
        are written: a run that is killed meanwhile has an end and can be resumed."""

    def finish_run(
        self, run_id: int, status: RunStatus, *, summary: JsonObject | None, error: str | None = None
    ) -> None:
        """Record how a run ended, and release it."""

    def adopt_run(self, run: RunRecord, steps: Iterable[StepValues]) -> int:
        """Record a run that was read from its folder. Returns the number of its samples."""

    def delete_run(self, run_id: int) -> None:
        """Delete a run that could not start."""

    def remove_run(self, run_id: int) -> None:
        """Delete a run and everything recorded under it."""

    def heartbeat(self, run_id: int) -> None:
        """Show other hosts that the owner is alive."""

    def update_manifest(self, run_id: int, manifest: JsonObject) -> None:
        """Replace the manifest."""

    def update_settings(self, run_id: int, settings: JsonObject) -> None:
        """Replace the settings."""

    def record_change(self, run_id: int, manifest: JsonObject, message: str) -> None:
        """Replace the manifest of a run whose benchmark has changed, and add an event."""

    def run(self, run_id: int) -> RunRecord:
        """A run by number. `NotFoundError` if there is none."""

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Runs, newest first, each as it was recorded: see `whole`."""

    def whole(self, run: RunRecord) -> RunRecord:
        """A run of `runs` as its records allow it: interrupted and partial if it has lost samples or requests."""

    def record_loss(self, run: RunRecord, cure: str) -> RunRecord:
        """Record that a run, as `whole` returns it, has lost samples that cannot be restored."""

    def restore_steps(self, run: RunRecord, steps: Iterable[StepValues]) -> int:
        """Record steps that a run has lost. Returns the number of those added."""

    def find_run(self, target: str) -> RunRecord:
        """A run by number, `last`, name or folder."""

    def page_runs(
        self, *, after: int | None = None, limit: int = 100, kind: str | None = None, name: str | None = None
    ) -> Page[RunRecord]:
        """A page of runs, newest first."""

    def run_owner(self, run_id: int) -> Owner | None:
        """The live process that executes the run."""

    def events(self, run_id: int) -> list[Event]:
        """All events of a run, oldest first."""

    def page_events(
        self, run_id: int, *, after: int = 0, limit: int = 100, step_id: int | None = None
    ) -> Page[Event]:
        """A page of events, oldest first."""


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

    def step_writer(self, run_id: int) -> StepWriter:
        """Open the sink for a run's steps, inside a running event loop. This store must own the run, and every
        commit checks that it still does."""

    def recorded(self, run_id: int, kind: str, first_index: int, last_index: int) -> dict[str, StepOutput]:
        """Steps of a batch of samples, by key."""

    def call(self, run_id: int, key: str) -> CallStep | None:
        """One recorded call."""

    def calls(
        self, run_id: int, first_index: int, last_index: int, kind: Literal["call", "judge"] = "call"
    ) -> dict[str, CallStep]:
        """Recorded calls of a batch of samples, to the model or to judges, by key."""

    def taken_over(self, run_id: int) -> Iterator[TakenOver]:
        """The calls of a run that were answered by the reply of another one, streamed."""

    def row_hashes(self, run_id: int, first_index: int, last_index: int) -> dict[str, bytes]:
        """The hashes of the rows of a batch of samples, by the keys of their scores."""

    async def replies_of(
        self, run_id: int, requests: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], bytes]:
        """A run's replies to requests, given as hash and number among equal ones. Requests without one are left out."""

    def index_replies(self) -> bool:
        """Update the index of reusable replies. Returns whether it holds any."""

    async def reusable(self, run_id: int, input_hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """The replies of other runs to equal requests, by hash. Requests without one are left out."""

    def count_steps(self, run_id: int, kind: str) -> int:
        """The number of recorded steps of a kind."""

    def forget_step(self, run_id: int, key: str) -> None:
        """Delete one step."""


class SampleStore(Protocol):
    """Scored samples of benchmark runs, in sample order."""

    def scores(self, run_id: int) -> Iterator[tuple[int, int, bytes]]:
        """(index, repeat, result JSON) of every sample, streamed."""

    def scored(self, run_id: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """(index, repeat, hash of the row, result JSON) of every sample, streamed."""

    def row_texts(self, run_id: int) -> Iterator[tuple[int, bytes | None]]:
        """(index, JSON of the row) of every sample, streamed; None for a row that could not be read."""

    def samples(self, run_id: int, index: int | None = None) -> Iterator[SampleSteps]:
        """Every sample with its calls, streamed; or those of one row."""

    def index_samples(self, at_least: int = 1) -> None:
        """Index new samples, if there are this many. Without it the next page takes longer, and is right too."""

    def page_samples(
        self, run_id: int, where: SampleFilter | None = None, *, after: int | None = None, limit: int = 100
    ) -> Page[SampleSteps]:
        """A page of the samples that pass a filter. A page that looks for a text searches a limited number of samples:
        it may be shorter than `limit` though `next` names where the search continues."""


class PointSink(Protocol):
    """Takes metric points and events of workflow runs."""

    def add_metric(
        self, lease: Lease, name: str, value: float, *, unit: str | None = None, step_id: int | None = None,
        attempt: int = 0, tags: JsonObject | None = None, slot: int | None = None,
    ) -> None:  # fmt: skip
        """Record a metric point."""

    def add_event(
        self, lease: Lease, kind: str, message: str, *, data: JsonValue = None, step_id: int | None = None
    ) -> None:
        """Record an event."""


class WorkflowWriter(PointSink, Protocol):
    """The sink for workflow records of any number of runs. It belongs to one event loop."""

    def begin(self, lease: Lease, request: StepRequest) -> BeginDecision:
        """Decide about a step, and record that it has begun."""

    async def complete(self, lease: Lease, step_id: int, attempt: int | None, output: bytes) -> None:
        """Record a step's output. Returns after the commit."""

    async def fail(
        self, lease: Lease, step_id: int, attempt: int | None, error: str, *, interrupted: bool = False
    ) -> None:
        """Record why an attempt failed. Returns after the commit."""

    async def settled(self, lease: Lease) -> None:
        """Wait until everything appended is committed."""

    def heartbeat(self, lease: Lease) -> None:
        """Show other hosts that the owner is alive."""

    def set_output(self, lease: Lease, output: bytes) -> None:
        """Record what the handler returned."""

    def finish(
        self, lease: Lease, status: RunStatus, *, output: bytes | None = None, error: str | None = None
    ) -> None:
        """Record how the run ended, and release it."""

    async def close(self) -> None:
        """Commit the rest, and close."""


class WorkflowStore(PointSink, Protocol):
    """Workflow runs with their steps and metric points. One transaction per call."""

    def workflow_writer(self) -> WorkflowWriter:
        """Open a sink that commits many records together, inside a running event loop."""

    def create_workflow(
        self, name: str, *, input_json: bytes | None = None, settings: JsonObject | None = None,
        manifest: JsonObject | None = None, target: str = "", tags: JsonObject | None = None,
        status: RunStatus = "running",
    ) -> Lease:  # fmt: skip
        """Record a new run. This process owns it."""

    def claim_workflow(
        self, run_id: int, *, token: str | None = None, force: bool = False, data: JsonValue = None
    ) -> Lease:
        """Take over a run. `RunOwnedError` while a live process owns it, unless forced."""

    def finish_workflow(
        self, lease: Lease, status: RunStatus, *, output: bytes | None = None, error: str | None = None
    ) -> None:
        """Record how the run ended, and release it."""

    def conclude_workflow(self, lease: Lease, status: RunStatus, *, error: str | None = None) -> None:
        """Record how the run ended by its process's exit."""

    def cancel_workflow(self, run_id: int, why: str) -> None:
        """End a run as `canceled`, whichever process executes it."""

    def release_workflow(self, lease: Lease) -> None:
        """Give up a lease. A run that has not ended counts as interrupted."""

    def beat_workflow(self, lease: Lease) -> bool:
        """Show that the owner is alive. Returns whether the lease still holds."""

    def set_workflow_output(self, lease: Lease, output: bytes) -> None:
        """Record what the handler returned."""

    def change_workflow_input(self, lease: Lease, value: JsonValue) -> None:
        """Replace the input of a resumed run."""

    def interrupt_dead_workflows(self) -> list[int]:
        """Mark runs whose process died as interrupted. Returns their numbers."""

    def begin_step(self, lease: Lease, request: StepRequest) -> BeginDecision:
        """Decide about a step, and record that it has begun."""

    def complete_step(self, lease: Lease, step_id: int, attempt: int | None, output: bytes) -> None:
        """Record a step's output."""

    def fail_step(
        self, lease: Lease, step_id: int, attempt: int | None, error: str, *, interrupted: bool = False
    ) -> None:
        """Record why an attempt failed."""

    def workflow_step(self, step_id: int) -> WorkflowStep:
        """A step by number."""

    def workflow_step_by_key(self, run_id: int, key: str) -> WorkflowStep | None:
        """The newest generation of a step."""

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


class Store(RunStore, StepStore, SampleStore, WorkflowStore, Protocol):
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
