"""Performs prepared runs in one event loop, one after the other or several at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from msgspec import Struct

from benchwright.config import exported
from benchwright.core import BenchwrightError, RunOwnedError, RunStatus, UsageError, refuse_while_loading
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import InterruptedRunError, Prepared, RunGroup, Watcher, perform
from benchwright.reports import write_reports
from benchwright.runs._result import RunResult, result_of
from benchwright.runs._run_files import first_files, last_files, owned_folder
from benchwright.store import RunRecord, Store


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
    group = RunGroup()
    work = _perform_all(store, lanes, at_once, go_on, watcher, finished, endpoint, group)
    ended: list[Ended] = in_event_loop(work, group.interrupt)
    return ended


async def _perform_all(
    store: Store,
    lanes: Sequence[Sequence[Job]],
    at_once: int,
    go_on: bool,
    watcher: Watcher | None,
    finished: Callable[[Ended], None] | None,
    endpoint: OpenEndpoint | None,
    group: RunGroup,
) -> list[Ended]:
    places = asyncio.Semaphore(at_once)
    errors: list[Exception] = []

    async def one(job: Job) -> Ended:
        if group.interrupted or (errors and not go_on):
            leave(store, job, "interrupted before it began")
            return Ended(job)
        try:
            with owned(store, job.run, job.otherwise):
                ended = Ended(job, await _perform(store, job, group, watcher, endpoint))
        except Exception as error:
            errors.append(error)
            ended = Ended(job, error=error)
        if finished is not None:
            finished(ended)
        return ended

    async def lane(jobs: Sequence[Job]) -> list[Ended]:
        async with places:
            return await asyncio.gather(*map(one, jobs))

    ended: list[list[Ended]] = []
    with group.open():
        for variables, together in _same_variables(lanes, at_once):
            with exported(variables):
                ended += await asyncio.gather(*map(lane, together))
    if errors and not go_on:
        raise errors[0]
    return [each for jobs in ended for each in jobs]


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


async def _perform(
    store: Store, job: Job, group: RunGroup, watcher: Watcher | None, endpoint: OpenEndpoint | None
) -> RunResult:
    run, prepared = job.run, job.prepared
    if not job.resuming or not run.manifest:  # new, or killed before its data were read
        run = store.start_run(run.id, prepared.manifest)
    elif (
        run.finished_at is None
        or job.retry_failed
        or store.count_steps(run.id, "score") < prepared.row_count * prepared.settings.repeats
    ):
        run = store.restart_run(run.id)  # not if only the summary is computed again
    tracking = None
    if prepared.settings.trackers:
        from benchwright.runs._tracking import RunTracking

        watcher = tracking = RunTracking(store, run.id, prepared.settings.trackers, watcher)
    try:
        with owned_folder(run.folder):
            with first_files(store, run, prepared, group, resuming=job.resuming):
                performed = await perform(
                    prepared, store, run,
                    resuming=job.resuming, retry_failed=job.retry_failed, watcher=watcher, endpoint=endpoint, group=group,
                    label=job.label,
                )  # fmt: skip
            # In a thread, because writing the samples of a large run would delay the others.
            details = await asyncio.to_thread(
                last_files, store.workspace, run.id, performed, prepared, group.signal
            )
        # Only now, because a run that is killed while its files are written is not complete.
        store.finish_run(run.id, performed.status, summary=performed.summary.to_json(), error=performed.error)
        problems: list[str] = []
        if reports := prepared.settings.reports:  # plugins, which must not delay the end of the run
            problems = await asyncio.to_thread(write_reports, details, reports)
        if tracking is not None:
            problems += await tracking.finished()
    except BaseException:
        if tracking is not None:
            tracking.abandon()
        raise
    result = result_of(store.run(run.id), performed)
    if problems:  # some of the requested output is missing
        result = replace(result, exit_code=result.exit_code or 1, report_problems=tuple(problems))
    return result


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


_PATIENCE_S = 1.0
"""How long remaining tasks of a loop may take to end after they are cancelled."""


def in_event_loop(work: Coroutine[Any, Any, Any], interrupt: Callable[[], None] | None = None) -> Any:
    """Run a coroutine to its end on the fastest available loop, even from inside a running loop.

    Inside a running loop, Ctrl-C calls `interrupt` twice before it raises, because the thread of the work gets no signals.
    """
    try:
        refuse_while_loading(getattr(work, "__name__", "this"))  # everything that sends passes here
    except UsageError:
        work.close()
        raise
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run_loop(work)
    # A notebook or an async program already uses its loop, so ours runs in a separate thread.
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(_run_loop(work))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target, name="benchwright-run", daemon=True)
    thread.start()
    interrupts = 0
    while thread.is_alive():
        try:
            thread.join()
        except KeyboardInterrupt:
            interrupts += 1
            if interrupt is None or interrupts > 2:
                raise
            interrupt()
    if failure:
        raise failure[0]
    return outcome[0]


def _run_loop(work: Coroutine[Any, Any, Any]) -> Any:
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    runner = asyncio.Runner(loop_factory=factory)
    try:
        return runner.run(work)
    finally:
        loop = runner.get_loop()
        if _all_ended(loop):
            runner.close()
        else:  # closing the loop would wait for them
            loop.close()


def _all_ended(loop: asyncio.AbstractEventLoop) -> bool:
    """Cancel the remaining tasks of the loop. Returns False if some do not end, such as a scorer that catches everything."""
    tasks = asyncio.all_tasks(loop)
    if not tasks:
        return True
    for task in tasks:
        task.cancel()
    _, stubborn = loop.run_until_complete(asyncio.wait(tasks, timeout=_PATIENCE_S))
    for task in stubborn:
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # no loop is left to report it
    return not stubborn
