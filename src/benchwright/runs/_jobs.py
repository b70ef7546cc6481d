"""Takes runs through their life in one event loop, one after the other or several at once. What a kind of run does in its life
is its `Work`; everything else is the same for all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from benchwright.config import exported
from benchwright.core import BenchwrightError, JsonObject, LoadFile, RunFile, RunStatus, open_artifacts
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import InterruptedRunError, RunGroup, RunLife, in_event_loop
from benchwright.runs._run_files import owned_folder
from benchwright.store import RunRecord, Store

if TYPE_CHECKING:
    from benchwright.runs._tracking import RunTracking


INTERRUPTED = 130
"""The exit code of an interruption."""
NOT_BEGUN = "interrupted before it began"


class Work(Protocol):
    """What one kind of run does in its life."""

    resuming: bool
    """Whether an earlier start may have left records and files."""
    resumable: bool
    """Whether a run that never began stays on record, to be resumed."""
    trackers: Sequence[str]
    """The trackers that watch it."""

    def start(self, life: RunLife) -> None:
        """Start the run, with the manifest of what it works with."""

    async def perform(self, life: RunLife, run: Running) -> None:
        """Work until everything is recorded; end the life with the figures, and write the files."""

    async def reported(self) -> list[str]:
        """Write what plugins add, after the run is finished. Returns their errors."""

    def counted(self, progress: Any) -> tuple[int, int | None, int]:
        """How many samples or requests are done, how many there are if that is known, and how many failed, for trackers."""

    def details(self, store: Store, run: RunRecord) -> JsonObject:
        """The run as trackers get it."""

    def result(self, run: RunRecord, problems: Sequence[str]) -> Any:
        """The result of the run. With `problems`, some of the requested output is missing."""


class Running(Struct, frozen=True):
    """What a run shares with others of the same call."""

    group: RunGroup
    """Ctrl-C, and the limits of servers."""
    label: str
    """Its name for watchers."""
    watcher: Any
    """Shows its progress; None: nobody watches."""
    endpoint: OpenEndpoint | None
    """Answers in place of the model; None: the settings say who does."""


class Job(Struct, frozen=True):
    """One recorded run with its work."""

    run: RunRecord
    """Its record; this process owns it."""
    work: Work
    """What is done in it."""
    otherwise: RunStatus = "failed"
    """Its status if it cannot finish; a run that could not resume keeps its status."""
    label: str | None = None
    """Its name for watchers; None: the benchmark's name."""
    variables: Mapping[str, str] = {}
    """Environment variables that hold while it runs, each `host:NAME` or `lit:VALUE`."""

    @property
    def name(self) -> str:
        """The label, or the benchmark's name."""
        return self.label or self.run.name


class Ended(Struct, frozen=True):
    """The end of a job, or of a plan that could not become one."""

    label: str
    """Its name for watchers."""
    run_id: int | None
    """Its run; None if there is none."""
    result: Any = None
    """The result of its work; None if there is none."""
    error: Exception | None = None
    """Why there is none; also None if the job never began, because another was interrupted."""

    @property
    def problem(self) -> str:
        """Why there is no result; empty if there is one."""
        if self.result is not None:
            return ""
        if self.error is None:
            return NOT_BEGUN
        return (
            str(self.error)
            if isinstance(self.error, BenchwrightError)
            else f"{type(self.error).__name__}: {self.error}"
        )

    @property
    def exit_code(self) -> int:
        """The exit code of a command that did only this."""
        if self.result is not None:
            return int(self.result.exit_code)
        if self.error is None:
            return INTERRUPTED
        return self.error.exit_code if isinstance(self.error, BenchwrightError) else 1


def perform_jobs(
    store: Store,
    lanes: Sequence[Sequence[Job]],
    *,
    at_once: int = 1,
    go_on: bool = False,
    watcher: Any = None,
    finished: Callable[[Ended], None] | None = None,
    endpoint: OpenEndpoint | None = None,
) -> list[Ended]:
    """Perform all jobs, in the order given; `finished` is called after each.

    The jobs of a lane run together, and so do up to `at_once` lanes whose variables are the same. If a job cannot finish, no other begins and the error is
    raised, unless `go_on` says otherwise. After Ctrl-C no job begins.
    """
    jobs = _Jobs(store, watcher, endpoint, finished, go_on)
    ended: list[Ended] = in_event_loop(jobs.perform(lanes, at_once), jobs.group.interrupt)
    return ended


def only_result(ended: Sequence[Ended]) -> Any:
    """The result of the only job. Raises InterruptedRunError if it never began."""
    (only,) = ended
    if only.result is None:
        raise InterruptedRunError(NOT_BEGUN)
    return only.result


def reporting(finished: Callable[[Any], None] | None) -> Callable[[Ended], None]:
    """What is called after each job, for a caller who wants results."""

    def report(ended: Ended) -> None:
        if finished is not None and ended.result is not None:
            finished(ended.result)

    return report


class _Lane:
    """One of the places for lanes: taken by the first job of a lane, given back by its last."""

    def __init__(self, places: asyncio.Semaphore, jobs: int) -> None:
        self._places, self._left = places, jobs
        self._taken: asyncio.Task[bool] | None = None

    async def __aenter__(self) -> None:
        if self._taken is None:
            self._taken = asyncio.ensure_future(self._places.acquire())
        await asyncio.shield(self._taken)

    async def __aexit__(self, *error: object) -> None:
        self._left -= 1
        if not self._left:
            self._places.release()


class _Jobs:
    """Jobs that share one event loop."""

    def __init__(
        self,
        store: Store,
        watcher: Any,
        endpoint: OpenEndpoint | None,
        finished: Callable[[Ended], None] | None,
        go_on: bool,
    ) -> None:
        self._store, self._watcher, self._endpoint = store, watcher, endpoint
        self._finished, self._go_on = finished, go_on
        self._errors: list[Exception] = []
        self.group = RunGroup()

    async def perform(self, lanes: Sequence[Sequence[Job]], at_once: int) -> list[Ended]:
        places = asyncio.Semaphore(at_once)
        ended: list[Ended] = []
        with self.group.open():
            for variables, together in _same_variables(lanes, at_once):
                tasks = [
                    self._perform_one(job, lane)
                    for jobs in together
                    for lane in [_Lane(places, len(jobs))]
                    for job in jobs
                ]
                with exported(variables):
                    ended += await asyncio.gather(*tasks)
        if self._errors and not self._go_on:
            raise self._errors[0]
        return ended

    async def _perform_one(self, job: Job, lane: _Lane) -> Ended:
        """Take one run through its life: owned, started, worked on with progress, ended, filed, finished."""
        store, work = self._store, job.work
        async with lane:
            if self.group.interrupted or (self._errors and not self._go_on):
                leave(store, job, NOT_BEGUN)
                return Ended(job.name, job.run.id)
            try:
                with _folder_of(store, job), RunLife(store, job.run, otherwise=job.otherwise) as life:
                    if not work.resuming:  # results of an earlier run must not be taken for those of this one
                        open_artifacts(life.run.folder).remove(*RunFile, *LoadFile)
                    work.start(life)
                    with _tracked(life, work, self._watcher) as tracking:
                        watcher = tracking or self._watcher
                        await work.perform(life, Running(self.group, job.name, watcher, self._endpoint))
                        life.finish()
                        problems = await work.reported()
                        if tracking is not None:
                            problems += await tracking.finished()
                ended = Ended(job.name, job.run.id, work.result(store.run(life.run.id), problems))
            except Exception as error:
                self._errors.append(error)
                ended = Ended(job.name, job.run.id, error=error)
        if self._finished is not None:
            self._finished(ended)
        return ended


@contextmanager
def _folder_of(store: Store, job: Job) -> Iterator[None]:
    """Keep the folder of a run for it. A run that is refused has not begun."""
    with ExitStack() as stack:
        try:
            stack.enter_context(owned_folder(job.run.folder))
        except Exception as error:
            leave(store, job, str(error), job.otherwise)
            raise
        yield


@contextmanager
def _tracked(life: RunLife, work: Work, watcher: Any) -> Iterator[RunTracking | None]:
    """The trackers of a run, which watch it; None if it has none."""
    if not work.trackers:
        yield None
        return
    from benchwright.runs._tracking import RunTracking

    tracking = RunTracking(life, work, watcher)
    try:
        yield tracking
    except BaseException:
        tracking.abandon()
        raise


def _same_variables(
    lanes: Sequence[Sequence[Job]], at_once: int
) -> list[tuple[Mapping[str, str], list[Sequence[Job]]]]:
    """The lanes in batches that may run together, because a process has one environment. If one lane runs at a time, the order
    stays."""
    batches: list[tuple[Mapping[str, str], list[Sequence[Job]]]] = []
    for lane in lanes:
        variables = lane[0].variables
        fitting = [batch for batch in (batches if at_once > 1 else batches[-1:]) if batch[0] == variables]
        if not fitting:
            fitting = [(variables, [])]
            batches += fitting
        fitting[0][1].append(lane)
    return batches


def leave(store: Store, job: Job, reason: str | None, status: RunStatus = "interrupted") -> None:
    """Release a job that will not begin: so that it can be resumed later, or without a trace if it could not be."""
    if not job.work.resumable:
        store.remove_run(job.run.id, number_is_free=True)
        return
    store.finish_run(
        job.run.id, job.otherwise if job.work.resuming else status, summary=job.run.summary, error=reason
    )
