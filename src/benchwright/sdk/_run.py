"""`run` and `resume`: what the commands do, as functions. A thin synchronous front of the engine."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from benchwright.benchmarks import BenchmarkSpec, load_benchmarks
from benchwright.config import ConfigFile, find_config
from benchwright.core import BenchwrightError, UsageError
from benchwright.endpoints import DemoSettings, OpenEndpoint, ScriptedSettings
from benchwright.engine import Budget, Performed, Prepared, RunSettings, Watcher, perform, prepare
from benchwright.reports import write_run_files
from benchwright.sdk._models import ChosenModel, choose_model, scripted_model
from benchwright.sdk._options import RunOptions
from benchwright.sdk._result import RunResult, result_of
from benchwright.sdk._targets import Target, resolve_targets
from benchwright.store import RunRecord, RunStatus, Store, find_workspace


def run(
    target: str | os.PathLike[str] | Callable[..., Any],
    *,
    endpoint: OpenEndpoint | None = None,
    **options: Any,
) -> RunResult:
    """Evaluate one benchmark and return its result; keywords are those of `RunOptions`.

    `target` is a file (`bench.py` or `bench.py:name`), a module, an installed name, or a function decorated
    with `@benchmark`. `endpoint` answers instead of a model, such as a `ScriptedEndpoint` in a test. Raises BenchwrightError for what makes a run impossible; failing samples are counted in
    the result instead.
    """
    chosen = RunOptions.from_keywords(options)
    (result,) = run_all(target, chosen, endpoint=endpoint)
    return result


def run_all(
    target: str | os.PathLike[str] | Callable[..., Any],
    options: RunOptions | None = None,
    *,
    several: bool = False,
    watcher: Watcher | None = None,
    finished: Callable[[RunResult], None] | None = None,
    endpoint: OpenEndpoint | None = None,
) -> list[RunResult]:
    """Evaluate every benchmark that `target` names, one after the other.

    All are checked before the first starts. `several` allows more than one; `finished` is called after each.
    """
    options = options or RunOptions()
    cwd = Path.cwd()
    config = find_config(cwd)
    targets = find_targets(target, config, cwd)
    if len(targets) > 1 and not several:
        names = ", ".join(found.spec.key for found in targets)
        raise UsageError(
            f"{target} holds several benchmarks ({names}); name one, as in {target}:{targets[0].spec.key}"
        )
    ready = [
        _prepared(found, options, config, several=len(targets) > 1, scripted=endpoint is not None)
        for found in targets
    ]
    results = []
    for prepared, effective in ready:
        result = _start(prepared, effective, watcher, endpoint)
        results.append(result)
        if finished is not None:
            finished(result)
        if result.exit_code == 130:
            break
    return results


def resume(
    wanted: str | int,
    *,
    target: Callable[..., Any] | None = None,
    workspace: Path | str | None = None,
    retry_failed: bool = False,
    allow_changed: bool = False,
    overrides: Mapping[str, Any] | None = None,
    watcher: Watcher | None = None,
    endpoint: OpenEndpoint | None = None,
) -> RunResult:
    """Go on with a run where it stopped. A complete run gives its result again without asking anything.

    `target` is the decorated function, for benchmarks that no file defines; `retry_failed` asks failed samples again; `allow_changed` accepts that the benchmark file has changed;
    `overrides` may change parallelism and budgets.
    """
    store = Store(find_workspace(Path.cwd(), None if workspace is None else Path(workspace)))
    try:
        found = store.find_run(str(wanted))
        run = store.claim_run(found.id)

        def work() -> RunResult:
            return _resume(
                store, run, target, retry_failed, allow_changed, overrides or {}, watcher, endpoint
            )

        return _owned(store, run, found.status, work)
    finally:
        store.close()


def find_targets(
    target: str | os.PathLike[str] | Callable[..., Any], config: ConfigFile | None, cwd: Path
) -> list[Target]:
    """Benchmarks by name, by file, or as the decorated function itself."""
    spec = getattr(target, "_benchmark", None)
    if spec is not None:
        place = f"{spec.source}:{spec.key}"
        return [Target(spec, place, place, dict(config.run) if config is not None else {})]
    if callable(target):
        raise UsageError(f"{target!r} is not decorated with @benchmark")
    return resolve_targets(os.fspath(target), config, cwd)


def run_settings(target: Target, options: RunOptions, model: ChosenModel) -> RunSettings:
    """Freeze the options of one run."""
    values: dict[str, Any] = {
        "dataset": _absolute(options.dataset),
        "limit": options.limit,
        "repeats": options.repeats,
        "num_fewshot": options.num_fewshot,
        "fewshot_seed": options.fewshot_seed,
        "fewshot_strict": options.fewshot_strict,
        "failure_threshold": options.failure_threshold,
        "cache": False if isinstance(model.endpoint, ScriptedSettings) else options.cache,
        "skip_bad_rows": options.skip_bad_rows,
        "model_type": model.model_type,
    }
    return RunSettings(
        asked=target.written,
        target=target.reload,
        output_dir=None if options.output_dir is None else str(options.output_dir),
        cwd=str(Path.cwd()),
        benchmark=target.spec.key,
        eval_type=target.spec.eval_type,
        endpoint=model.endpoint,
        generation=model.generation,
        parallelism=model.parallelism,
        budget=Budget(options.max_requests, options.max_tokens_total, options.max_minutes),
        **{name: value for name, value in values.items() if value is not None},
    )


def _prepared(
    target: Target, options: RunOptions, config: ConfigFile | None, *, several: bool, scripted: bool
) -> tuple[Prepared, RunOptions]:
    effective = options.over(target.defaults)
    if several and effective.output_dir is not None:
        effective = replace(effective, output_dir=effective.output_dir / target.spec.key)
    model = scripted_model(effective) if scripted else choose_model(effective, config)
    return prepare(target.spec, run_settings(target, effective, model)), effective


def _start(
    prepared: Prepared, options: RunOptions, watcher: Watcher | None, endpoint: OpenEndpoint | None
) -> RunResult:
    store = Store(find_workspace(Path.cwd(), options.workspace))
    try:
        settings = prepared.settings
        run = store.create_run(
            name=settings.benchmark,
            target=settings.asked,
            model=settings.endpoint.model_id,
            folder=None if options.output_dir is None else options.output_dir.expanduser().resolve(),
            settings=settings.to_json(),
            manifest=prepared.manifest,
        )

        def work() -> RunResult:
            return _perform(store, run, prepared, resuming=False, watcher=watcher, endpoint=endpoint)

        return _owned(store, run, "failed", work)
    finally:
        store.close()


def _resume(
    store: Store,
    run: RunRecord,
    target: Callable[..., Any] | None,
    retry_failed: bool,
    allow_changed: bool,
    overrides: Mapping[str, Any],
    watcher: Watcher | None,
    endpoint: OpenEndpoint | None,
) -> RunResult:
    settings = _overridden(RunSettings.from_json(run.settings), overrides)
    prepared = prepare(_benchmark_again(run, settings, target), settings)
    _refuse_changes(run, prepared, allow_changed)
    if retry_failed:
        failed = [
            (index, repeat)
            for index, repeat, output in store.scores(run.id)
            if "s" not in orjson.loads(output)
        ]
        store.forget_samples(run.id, failed)
    store.update_settings(run.id, settings.to_json())
    return _perform(store, run, prepared, resuming=True, watcher=watcher, endpoint=endpoint)


def _benchmark_again(
    run: RunRecord, settings: RunSettings, target: Callable[..., Any] | None
) -> BenchmarkSpec:
    if target is not None:
        (found,) = find_targets(target, None, Path(settings.cwd))
        return found.spec
    for spec in load_benchmarks(settings.target, cwd=Path(settings.cwd)):
        if spec.key == settings.benchmark:
            return spec
    raise UsageError(
        f"run {run.id} cannot go on: {settings.target} has no benchmark {settings.benchmark!r} any more"
    )


def _overridden(settings: RunSettings, overrides: Mapping[str, Any]) -> RunSettings:
    budget = Budget(
        **{name: overrides.get(name) for name in ("max_requests", "max_tokens_total", "max_minutes")}
    )
    parallelism = overrides.get("parallelism") or settings.parallelism
    endpoint = replace(settings.endpoint, parallelism=parallelism)
    return replace(settings, budget=budget, parallelism=parallelism, endpoint=endpoint)


def _refuse_changes(run: RunRecord, prepared: Prepared, allow_changed: bool) -> None:
    """A resumed run must be the same experiment."""
    for part, what in (("dataset", "fingerprint"), ("benchmark", "hash"), ("fewshot", "hash")):
        before, now = run.manifest.get(part), prepared.manifest.get(part)
        if not isinstance(before, dict) or not isinstance(now, dict) or before.get(what) == now.get(what):
            continue
        if part == "benchmark" and allow_changed:
            continue
        cure = "or accept the change with --allow-changed" if part == "benchmark" else "restore it"
        raise UsageError(
            f"run {run.id} cannot go on: the {part} has changed since it started "
            f"({before.get(what)} → {now.get(what)}). Start a new run, {cure}."
        )


def _perform(
    store: Store,
    run: RunRecord,
    prepared: Prepared,
    *,
    resuming: bool,
    watcher: Watcher | None,
    endpoint: OpenEndpoint | None,
) -> RunResult:
    run.folder.mkdir(parents=True, exist_ok=True)
    performed: Performed = in_event_loop(
        perform(prepared, store, run, resuming=resuming, watcher=watcher, endpoint=endpoint)
    )
    ended = store.run(run.id)
    write_run_files(store, ended, performed.summary)
    return result_of(ended, performed, demo=isinstance(prepared.settings.endpoint, DemoSettings))


def _owned(store: Store, run: RunRecord, otherwise: RunStatus, work: Callable[[], RunResult]) -> RunResult:
    """Whatever happens, the run does not stay `running` without an owner. What was recorded stays recorded;
    a resume that cannot start leaves the run as it was."""
    try:
        return work()
    except BaseException as error:
        if store.run(run.id).status == "running":
            text = str(error) if isinstance(error, BenchwrightError) else f"{type(error).__name__}: {error}"
            status = otherwise if isinstance(error, Exception) else "interrupted"
            store.finish_run(run.id, status, summary=run.summary, error=text)
        raise


def in_event_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end on the quickest loop there is, also from inside a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run_loop(work)
    # A notebook or an async program: its loop is taken, so ours runs in a thread of its own.
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(_run_loop(work))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target, name="benchwright-run")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


def _run_loop(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def _absolute(dataset: str | None) -> str | None:
    """Paths of the command line are relative to the current folder, which a resume may not share."""
    if dataset is None or "://" in dataset:
        return dataset
    return str(Path(dataset).expanduser().resolve())
