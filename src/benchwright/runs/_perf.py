"""Performs load tests: turns target, model and settings into a recorded test and its result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from benchwright.config import ConfigFile, LoadOptions, RunOptions
from benchwright.core import (
    HidesFields,
    JsonObject,
    JsonValue,
    LoadFile,
    RunFile,
    RunStatus,
    StepValues,
    UsageError,
    open_artifacts,
    public_url,
)
from benchwright.endpoints import ModelSettings
from benchwright.engine import InterruptedRunError, Prepared, RunGroup, choose_model, in_event_loop, prepare
from benchwright.perf import (
    BatchThread,
    Crew,
    Journals,
    LoadProgress,
    LoadSettings,
    LoadTest,
    LoadWatcher,
    RequestPlan,
    RequestRecord,
    ServerWatch,
    StoreSink,
    build_plan,
    check_files,
    check_schedule,
    open_crew,
    recorded_requests,
    recorded_stages,
    request_step,
    slots_of,
    stage_step,
    without_secrets,
)
from benchwright.runs._jobs import owned
from benchwright.runs._load_cost import load_cost
from benchwright.runs._load_options import for_model, load_settings
from benchwright.runs._load_rows import on_chat_route, rows_for_load
from benchwright.runs._load_scores import check_scoring, score_replies
from benchwright.runs._run import Plan, plan_of, refuse_taken
from benchwright.runs._run_files import make_folder, owned_folder
from benchwright.runs._targets import Target
from benchwright.store import HEARTBEAT_S, RunRecord, Store, StoreError

if TYPE_CHECKING:  # figures and reports are loaded after the last request, so that nothing delays the first
    from benchwright.perf import LoadSummary
    from benchwright.results import LoadView

_SHOW_EVERY_S = 0.25
"""Seconds between two updates of a watcher."""


class LoadResult(HidesFields, Struct, frozen=True):
    """One load test that has ended."""

    hidden = ("view",)

    run_id: int
    """Number in the workspace; `benchwright show` takes it."""
    name: str
    """Name of the data or the benchmark."""
    model: str
    """Model id."""
    status: RunStatus
    """completed, failed or interrupted."""
    folder: Path
    """Where its files are."""
    summary: LoadSummary
    """The figures."""
    exit_code: int
    """The exit code of the command: 0 done, 1 failed, 3 not comparable, 130 interrupted."""
    stopped_because: str
    """Why the test stopped early; empty if it did not."""
    view: LoadView
    """The test as reports show it."""
    report_problems: tuple[str, ...] = ()
    """Errors of trackers."""

    def __str__(self) -> str:
        """One line: the target, the model and the main figures."""
        counted = f"{self.summary.sent} requests, {self.summary.failed} failed"
        return f"load test {self.run_id} {self.name} on {self.model}: {counted} ({self.status})"

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        from benchwright.reports import load_table, notebook_html  # terminals do not need it

        return notebook_html(load_table(self.view))

    def to_json(self) -> JsonObject:
        """As `--json` prints it."""
        problems: list[JsonValue] = [*self.report_problems]
        return {**self.view.to_json(), "report_problems": problems, "exit_code": self.exit_code}


class LoadPlan(Struct, frozen=True):
    """One requested load test, before anything is read or sent."""

    plan: Plan
    """Benchmark, model and files, as for a run."""
    options: LoadOptions
    """The load."""
    concurrency: int
    """The default number of requests in flight."""
    route_given: bool = False
    """Whether the user gave the model type; else it comes from the profile."""
    length_given: bool = True
    """Whether the user gave `max_tokens`; else it is the default limit, not an expected length."""


class BuiltLoad(Struct, frozen=True):
    """One load test whose data were read and whose requests were built."""

    prepared: Prepared
    load: LoadSettings
    requests: RequestPlan
    endpoints: tuple[ModelSettings, ...]
    """The servers, which get requests in turn."""
    options: LoadOptions
    """As they hold for the model."""


class _Ready(Struct, frozen=True):
    run: RunRecord
    prepared: Prepared
    settings: LoadSettings
    requests: RequestPlan
    endpoints: tuple[ModelSettings, ...]
    format: str | None
    server_metrics: bool


def plan_loads(
    targets: Sequence[Target],
    options: RunOptions,
    load: LoadOptions,
    config: ConfigFile | None,
    *,
    ask_server: bool = True,
) -> list[LoadPlan]:
    """The load tests of targets, one after the other. `ask_server` as for `choose_model`."""
    several = len(targets) > 1
    load = load.over({} if config is None else config.perf)
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
) -> LoadPlan:
    """The options for one target. By default, replies are streamed and not scored."""
    effective = load_run_options(options.over(target.defaults), load)
    if several and effective.output_dir is not None:
        effective = replace(effective, output_dir=effective.output_dir / target.spec.key)
    model = choose_model(effective, config, ask_server=ask_server)
    length_given = effective.max_tokens is not None
    route_given = effective.model_type is not None
    return LoadPlan(plan_of(target, effective, model), load, model.parallelism, route_given, length_given)


def load_run_options(options: RunOptions, load: LoadOptions) -> RunOptions:
    """The options of a run for a load test: each request is sent once, and scored on request."""
    return replace(options, infer_only=not load.score, max_retries=0)


def perform_loads(
    store: Store,
    plans: Sequence[LoadPlan],
    *,
    watcher: LoadWatcher | None = None,
    finished: Callable[[LoadResult], None] | None = None,
) -> list[LoadResult]:
    """Check all tests, then perform them in turn; after Ctrl-C none begins."""
    for plan in plans:
        refuse_taken(plan.plan)
    results: list[LoadResult] = []
    waiting: list[_Ready] = []
    try:
        waiting.extend(_prepared(store, plan) for plan in plans)
        while waiting and not (results and results[-1].exit_code == 130):
            with owned_folder(waiting[0].run.folder):  # one that is refused has not begun
                result = _recorded(store, waiting.pop(0), watcher)
            results.append(result)
            if finished is not None:
                finished(result)
    finally:  # what never began leaves no trace
        with suppress(StoreError):
            for ready in waiting:
                store.remove_run(ready.run.id, number_is_free=True)
    return results


def _recorded(store: Store, ready: _Ready, watcher: LoadWatcher | None) -> LoadResult:
    """Do one test. It does not stay `running`, whatever happens."""
    with owned(store, ready.run, "failed"):
        # Of a test that had the folder before: this one may be killed before it has any.
        open_artifacts(ready.run.folder).remove(*RunFile, *LoadFile)
        try:
            return _perform(store, ready, watcher)
        except StoreError as error:
            raise error.for_load_test(ready.run.id) from error


def build_load(plan: LoadPlan) -> BuiltLoad:
    """Read the data and build every request. Nothing is sent or written."""
    settings = plan.plan.settings
    assert plan.plan.model is not None  # a load test has a model
    options, settings = for_model(plan.options, settings, plan.plan.model)
    if not plan.route_given:
        settings = on_chat_route(plan.plan.spec, settings)
    rows = rows_for_load(plan.plan.spec, options, settings)
    prepared = prepare(rows.spec, settings)
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
        options, settings, rows=scan.rows if converses else scan.requests, concurrency=plan.concurrency,
        length_given=plan.length_given, converses=converses, urls=_urls(endpoints),
    )  # fmt: skip
    if settings.steps is not None:
        settings.steps.check_load(load.workers)
    if load.workers > 1 and prepared.spec.next_turn is not None:
        raise UsageError("--workers: the benchmark's next_turn is a function of this process; leave it out")
    load = replace(load, prompt_lengths=rows.prompt_lengths, synthetic=rows.synthetic)
    check_schedule(load)
    levels = load.levels if load.search is None else (load.search.highest,)
    slots = [slots_of(load, level) for level in levels]
    check_files(load, load.max_concurrency if load.open_loop else max(each or 0 for each in slots))
    requests = build_plan(
        prepared.rows,
        _wanted(load),
        cache_bust=load.cache_bust,
        exact_output=load.exact_output,
        trace=rows.trace,
        turn_mode=load.turn_mode or "every",
    )
    if rows.trace is not None:
        load = replace(load, requests=min(load.requests or len(requests), len(requests)))
    return BuiltLoad(prepared, load, requests, endpoints, options)


def _prepared(store: Store, plan: LoadPlan) -> _Ready:
    """Build the test, and put it on record."""
    built = build_load(plan)
    settings, load = built.prepared.settings, built.load
    run = store.create_run(
        kind="load",
        name=settings.benchmark,
        target=settings.asked,
        model=settings.endpoint.model_id,
        folder=plan.plan.folder,
        settings={**settings.to_json(), "load": load.to_json()},
        manifest={},
        status="queued",
    )
    try:
        make_folder(run.folder)
    except BaseException:
        store.remove_run(run.id, number_is_free=True)
        raise
    reads_metrics = built.options.server_metrics is not False
    return _Ready(
        run, built.prepared, load, built.requests, built.endpoints, built.options.format, reads_metrics
    )


def _endpoints(first: ModelSettings, more: Sequence[str]) -> tuple[ModelSettings, ...]:
    """The server that the model names, and the same model on the others."""
    if more and not first.by_http:
        raise UsageError(
            "--more-urls: the demo model answers in this process; give the first server with --model-url"
        )
    return (first, *(first.at_server(url=url) for url in more))


def _opened_as(ready: _Ready) -> Sequence[ModelSettings]:
    """The servers, each wrapped in the pipeline of the test."""
    models = ready.endpoints
    pipeline = ready.prepared.settings.steps
    if pipeline is None:
        return models
    from benchwright.endpoints import PipelinedModel

    return [PipelinedModel(each, pipeline, open_artifacts(ready.run.folder)) for each in models]


def _urls(endpoints: Sequence[ModelSettings]) -> tuple[str, ...]:
    """The addresses of the servers for reports; empty if there is only one."""
    if len(endpoints) == 1:
        return ()
    return tuple(public_url(each.url) for each in endpoints)


def _wanted(load: LoadSettings) -> int | None:
    """The most distinct requests that are needed; None if unknown."""
    if load.requests is None or load.search is not None:
        return None
    return load.warmup + len(load.levels) * (load.requests + load.cooldown)


def _perform(store: Store, ready: _Ready, watcher: LoadWatcher | None) -> LoadResult:
    prepared, names = ready.prepared, ready.prepared.settings.trackers
    notes: list[JsonValue] = [*prepared.notes, *prepared.prices.notes(time.time())]
    run = store.start_run(ready.run.id, {**prepared.manifest, "notes": notes})
    if not names:
        return _performed(store, ready, run, watcher)
    from benchwright.runs._tracking import LoadTracking

    tracking = LoadTracking(store, run.id, names, _wanted(ready.settings), watcher)
    try:
        result = _performed(store, ready, run, tracking)
        problems = tracking.finished()
    except BaseException:
        tracking.abandon()
        raise
    if not problems:
        return result
    return replace(result, exit_code=result.exit_code or 1, report_problems=tuple(problems))


def _performed(store: Store, ready: _Ready, run: RunRecord, watcher: LoadWatcher | None) -> LoadResult:
    """Send everything, summarise the results, and write the files."""
    prepared, group = ready.prepared, RunGroup()
    cause = in_event_loop(_load(store, run, ready, group, watcher), group.interrupt)
    if cause == "abort":  # figures and files take seconds; whoever presses Ctrl-C twice does not want to wait
        raise InterruptedRunError(
            f"stopped at once; no files were written. Figures of the requests that had ended: benchwright show {run.id}"
        )
    from benchwright.perf import Requests, summarise
    from benchwright.reports import write_load_files
    from benchwright.results import load_details, low_scores

    if ready.settings.score:
        in_event_loop(score_replies(store, run.id, ready.prepared, group), group.interrupt)
    requests = Requests.of(recorded_requests(store, run.id))
    stages = recorded_stages(store, run.id)
    summary = summarise(requests, ready.settings, stages, partial=cause is not None)
    summary = replace(summary, cost=load_cost(requests, prepared.prices.model))
    status, code = ended_as(summary, cause)
    if code in (0, 3) and low_scores(summary, ready.settings):
        code = 1
    why = _WHY.get(cause or "", "")
    if status == "failed":
        why = why or "every request failed"
    run = store.record_end(run.id, summary.to_json())
    run = replace(run, status=status, error=why or None)
    view = load_details(run, summary, stopped_because=why, events=store.events(run.id))
    write_load_files(view, requests, format=ready.format)
    store.finish_run(run.id, status, summary=summary.to_json(), error=why or None)
    return LoadResult(
        run_id=run.id,
        name=run.name,
        model=run.model,
        status=run.status,
        folder=run.folder,
        summary=summary,
        exit_code=code,
        stopped_because=why,
        view=view,
    )


_WHY = {
    "interrupt": "interrupted; the figures cover the requests that had ended",
    "errors": "stopped: too many requests failed",
    "watchdog": "stopped by the watchdog: requests were under way long after their timeout",
}


def ended_as(summary: LoadSummary, cause: str | None) -> tuple[RunStatus, int]:
    """Status and exit code: 1 if nothing was answered, 3 if the figures are not comparable."""
    if cause == "interrupt":
        return "interrupted", 130
    if summary.sent == summary.failed:
        return "failed", 1
    if summary.search is not None and summary.search.status == "not_met":
        return "completed", 1
    return "completed", 0 if summary.comparable else 3


async def _load(
    store: Store, run: RunRecord, ready: _Ready, group: RunGroup, watcher: LoadWatcher | None
) -> str | None:
    """Send everything. On return, all ended requests are recorded. Returns why the test stopped early, `abort` after a second
    Ctrl-C, or None."""
    settings = ready.settings
    progress = LoadProgress(run.name, settings)
    journals = Journals(open_artifacts(run.folder), run.id)
    journals.remove()  # of a test that had the folder and the number before
    journal = journals.of(0)
    thread = BatchThread(StoreSink(store, run.id), journal=journal)

    def ended(record: RequestRecord) -> None:
        step = request_step(record, test.wall + test.zero)
        thread.put(step)
        journal.write(without_secrets((step,))[0][3])
        test.ended(record)
        progress.add(record)

    crew = await open_crew(settings, ready.requests, _opened_as(ready), ended, journals)
    server = ServerWatch(ready.endpoints if ready.server_metrics else ())
    test = LoadTest(
        settings, crew, server=server,
        stage_ended=lambda stage: thread.put(stage_step(stage, test.wall + test.zero)),
        phase_begins=progress.begin,
        inside=not ready.endpoints[0].by_http and settings.workers == 1,
    )  # fmt: skip
    signals = 0

    def interrupted() -> None:
        nonlocal signals
        signals += 1
        progress.stopping = "stopping: waiting for requests in flight (Ctrl-C again stops at once)"
        if signals == 1:
            test.stop()
        else:
            test.abort()

    watching = asyncio.create_task(_watch(store, run.id, crew, progress, thread, test, watcher))
    try:
        with group.open(), group.listening(interrupted):
            await test.run()
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await server.aclose()
        await crew.close()
        await asyncio.to_thread(thread.close)
        progress.ended = True
        if watcher is not None:
            watcher.show(progress)
    journals.remove()  # else workers ended before their requests had, and theirs have what the store has not
    return "abort" if signals > 1 else test.cause


async def _watch(
    store: Store,
    run_id: int,
    crew: Crew,
    progress: LoadProgress,
    thread: BatchThread[StepValues],
    test: LoadTest,
    watcher: LoadWatcher | None,
) -> None:
    """Show the progress, send heartbeats, and stop a test whose records cannot be written."""
    next_beat = time.monotonic()
    while True:
        await asyncio.sleep(_SHOW_EVERY_S)
        progress.in_flight = crew.in_flight
        if watcher is not None:
            watcher.show(progress)
        if thread.failure is not None:
            test.abort()
            return
        if time.monotonic() >= next_beat:
            store.beat(run_id, progress.told())
            next_beat = time.monotonic() + HEARTBEAT_S
