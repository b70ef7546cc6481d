"""Runs several tasks with different options, one after the other or at once. A failed task does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from benchwright.benchmarks import AskableRows
from benchwright.config import ConfigFile, RunOptions, exported
from benchwright.core import BenchwrightError
from benchwright.engine import ChosenModel, Prepared, Watcher
from benchwright.runs._jobs import Ended, Job, perform_jobs
from benchwright.runs._run import Plan, planned, queue_plans, run_settings
from benchwright.runs._session import Session
from benchwright.runs._targets import Target
from benchwright.store import Store

if TYPE_CHECKING:
    from benchwright.runs._run_config import ConfiguredRun


def run_tasks(
    session: Session,
    runs: Sequence[ConfiguredRun],
    *,
    at_once: int = 1,
    watcher: Watcher | None = None,
    finished: Callable[[Ended], None] | None = None,
) -> list[Ended]:
    """Run all configurations, up to `at_once` at a time; `finished` is called after each benchmark.

    All are planned first, so that wrong options raise before anything is sent. Unreadable data fail their own run.
    """
    plans: list[tuple[Plan, Mapping[str, str]]] = []
    for run in runs:
        variables = run.config.variables
        with exported(variables):
            plans += [(plan, variables) for plan in _plans(run, session.config)]
    results: dict[str, Ended] = {}

    def end(task: Ended) -> None:
        results[task.label] = task
        if finished is not None:
            finished(task)

    store = session.store
    jobs: list[Job] = []
    for plan, variables in plans:
        with exported(variables):
            job = _queued(store, plan)
        if isinstance(job, Ended):
            end(job)
        else:
            jobs.append(replace(job, variables=variables))
    ended = perform_jobs(
        store, [[job] for job in jobs],
        at_once=at_once, go_on=True, watcher=watcher, finished=end,
    )  # fmt: skip
    for each in ended:
        results.setdefault(each.label, each)
    return [results[str(plan.label)] for plan, _ in plans]


def count_rows(target: Target, options: RunOptions, config: ConfigFile | None) -> int:
    """How many rows a run without a limit evaluates. Reads the data, and sends nothing."""
    effective = options.over(target.defaults)
    settings = run_settings(target, effective, ChosenModel.of(effective, config, ask_server=False))
    return AskableRows.of(target.spec, Prepared.row_settings(target.spec, settings)).scan.rows


def _plans(run: ConfiguredRun, config: ConfigFile | None) -> list[Plan]:
    several = len(run.found) > 1
    return [
        planned(
            found,
            run.options,
            config,
            several=several,
            label=f"{run.name}.{found.spec.key}" if several else run.name,
        )
        for found in run.found
    ]


def _queued(store: Store, plan: Plan) -> Job | Ended:
    try:
        return queue_plans(store, [plan])[0]
    except BenchwrightError as error:
        return Ended(str(plan.label), None, error=error)
