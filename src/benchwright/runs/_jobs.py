"""Performs prepared runs in one event loop, one after the other or several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from benchwright.config import exported
from benchwright.core import BenchwrightError, RunOwnedError, RunStatus
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import InterruptedRunError, Prepared, RunGroup, RunStart, Watcher, in_event_loop
from benchwright.reports import write_reports
from benchwright.runs._result import RunResult, result_of
from benchwright.runs._run_files import first_files, last_files, owned_folder
from benchwright.store import RunRecord, Store

if TYPE_CHECKING:
    from benchwright.runs._tracking import RunTracking


class Job(Struct, frozen=True):
    """One recorded and prepared run."""

    run: RunRecord
    """Its record; this process owns it."""
    prepared: Prepared
    """Its rows, prompts and settings."""
    resuming: bool = False
    """Whether an earlier start may have left records."""
    retry_failed: bool = False
    """Whether there are failed samples to send again."""
    otherwise: RunStatus = "failed"
    """Its status if it cannot finish; a run that could not resume keeps its status."""
    label: str | None = None
    """Its name for watchers; None: the benchmark's name."""
    variables: Mapping[str, str] = {}
    """Environment variables that hold while it runs, each `host:NAME` or `lit:VALUE`."""


class Ended(Struct, frozen=True):
    """The end of a job."""

    job: Job
    """The job."""
    result: RunResult | None = None
    """The result; None if there is none."""
    error: Exception | None = None
    """Why there is none; also None if the job never began, because another was interrupted."""


def perform_jobs(
    store: Store,
    lanes: Sequence[Sequence[Job]],
    *,
    at_once: int = 1,
    go_on: bool = False,
    watcher: Watcher | None = None,
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


def only_result(ended: Sequence[Ended]) -> RunResult:
    """The result of the only job. Raises InterruptedRunError if it never began."""
    (only,) = ended
    if only.result is None:
        raise InterruptedRunError("interrupted before it began")
    return only.result


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
        watcher: Watcher | None,
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
        store, run, prepared = self._store, job.run, job.prepared
        async with lane:
            if self.group.interrupted or (self._errors and not self._go_on):
                leave(store, job, "interrupted before it began")
                return Ended(job)
            try:
                with owned(store, run, job.otherwise):
                    run = _started(store, job)
                    with tracked(store, job, self._watcher) as tracking:
                        start = RunStart(
                            prepared, store, run,
                            resuming=job.resuming, retry_failed=job.retry_failed, watcher=tracking or self._watcher,
                            group=self.group, label=job.label or run.name,
                        )  # fmt: skip
                        with owned_folder(run.folder):
                            with first_files(store, run, prepared, self.group, resuming=job.resuming):
                                async with start.opened(self._endpoint) as work:
                                    await work
                                start.end()
                            # In a thread, because writing the samples of a large run would delay the others.
                            details = await asyncio.to_thread(
                                last_files, store.workspace, run.id, start, prepared, self.group.signal
                            )
                        # Only now, because a run that is killed while its files are written is not complete.
                        store.finish_run(
                            run.id, start.status, summary=start.summary.to_json(), error=start.error
                        )
                        problems: list[str] = []
                        if (
                            reports := prepared.settings.reports
                        ):  # plugins, which must not delay the end of the run
                            problems = await asyncio.to_thread(write_reports, details, reports)
                        if tracking is not None:
                            problems += await tracking.finished()
                ended = Ended(job, result_of(store.run(run.id), start, problems))
            except Exception as error:
                self._errors.append(error)
                ended = Ended(job, error=error)
        if self._finished is not None:
            self._finished(ended)
        return ended


def _started(store: Store, job: Job) -> RunRecord:
    run, prepared = job.run, job.prepared
    if not job.resuming or not run.manifest:  # new, or killed before its data were read
        return store.start_run(run.id, prepared.manifest)
    if (
        run.finished_at is None
        or job.retry_failed
        or store.count_steps(run.id, "score") < prepared.row_count * prepared.settings.repeats
    ):
        return store.start_run(run.id)
    return run  # only the summary is computed again


@contextmanager
def tracked(store: Store, job: Job, watcher: Watcher | None) -> Iterator[RunTracking | None]:
    """The trackers of a run, which watch it; None if it has none."""
    if not (names := job.prepared.settings.trackers):
        yield None
        return
    from benchwright.runs._tracking import RunTracking

    tracking = RunTracking(store, job.run.id, names, watcher)
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


def leave(store: Store, job: Job, reason: str | None) -> None:
    """Release a job that will not begin, so that it can be resumed later."""
    status: RunStatus = job.otherwise if job.resuming else "interrupted"
    store.finish_run(job.run.id, status, summary=job.run.summary, error=reason)


@contextmanager
def owned(store: Store, run: RunRecord, otherwise: RunStatus) -> Iterator[None]:
    """Make sure that the run does not stay `running` without an owner. Records stay; a run that cannot resume keeps its
    status."""
    try:
        yield
    except BaseException as error:
        current = store.run(run.id)
        if current.status == "running":
            text = str(error) if isinstance(error, BenchwrightError) else f"{type(error).__name__}: {error}"
            failed = isinstance(error, Exception) and not isinstance(error, InterruptedRunError)
            status = otherwise if failed else "interrupted"
            with suppress(RunOwnedError):  # taken over by another process, which records its end
                store.finish_run(run.id, status, summary=current.summary, error=text)
        raise
