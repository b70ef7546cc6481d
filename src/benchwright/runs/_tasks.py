"""Runs several tasks with different options, one after the other or at once. A failed task does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks import open_rows
from benchwright.config import ConfigFile, RunOptions, exported
from benchwright.core import BenchwrightError
from benchwright.engine import Watcher, choose_model, row_settings
from benchwright.runs._jobs import Ended, Job, perform_jobs
from benchwright.runs._result import RunResult
from benchwright.runs._run import Plan, planned, queue_plans, run_settings
from benchwright.runs._session import Session
from benchwright.runs._targets import Target
from benchwright.store import Store


class Task(Struct, frozen=True):
    """One or more benchmarks with the same options."""

    name: str
    """Its name in tables."""
    targets: tuple[Target, ...]
    options: RunOptions
    variables: Mapping[str, str] = {}
    """Environment variables that hold while it is prepared and runs, each `host:NAME` or `lit:VALUE`."""


class TaskResult(Struct, frozen=True):
    """The end of one benchmark of a task."""

    name: str
    """The task's name, and that of the benchmark if it has several."""
    result: RunResult | None = None
    error: str = ""
    """Why there is no result."""
    exit_code: int = 130
    """The exit code of the result or the error; that of an interruption if it never began."""


def run_tasks(
    session: Session,
    tasks: Sequence[Task],
    *,
    at_once: int = 1,
    watcher: Watcher | None = None,
    finished: Callable[[TaskResult], None] | None = None,
) -> list[TaskResult]:
    """Run all tasks, up to `at_once` at a time; `finished` is called after each benchmark.

    All tasks are planned first, so that wrong options raise before anything is sent. Unreadable data fail their task.
    """
    plans: list[tuple[Plan, Mapping[str, str]]] = []
    for task in tasks:
        with exported(task.variables):
            plans += [(plan, task.variables) for plan in _plans(task, session.config)]
    results: dict[str, TaskResult] = {}

    def end(result: TaskResult) -> None:
        results[result.name] = result
        if finished is not None:
            finished(result)

    store = session.store
    jobs: list[Job] = []
    for plan, variables in plans:
        with exported(variables):
            job = _queued(store, plan)
        if isinstance(job, TaskResult):
            end(job)
        else:
            jobs.append(replace(job, variables=variables))
    ended = perform_jobs(
        store, [[job] for job in jobs],
        at_once=at_once, go_on=True, watcher=watcher, finished=lambda each: end(_task_result(each)),
    )  # fmt: skip
    for each in ended:
        results.setdefault(str(each.job.label), _task_result(each))
    return [results[str(plan.label)] for plan, _ in plans]


def count_rows(target: Target, options: RunOptions, config: ConfigFile | None) -> int:
    """How many rows a run without a limit evaluates. Reads the data, and sends nothing."""
    effective = options.over(target.defaults)
    settings = run_settings(target, effective, choose_model(effective, config, ask_server=False))
    return open_rows(target.spec, row_settings(target.spec, settings)).scan.rows


def _plans(task: Task, config: ConfigFile | None) -> list[Plan]:
    several = len(task.targets) > 1
    return [
        planned(
            found,
            task.options,
            config,
            several=several,
            label=f"{task.name}.{found.spec.key}" if several else task.name,
        )
        for found in task.targets
    ]


def _queued(store: Store, plan: Plan) -> Job | TaskResult:
    try:
        return queue_plans(store, [plan])[0]
    except BenchwrightError as error:
        return TaskResult(str(plan.label), None, str(error), error.exit_code)


def _task_result(ended: Ended) -> TaskResult:
    name = str(ended.job.label)
    if ended.result is not None:
        return TaskResult(name, ended.result, exit_code=ended.result.exit_code)
    if ended.error is None:
        return TaskResult(name, error="interrupted before it began")
    code = ended.error.exit_code if isinstance(ended.error, BenchwrightError) else 1
    text = (
        str(ended.error)
        if isinstance(ended.error, BenchwrightError)
        else f"{type(ended.error).__name__}: {ended.error}"
    )
    return TaskResult(name, None, text, code)
