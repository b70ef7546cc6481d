"""From pairs to jobs that are ready, and from jobs to results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import Struct
from msgspec.structs import replace as replace_struct

from benchwright.config import RESUME_OVERRIDES, RunOptions, SuiteOptions
from benchwright.core import NotFoundError
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import RunSettings, Watcher
from benchwright.runs import (
    Ended,
    Job,
    claimed,
    fitting,
    forget_failures,
    leave,
    perform_jobs,
    queue_plans,
    refuse_unheard,
    rescore_plan,
)
from benchwright.store import RunRecord, Store
from benchwright.suites._pair_tasks import PairTask, asked_run, named_by, refuse_other, rescored
from benchwright.suites._result import PairResult, failed_pair

Finished = Callable[[PairResult], None]
"""Called with every pair when it ends."""


class Task(Struct, frozen=True):
    """A pair with its job."""

    pair: PairTask
    """The pair."""
    job: Job
    """Its run, ready to be performed."""


def asking_tasks(store: Store, pairs: Sequence[PairTask], options: RunOptions) -> list[Task]:
    """Jobs that send requests: new runs, and runs of a work folder that resume. Finished rows are kept, failed ones sent
    again. Nothing was sent yet; if one pair is impossible, all stays as it was."""
    known = [each for each in pairs if each.run_id is not None]
    jobs: dict[int, Job] = {}
    try:
        for each in known:
            jobs[id(each)] = _resumed(store, each, options)
        new = [each for each in pairs if each.run_id is None]
        plans = [each.plan for each in new if each.plan is not None]
        for each, job in zip(new, queue_plans(store, plans), strict=True):
            jobs[id(each)] = job
    except BaseException:
        for job in jobs.values():
            leave(store, job, job.run.error)
        raise
    for each in known:
        forget_failures(store, jobs[id(each)].run.id)
    return [Task(each, jobs[id(each)]) for each in pairs]


def scoring_tasks(store: Store, pairs: Sequence[PairTask], options: RunOptions) -> list[Task]:
    """Jobs that score recorded replies, each as a new run. No model is called."""
    missing = [each.label for each in pairs if each.run_id is None]
    if missing:
        raise NotFoundError(
            f"the work folder has no replies of {', '.join(missing)}; ask first: --mode infer, or --mode all"
        )
    plans = []
    recorded = [store.run(each.run_id or 0) for each in pairs if each.plan is None]
    if len(recorded) > 1:
        refuse_unheard(options, map(_family, recorded))
    for each in pairs:
        source = asked_run(store, each.run_id or 0)
        if each.plan is None:
            # By the rules of the run that the folder has; the replies are those of the run that asked.
            run = store.run(each.run_id or 0)
            own = fitting(options, _family(run)) if len(recorded) > 1 else options
            again = rescore_plan(run, options=own, label=each.label)
            plans.append(rescored(again, source, each.label))
        else:
            plan = named_by(source, each.plan)
            refuse_other(replace_struct(each, plan=plan), source, scoring=False)
            plans.append(rescored(plan, source, each.label))
    return [Task(each, job) for each, job in zip(pairs, queue_plans(store, plans), strict=True)]


def _family(run: RunRecord) -> str:
    """`mcq` or `qa` for a run of a question file; something else for others."""
    if run.settings.get("questions") is None:
        return ""
    return str(run.settings.get("eval_type", "")).partition(".")[0]


def scored_later(store: Store, each: PairTask) -> bool:
    """Whether the pair's replies and scores are runs of their own, so that resuming means scoring again, too."""
    if each.run_id is None:
        return False
    return asked_run(store, each.run_id).id != each.run_id or _infers(store, each.run_id)


def perform_tasks(
    store: Store,
    tasks: Sequence[Task],
    how: SuiteOptions,
    *,
    watcher: Watcher | None,
    finished: Finished | None,
    endpoint: OpenEndpoint | None,
) -> list[PairResult]:
    """Perform all, a failing one without stopping the others."""
    pairs = {task.job.run.id: task.pair for task in tasks}
    lanes: dict[object, list[Job]] = {}
    for task in tasks:
        lanes.setdefault(task.pair.model if how.merge_ds else task.job.run.id, []).append(task.job)

    def report(ended: Ended) -> None:
        if finished is not None:
            finished(_pair(pairs[ended.job.run.id], ended))

    ended = perform_jobs(
        store,
        list(lanes.values()),
        at_once=how.max_num_workers or 1,
        go_on=True,
        watcher=watcher,
        finished=report,
        endpoint=endpoint,
    )
    results = {each.job.run.id: _pair(pairs[each.job.run.id], each) for each in ended}
    return [results[task.job.run.id] for task in tasks]


def _resumed(store: Store, each: PairTask, options: RunOptions) -> Job:
    run = asked_run(store, each.run_id or 0)
    refuse_other(each, run, scoring=run.id == each.run_id and not _infers(store, run.id))
    overrides = {name: getattr(options, name) for name in RESUME_OVERRIDES}
    job = claimed(store, run, overrides=overrides, label=each.label)
    return replace_struct(job, run=replace(job.run, error=run.error))


def _infers(store: Store, run_id: int) -> bool:
    return RunSettings.from_json(store.run(run_id).settings).infer_only


def _pair(pair: PairTask, ended: Ended) -> PairResult:
    run_id = ended.job.run.id
    if ended.result is None:
        return failed_pair(pair.model, pair.dataset, run_id, ended.error)
    return PairResult(pair.model, pair.dataset, run_id, ended.result, exit_code=ended.result.exit_code)
