"""Match pairs with the runs that a work folder already has, turn pairs into jobs, and jobs into results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from msgspec.structs import replace

from benchwright.benchmarks import QuestionOptions
from benchwright.config import HARMLESS, RESUME_OVERRIDES, RunOptions, SuiteOptions
from benchwright.core import (
    QUESTIONS,
    JsonObject,
    NotFoundError,
    RunKind,
    UsageError,
    canonical_json,
    defined_settings,
    suggest,
)
from benchwright.endpoints import OpenEndpoint
from benchwright.engine import ChosenModel, RunSettings, Watcher
from benchwright.results import WorkTask
from benchwright.runs._jobs import Ended, Job, leave, perform_jobs
from benchwright.runs._questions import fitting, refuse_unheard
from benchwright.runs._resume import claimed, rescore_plan
from benchwright.runs._run import Plan, queue_plans
from benchwright.runs._suites.pairs import PairTask
from benchwright.runs._suites.result import PairResult
from benchwright.store import RunRecord, Store

Finished = Callable[[PairResult], None]
"""Called with every pair when it ends."""
PairJob = tuple[PairTask, Job]
"""A pair, and its run, ready to be performed."""


def with_known(
    pairs: Sequence[PairTask] | None, known: Sequence[WorkTask], models: Sequence[str]
) -> list[PairTask]:
    """Return the pairs with their runs in a work folder; if no pairs are given, all of its runs (of these models)."""
    runs = {(task.model, task.dataset): task.run_id for task in known}
    if pairs is not None:
        return [replace(pair, run_id=runs.get((pair.model, pair.dataset))) for pair in pairs]
    there = list(dict.fromkeys(task.model for task in known))
    for name in models:
        if name not in there:
            raise NotFoundError(
                f"the work folder has no run of {name!r}.{suggest(name, there)} It has: {', '.join(there)}"
            )
    return [
        PairTask(task.model, task.dataset, None, task.run_id)
        for task in known
        if not models or task.model in models
    ]


def with_newest(store: Store, pairs: Sequence[PairTask], *, any_model: bool) -> list[PairTask] | None:
    """Return the pairs with the newest run of each in the workspace; None if one has none. With `any_model`, the model and the
    rules are those of the run."""
    found = []
    runs = [run for run in store.runs() if run.kind == RunKind.BENCHMARK]
    for pair in pairs:
        now = pair.planned.settings
        same = [
            run
            for run in runs
            if run.name == now.benchmark and _file_of(run.settings) == _file_of(now.to_json())
        ]
        fitting_model = [run for run in same if run.model == now.endpoint.model_id]
        newest = next(iter(same if any_model else fitting_model or same), None)
        if newest is None:
            return None
        found.append(
            PairTask(newest.model, pair.dataset, None, newest.id)
            if any_model
            else replace(pair, run_id=newest.id)
        )
    return found


def _file_of(settings: Mapping[str, Any]) -> str:
    """The file of a benchmark, wherever the run was started."""
    definition = settings["definition"]
    place = str(definition["target"]).partition(":")[0]
    return str(Path(str(definition.get("folder", settings["cwd"])), place).resolve())


def source_run(store: Store, run_id: int) -> RunRecord:
    """Return the run that sent the requests; a run that only scored replies refers back to it."""
    run = store.run(run_id)
    while (source := run.settings.get("rescored_from")) is not None:
        run = store.run(int(str(source)))
    return run


def refuse_other(pair: PairTask, run: RunRecord, *, scoring: bool) -> None:
    """Raise UsageError unless the run made the same requests and, unless it is rescored, used the same scoring rules."""
    if pair.plan is None:
        return
    changes = _changes(RunSettings.from_json(run.settings), pair.plan.settings, scoring=scoring)
    if changes:
        again = "" if not scoring else ", or score its replies by other rules with --mode eval --reuse"
        raise UsageError(
            f"--reuse: run {run.id} ({pair.label}) is another experiment: {'; '.join(changes)}. "
            f"Leave --reuse off for a new run{again}"
        )


def named_by(source: RunRecord, plan: Plan) -> Plan:
    """Return the plan with the model of `source` if the plan leaves the model's name to the server."""
    settings = plan.settings
    if settings.endpoint.model_id != ChosenModel.unnamed:
        return plan
    name = RunSettings.from_json(source.settings).endpoint.model_id
    endpoint = replace(settings.endpoint, model_id=name)
    generation = settings.generation.but(model=name)
    return replace(plan, settings=replace(settings, endpoint=endpoint, generation=generation))


def rescored(plan: Plan, source: RunRecord, label: str) -> Plan:
    """Return the plan of a run that scores the replies of `source` by the rules of `plan`."""
    settings = replace(plan.settings, rescored_from=source.id, infer_only=False, num_warmups=0)
    return replace(plan, settings=settings, label=label)


def _changes(before: RunSettings, now: RunSettings, *, scoring: bool) -> list[str]:
    """List the settings that differ, except those known not to matter. Replies that are rescored are found by their
    requests, so rows and the rules of a file of questions may then differ."""
    old, new = _by_name(before, scoring), _by_name(now, scoring)
    return [
        f"{place[1]} was {_shown(old.get(place))}, is {_shown(new.get(place))} now"
        for place in dict.fromkeys([*old, *new])
        if old.get(place) != new.get(place)
    ]


def _by_name(settings: RunSettings, scoring: bool) -> dict[tuple[str, str], Any]:
    """Return the settings that are set, as plain JSON values by group and name. The endpoint is its fingerprint: all spellings
    of one address are equal, and timeouts change no reply. A setting that a newer version added has its default
    in older records."""
    if scoring:
        values = settings.deciding(*HARMLESS, "scores")
    else:
        values = settings.deciding(*HARMLESS, "scores", "rows", "questions", "summary", "source")
    groups = {
        "generation": {**values.pop("generation").to_json(), "model": values.pop("endpoint").fingerprint()}
    }
    values.pop("definition", None)
    groups["definition"] = _defined(settings.definition, scoring)
    plain: dict[str, dict[str, Any]] = orjson.loads(canonical_json({**groups, "": values}))
    return {
        (group, name): value
        for group, named in plain.items()
        for name, value in named.items()
        if value not in (None, "", [], {})
    }


def _shown(value: Any) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def sending_tasks(store: Store, pairs: Sequence[PairTask], options: RunOptions) -> list[PairJob]:
    """Prepare jobs that send requests: new runs, and runs of a work folder to resume. Finished rows are kept, failed rows sent
    again. Nothing is sent yet; if one pair cannot run, no run is changed."""
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
    return [(each, jobs[id(each)]) for each in pairs]


def scoring_tasks(store: Store, pairs: Sequence[PairTask], options: RunOptions) -> list[PairJob]:
    """Prepare jobs that score recorded replies, each as a new run. The evaluated model is not called."""
    missing = [each.label for each in pairs if each.run_id is None]
    if missing:
        raise NotFoundError(
            f"the work folder has no replies of {', '.join(missing)}; get them first: --mode infer, or --mode all"
        )
    plans = []
    recorded = [store.run(each.run_id or 0) for each in pairs if each.plan is None]
    if len(recorded) > 1:
        refuse_unheard(options, map(_family, recorded))
    for each in pairs:
        source = source_run(store, each.run_id or 0)
        if each.plan is None:
            # The rules come from the folder's run, the replies from the run that sent the requests.
            run = store.run(each.run_id or 0)
            own = fitting(options, _family(run)) if len(recorded) > 1 else options
            again = rescore_plan(run, options=own, label=each.label)
            plans.append(rescored(again, source, each.label))
        else:
            plan = named_by(source, each.plan)
            refuse_other(replace(each, plan=plan), source, scoring=False)
            plans.append(rescored(plan, source, each.label))
    return list(zip(pairs, queue_plans(store, plans), strict=True))


def _defined(definition: JsonObject, rules: bool) -> JsonObject:
    """Where the benchmark is loaded from and, with `rules`, what was chosen about rows, prompts and scores."""
    found: JsonObject = {"target": definition.get("target")}
    if not rules:
        return found
    chosen: Any = definition.get("settings")
    if definition["kind"] == QUESTIONS:
        chosen = QuestionOptions.from_json(chosen).to_json()
        del chosen["name"]
    if not Path(str(definition.get("target"))).is_absolute():
        found["folder"] = definition.get("folder")
    return {**chosen, **found}


def _family(run: RunRecord) -> str:
    """Return `mcq` or `qa` for a run of a question file, another text for other runs."""
    if defined_settings(run.settings, QUESTIONS) is None:
        return ""
    return str(run.settings.get("eval_type", "")).partition(".")[0]


def scored_later(store: Store, each: PairTask) -> bool:
    """Whether replies and scores are separate runs, so that resuming also means scoring again."""
    if each.run_id is None:
        return False
    return source_run(store, each.run_id).id != each.run_id or _infers(store, each.run_id)


def perform_tasks(
    store: Store,
    jobs: Sequence[PairJob],
    how: SuiteOptions,
    *,
    watcher: Watcher | None,
    finished: Finished | None,
    endpoint: OpenEndpoint | None,
) -> list[PairResult]:
    """Perform all jobs; one that fails does not stop the others."""
    pairs = {job.run.id: pair for pair, job in jobs}
    lanes: dict[object, list[Job]] = {}
    for pair, job in jobs:
        lanes.setdefault(pair.model if how.merge_ds else job.run.id, []).append(job)

    def result(ended: Ended) -> PairResult:
        run_id = ended.run_id or 0
        pair = pairs[run_id]
        return PairResult(
            pair.model, pair.dataset, run_id, ended.result, ended.problem, exit_code=ended.exit_code
        )

    def report(ended: Ended) -> None:
        if finished is not None:
            finished(result(ended))

    ended = perform_jobs(
        store,
        list(lanes.values()),
        at_once=how.max_num_workers or 1,
        go_on=True,
        watcher=watcher,
        finished=report,
        endpoint=endpoint,
    )
    results = {each.run_id: result(each) for each in ended}
    return [results[job.run.id] for _, job in jobs]


def _resumed(store: Store, each: PairTask, options: RunOptions) -> Job:
    run = source_run(store, each.run_id or 0)
    refuse_other(each, run, scoring=run.id == each.run_id and not _infers(store, run.id))
    overrides = {name: getattr(options, name) for name in RESUME_OVERRIDES}
    job = claimed(store, run, retry_failed=True, overrides=overrides, label=each.label)
    return replace(job, run=replace(job.run, error=run.error))


def _infers(store: Store, run_id: int) -> bool:
    return RunSettings.from_json(store.run(run_id).settings).infer_only
