"""Load tests: turns target, model and settings into tests that are ready, and performs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from benchwright.config import ConfigFile, LoadOptions, RunOptions
from benchwright.core import RunKind, UsageError, public_url
from benchwright.endpoints import ModelSettings
from benchwright.engine import ChosenModel, Prepared
from benchwright.perf import LoadWatcher, RequestPlan, check_files, check_schedule
from benchwright.runs._jobs import Job, perform_jobs, reporting
from benchwright.runs._load_options import for_model, load_settings, profile_of
from benchwright.runs._load_rows import on_chat_route, rows_for_load
from benchwright.runs._load_scores import check_scoring
from benchwright.runs._load_work import LoadResult, LoadWork, wanted
from benchwright.runs._origins import brought_by, given_in, of_load, with_load, with_origins
from benchwright.runs._run import Plan, Queue, plan_of, queueing, refuse_taken
from benchwright.runs._targets import Target
from benchwright.store import Store


def plan_loads(
    targets: Sequence[Target],
    options: RunOptions,
    load: LoadOptions,
    config: ConfigFile | None,
    *,
    ask_server: bool = True,
) -> list[Plan]:
    """The load tests of targets, one after the other. `ask_server` as for `ChosenModel.of`."""
    several = len(targets) > 1
    return [
        plan_load(each, options, load, config, several=several, ask_server=ask_server) for each in targets
    ]


def plan_load(
    target: Target,
    options: RunOptions,
    load: LoadOptions,
    config: ConfigFile | None,
    *,
    several: bool,
    ask_server: bool = True,
) -> Plan:
    """The options for one target. By default, replies are streamed and not scored."""
    given, load = load, load.over({} if config is None else config.perf)
    effective = load_run_options(options.over(target.defaults), load)
    if several and effective.output_dir is not None:
        effective = replace(effective, output_dir=effective.output_dir / target.spec.key)
    model = ChosenModel.of(effective, config, ask_server=ask_server)
    plan = plan_of(target, effective, model)
    layers = (target.origins or given_in(options), brought_by(target, config, options))
    return replace(
        plan,
        settings=with_load(with_origins(plan.settings, effective, layers, config), given, config),
        load=load,
        route_given=effective.model_type is not None,
        length_given=effective.max_tokens is not None,
    )


def load_run_options(options: RunOptions, load: LoadOptions) -> RunOptions:
    """The options of a run for a load test: each request is sent once, and scored on request."""
    return replace(options, infer_only=not load.score, max_retries=0)


def perform_loads(
    store: Store,
    plans: Sequence[Plan],
    *,
    watcher: LoadWatcher | None = None,
    finished: Callable[[LoadResult], None] | None = None,
) -> list[LoadResult]:
    """Check all tests, then perform them in turn; after Ctrl-C none begins."""
    for plan in plans:
        refuse_taken(plan)
    with queueing(store) as queue:
        jobs = [_queued(build_load(plan), plan, queue) for plan in plans]
    ended = perform_jobs(store, [[job] for job in jobs], watcher=watcher, finished=reporting(finished))
    return [each.result for each in ended if each.result is not None]


def _queued(work: LoadWork, plan: Plan, queue: Queue) -> Job:
    """Put a test on record."""
    settings = {**work.prepared.settings.to_json(), "load": work.settings.to_json()}
    return Job(queue(replace(plan, settings=work.prepared.settings), RunKind.LOAD, settings), work)


def build_load(plan: Plan) -> LoadWork:
    """Read the data and build every request. Nothing is sent or written."""
    assert plan.load is not None  # a load test has both
    assert plan.model is not None
    options, settings = for_model(plan.load, plan.settings, plan.model)
    settings = of_load(settings, options, open_loop=profile_of(options).open_loop)
    if not plan.route_given:
        settings = on_chat_route(plan.spec, settings)
    spec, trace, prompt_lengths, synthetic = rows_for_load(plan.spec, options, settings)
    prepared = Prepared.of(spec, settings)
    if not prepared.asks_a_model:
        raise UsageError(f"{settings.asked}: its responses are in the data, so there is no server to load")
    if options.min_score is not None and not options.score:
        raise UsageError("--min-score needs scores: add --score")
    if options.score and options.synthetic:
        raise UsageError("--score: synthetic prompts have no right answers; give a file")
    if options.score:
        check_scoring(prepared)
    endpoints = _endpoints(settings.endpoint, options.more_urls or ())
    scan, converses = prepared.rows.scan, prepared.spec.converses
    load = load_settings(
        options, settings, rows=scan.rows if converses else scan.requests, concurrency=plan.settings.parallelism,
        length_given=plan.length_given, converses=converses, urls=_urls(endpoints),
    )  # fmt: skip
    if settings.steps is not None:
        settings.steps.check_load(load.workers)
    if load.workers > 1 and prepared.spec.next_turn is not None:
        raise UsageError("--workers: the benchmark's next_turn is a function of this process; leave it out")
    load = replace(load, prompt_lengths=prompt_lengths, synthetic=synthetic)
    check_schedule(load)
    levels = load.levels if load.search is None else (load.search.highest,)
    slots = [load.slots_of(level) for level in levels]
    check_files(load, load.max_concurrency if load.open_loop else max(each or 0 for each in slots))
    requests = RequestPlan.of(
        prepared.rows,
        wanted(load),
        cache_bust=load.cache_bust,
        exact_output=load.exact_output,
        trace=trace,
        turn_mode=load.turn_mode or "every",
    )
    if trace is not None:
        load = replace(load, requests=min(load.requests or len(requests), len(requests)))
    return LoadWork(
        prepared,
        load,
        requests,
        endpoints,
        format=options.format,
        server_metrics=options.server_metrics is not False,
    )


def _endpoints(first: ModelSettings, more: Sequence[str]) -> tuple[ModelSettings, ...]:
    """The server that the model names, and the same model on the others."""
    if more and not first.by_http:
        raise UsageError(
            "--more-urls: the demo model answers in this process; give the first server with --model-url"
        )
    return (first, *(first.at_server(url=url) for url in more))


def _urls(endpoints: Sequence[ModelSettings]) -> tuple[str, ...]:
    """The addresses of the servers for reports; empty if there is only one."""
    if len(endpoints) == 1:
        return ()
    return tuple(public_url(each.url) for each in endpoints)
