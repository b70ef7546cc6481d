"""Turns benchmarks and options into plans, which are checked without a request or become prepared runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec
from benchwright.config import PROFILES, ConfigFile, LoadOptions, RunOptions
from benchwright.core import (
    QUESTIONS,
    BenchwrightError,
    ConfigError,
    JsonObject,
    JsonValue,
    LoadFile,
    RunFile,
    RunKind,
    UsageError,
    artifacts_place,
    expand_home,
    open_artifacts,
)
from benchwright.datasets import hub_commits
from benchwright.endpoints import EndpointSettings
from benchwright.engine import (
    DECIDES,
    Budget,
    ChosenModel,
    Prepared,
    RunSettings,
)
from benchwright.reports import check_report
from benchwright.runs._benchmark_work import BenchmarkWork
from benchwright.runs._jobs import Job
from benchwright.runs._origins import brought_by, given_in, with_origins
from benchwright.runs._questions import system_of
from benchwright.runs._run_files import make_folder
from benchwright.runs._targets import Target
from benchwright.store import RunRecord, Store

if TYPE_CHECKING:
    from benchwright.benchmarks import CheckReport, SamplePrompt
    from benchwright.config import PipelineSettings


def queue_plans(store: Store, plans: Sequence[Plan]) -> list[Job]:
    """Read and check the data of every plan. Nothing is sent; if one cannot run, none stays recorded."""
    for plan in plans:
        refuse_taken(plan)
    with queueing(store) as queue:
        # Recorded before any data is read, because reading may take long, and a run killed meanwhile can be resumed.
        queued = [queue(plan, RunKind.BENCHMARK, plan.settings.to_json()) for plan in plans]
        return [
            Job(run, BenchmarkWork(prepared), label=plan.label)
            for run, plan, prepared in zip(queued, plans, _prepared(plans), strict=True)
        ]


class Queue(Protocol):
    """Puts the run of a plan on record."""

    def __call__(self, plan: Plan, kind: RunKind, settings: JsonObject) -> RunRecord: ...


@contextmanager
def queueing(store: Store) -> Iterator[Queue]:
    """Queue runs inside. If one of them cannot start, none leaves a trace, because nothing was sent."""
    queued: list[RunRecord] = []
    undo: list[Callable[[], None]] = []

    def queue(plan: Plan, kind: RunKind, settings: JsonObject) -> RunRecord:
        asks = plan.spec.response_field is None
        run = store.create_run(
            kind=kind,
            name=plan.settings.benchmark,
            target=plan.settings.asked,
            model=plan.settings.endpoint.model_id if asks else "ready-made responses",
            folder=plan.folder,
            settings=settings,
            manifest={},
            status="queued",
        )
        queued.append(run)
        undo.append(make_folder(run.folder))
        return run

    try:
        yield queue
    except BaseException:
        for run in queued:
            store.remove_run(run.id, number_is_free=True)
        for remove_folder in reversed(undo):
            remove_folder()
        raise


def refuse_taken(plan: Plan) -> None:
    """Raise for a folder with the files of another run, because it would get the files of both."""
    if plan.folder is None or plan.overwrite:
        return
    files = open_artifacts(plan.folder)
    there = [name for name in dict.fromkeys((*RunFile, *LoadFile)) if files.exists(name)]
    if there:
        raise UsageError(
            f"{plan.folder} contains the files of another run ({', '.join(there)}); nothing was sent. Choose another "
            "--output-dir, or replace them with --overwrite"
        )


def _prepared(plans: Sequence[Plan]) -> list[Prepared]:
    """Prepare every plan, or raise one error that lists all problems, each once."""
    ready: list[Prepared] = []
    last: dict[int, Prepared] = {}
    wrong: dict[str, tuple[BenchwrightError, list[str]]] = {}
    for plan in plans:
        known = last.get(id(plan.spec))  # several models share one pass over the rows of a benchmark
        try:
            prepared = None if known is None else known.like(plan.settings)
            if prepared is None:
                with hub_commits(plan.commits):
                    prepared = Prepared.of(plan.spec, plan.settings)
            last[id(plan.spec)] = prepared
            ready.append(prepared)
        except BenchwrightError as error:
            wrong.setdefault(str(error), (error, []))[1].append(plan.label or plan.settings.benchmark)
    if len(wrong) == 1 and not ready:
        raise next(iter(wrong.values()))[0]
    if wrong:
        texts = [f"{', '.join(labels)}: {error}" for error, labels in wrong.values()]
        raise UsageError("\n".join([*texts, "Nothing was sent to any model."]))
    return ready


def _load_notes(model: ChosenModel) -> tuple[str, ...]:
    return (
        ("the model's request_rate, traffic_cfg and use_timestamp are for load tests alone",)
        if model.load
        else ()
    )


def run_settings(target: Target, options: RunOptions, model: ChosenModel) -> RunSettings:
    """Turn the options of one run into its settings."""
    repeats = options.repeats or model.repeats
    values = recorded_options(options, repeats or 1) | {
        "repeats": repeats,
        "system": system_of(
            options,
            target.spec,
            model.system,
            target.spec.base_dir if target.definition["kind"] == QUESTIONS else None,
        ),
        "input": target.input,
        "model_type": model.model_type,
        "model_notes": (*model.notes, *_load_notes(model)),
        "variables": dict(target.variables) or None,
        "parallelism": model.parallelism,
        "model_name": _demo_name(options, model),
        # A recorded address overrides a model that the file names, but not a profile.
        "configured": tuple(n for n, v in target.defaults.items() if n != "model" or v in PROFILES) or None,
    }
    if options.cache is None:
        values["cache"] = uses_cache(None)
    if model.pipeline:
        values |= _pipeline_values(model.pipeline, options.cache)
        values["model_notes"] = (*values["model_notes"], *model.pipeline.notes)
    if not model.endpoint.reusable:
        values["cache"] = False
    return RunSettings(
        asked=target.written,
        definition=target.definition,
        cwd=str(Path.cwd()),
        benchmark=target.spec.key,
        eval_type=target.spec.eval_type,
        endpoint=model.endpoint,
        generation=model.generation,
        **{name: value for name, value in values.items() if value is not None},
    )


def _demo_name(options: RunOptions, model: ChosenModel) -> str | None:
    """The name of a demo model that differs from the usual one: all of them have the id `demo`. None: the id says which model it is."""
    if model.endpoint.kind != "demo":
        return None
    if options.model not in (None, model.endpoint.model_id):
        return options.model
    skill = options.demo_skill
    return None if skill is None else f"{model.endpoint.model_id} (skill {skill:g})"


def uses_cache(chosen: bool | None) -> bool:
    """Whether replies of earlier runs may be reused: as chosen; otherwise they are, except in CI, where a run must show how the
    server answers now."""
    if chosen is not None:
        return chosen
    return os.environ.get("CI", "").strip().lower() in ("", "0", "false")


def _pipeline_values(pipeline: PipelineSettings, cache: bool | None) -> dict[str, Any]:
    """The settings of a run that its pipeline decides."""
    from benchwright.config import Caching

    values: dict[str, Any] = {"steps": pipeline, "changing_steps": pipeline.changing or None}
    caching: Caching | None = pipeline.find(Caching)
    wanted = None if caching is None else caching.reuse_cached_responses
    if wanted is not None and cache not in (None, wanted):
        flag = "--cache" if cache else "--no-cache"
        raise UsageError(f"{flag}, and the pipeline says otherwise (use_caching); leave one of them out")
    return values if wanted is None else {**values, "cache": wanted}


def judge_retries(chosen: int | None) -> int | None:
    """The further attempts of judges without a number of their own: those that the user chose for the run. The default, which
    records of runs hold too, is not a choice."""
    return None if chosen == EndpointSettings.usual_retries else chosen


def recorded_options(options: RunOptions, repeats: int) -> dict[str, Any]:
    """The given options that are settings of a run under the same names, in recorded form."""
    return {name: value for name, value in options.given().items() if name in DECIDES} | {
        "dataset": absolute_dataset(options.dataset),
        "filters": filter_pairs(options.filters),
        "judge_retries": judge_retries(options.max_retries),
        "pass_k": pass_k_of(options.pass_k, repeats),
        "reports": checked_reports(options.reports),
        "trackers": checked_trackers(options.trackers),
        "output_dir": None if options.output_dir is None else str(options.output_dir),
        "budget": Budget(
            options.max_requests, options.max_tokens_total, options.max_minutes, options.max_cost
        ),
        "prices": None if options.prices is None else str(expand_home(options.prices).resolve()),
    }


class Plan(Struct, frozen=True):
    """One requested run, before anything is read."""

    spec: BenchmarkSpec
    """The benchmark."""
    settings: RunSettings
    """Everything that decides its results."""
    folder: Path | None
    """Where the user wants its files."""
    label: str | None = None
    """Its name for watchers; None: the benchmark's name."""
    commits: JsonValue = None
    """Commits of hub datasets from an earlier run."""
    overwrite: bool = False
    """Whether another run's files in that folder may be replaced."""
    model: ChosenModel | None = None
    """The model as its table describes it, for load tests; None: replies are scored again."""
    load: LoadOptions | None = None
    """The load of a load test; None: a benchmark's run."""
    route_given: bool = False
    """Whether the user gave the model type of a load test; else it comes from the profile."""
    length_given: bool = True
    """Whether the user gave `max_tokens` of a load test; else it is the default limit, not an expected length."""


def planned(
    target: Target,
    options: RunOptions,
    config: ConfigFile | None,
    *,
    several: bool,
    scripted: bool = False,
    label: str | None = None,
) -> Plan:
    """Plan the run of one target. `several`: it gets a subfolder of the given folder. `scripted`: an object answers."""
    effective = options.over(target.defaults)
    if several and effective.output_dir is not None:
        effective = replace(effective, output_dir=effective.output_dir / target.spec.key)
    model = ChosenModel.scripted(effective) if scripted else ChosenModel.of(effective, config)
    plan = plan_of(target, effective, model, label)
    # A run configuration explains all options that its user gave; the program adds others.
    layers = (target.origins or given_in(options), brought_by(target, config, options))
    return replace(plan, settings=with_origins(plan.settings, effective, layers, config))


def plan_of(target: Target, effective: RunOptions, model: ChosenModel, label: str | None = None) -> Plan:
    """Plan one run of a target, with its options and its model."""
    place = effective.output_dir
    return Plan(
        spec=target.spec,
        settings=run_settings(target, effective, model),
        folder=None if place is None else artifacts_place(place),
        overwrite=bool(effective.overwrite),
        model=model,
        label=label,
    )


def checked_reports(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Load the named reports, so that a wrong name is refused before anything is sent."""
    for name in names or ():
        check_report(name)
    return tuple(names or ()) or None


def checked_trackers(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Load the named trackers with their libraries, so that a missing one is refused before anything is sent."""
    if not names:
        return None
    from benchwright.reports import Tracking

    for name in names:
        Tracking.find(name)
    return tuple(names)


def absolute_dataset(dataset: str | None) -> str | None:
    """Make a path of the command line absolute, because a resumed run may start in another folder."""
    if dataset is None or "://" in dataset:
        return dataset
    return str(expand_home(dataset).resolve())


def pass_k_of(each_k: Sequence[int] | None, repeats: int) -> tuple[int, ...] | None:
    """Each k of `pass@k`, checked, in order. Replies are drawn from all repeats."""
    for k in each_k or ():
        if not 0 < k <= repeats:
            raise UsageError(
                f"--pass-k is {k}, and each row is sent {repeats} {'time' if repeats == 1 else 'times'}; expected 1 to {repeats}. Send more: --repeats {max(k, 1)}"
            )
    return tuple(sorted(set(each_k))) if each_k else None


def filter_pairs(written: Sequence[str] | None) -> tuple[tuple[str, str], ...] | None:
    """`FIELD=VALUE` texts as pairs."""
    pairs = [text.partition("=") for text in written or ()]
    return tuple((field, value) for field, _, value in pairs) or None


def check_targets(
    targets: Sequence[Target], options: RunOptions, config: ConfigFile | None
) -> list[CheckReport]:
    """One report per benchmark. The options of the model are checked too, without calling it."""
    from benchwright.benchmarks import CheckReport

    reports = []
    for found in targets:
        effective = options.over(found.defaults)
        settings = run_settings(found, effective, ChosenModel.of(effective, config, ask_server=False))
        report = CheckReport.of(found.spec, Prepared.row_settings(found.spec, settings))
        samples, unsendable = samples_as_sent(report.samples, settings)
        report = with_problems(report, [*Prepared.problems(found.spec, settings), *unsendable])
        report = replace(with_steps(report, settings), samples=samples)
        reports.append(with_cost(report, found.spec, settings))
    return reports


def samples_as_sent(
    samples: Sequence[SamplePrompt], settings: RunSettings
) -> tuple[tuple[SamplePrompt, ...], list[str]]:
    """The rendered rows with their requests as the server gets them, and why some cannot be sent to it."""
    from benchwright.endpoints import UnsendableRequestError  # not for runs

    found, reasons = [], []
    for sample in samples:
        try:
            requests = tuple(map(settings.endpoint.as_sent, sample.requests))
        except UnsendableRequestError as error:
            requests = ()
            reasons.append(str(error))
        found.append(replace(sample, requests=requests))
    return tuple(found), reasons


def with_steps(report: CheckReport, settings: RunSettings) -> CheckReport:
    """The report with a warning about steps of a pipeline that change the requests."""
    names = [str(step["name"]) for step in settings.changing_steps or ()]
    if not names:
        return report
    said = f"requests and replies pass steps that change them, which the prompts here do not show: {', '.join(names)}"
    return replace(report, warnings=(*report.warnings, said))


def with_cost(report: CheckReport, spec: BenchmarkSpec, settings: RunSettings) -> CheckReport:
    """The report with the approximate cost of the run, if a price is known. An unreadable file of prices, and settings that
    the benchmark does not take, are already among its errors."""
    from benchwright.engine import estimated_cost  # not for runs

    try:
        requested = Prepared.row_settings(spec, settings).applied_to(spec)
        cost = estimated_cost(requested, settings, report)
    except (ConfigError, UsageError):
        return report
    return report if cost is None else replace(report, cost=cost)


def with_problems(report: CheckReport, problems: Sequence[str]) -> CheckReport:
    """The report with further problems that would keep the run from starting, such as a key that is not set."""
    errors = tuple(dict.fromkeys([*report.errors, *problems]))
    return report if errors == report.errors else replace(report, errors=errors)
