"""Continues recorded runs: resumes a run where it stopped, or scores its replies again without a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec, Watch, written_as
from benchwright.config import RESCORE_OPTIONS, RunOptions, find_config, unset_variables
from benchwright.core import (
    QUESTIONS,
    JsonObject,
    RunKind,
    UsageError,
    artifacts_place,
    defined_settings,
    kind_title,
)
from benchwright.datasets import hub_commits, recorded_pins
from benchwright.engine import (
    DECIDES,
    Budget,
    Prepared,
    RunLife,
    RunSettings,
    WorkItem,
    changed_manifest,
)
from benchwright.runs._benchmark_work import BenchmarkWork
from benchwright.runs._jobs import Job
from benchwright.runs._origins import given_later
from benchwright.runs._questions import (
    OWN_SETTINGS,
    changed_questions,
    given_questions,
    refuse_idle,
    refuse_questions,
)
from benchwright.runs._run import Plan, recorded_options, uses_cache
from benchwright.runs._targets import find_targets, load_definition
from benchwright.store import RunRecord, Store

LOADING = Lock()
"""Held by a thread while it loads users' code: modules belong to the whole process."""


def claimed(
    store: Store,
    found: RunRecord,
    *,
    target: Callable[..., Any] | None = None,
    retry_failed: bool = False,
    allow_changed: bool = False,
    overrides: Mapping[str, Any] | None = None,
    label: str | None = None,
) -> Job:
    """Claim a run and prepare it for resuming. Raises UsageError if it is not the same experiment."""
    refuse_adopted(found, "resumed")
    run = store.claim_run(found.id)
    with RunLife(store, run, otherwise=found.status):
        settings = _overridden(RunSettings.from_json(run.settings), overrides or {})
        settings = given_later(settings, overrides or {})
        _refuse_other_variables(run, settings)
        with hub_commits(recorded_pins(run.manifest)):
            prepared = Prepared.of(benchmark_again(settings, target), settings)
        _refuse_changes(run, prepared, allow_changed)
        failed = sum(WorkItem.failed(output) for *_, output in store.scored(run.id)) if retry_failed else 0
        store.update_run(run.id, settings=settings.to_json())
        run = _change_recorded(store, run, prepared, failed)
    work = BenchmarkWork(prepared, resuming=True, retry_failed=failed > 0)
    return Job(run, work, otherwise=found.status, label=label)


def refuse_adopted(run: RunRecord, what: str) -> None:
    """Raise for a run that was read back from its folder, because its requests are not recorded."""
    if run.settings.get("adopted"):
        raise UsageError(
            f"run {run.id} cannot be {what}: its record was lost, and its files do not contain the requests. "
            f"Start it again: benchwright run {run.target}"
        )


def _change_recorded(store: Store, run: RunRecord, prepared: Prepared, failed: int) -> RunRecord:
    """The resumed run, of which `failed` samples are sent again. If the benchmark has changed, its record says so from now
    on."""
    if not run.manifest or (
        _part(run.manifest, "benchmark", "hash") == _part(prepared.manifest, "benchmark", "hash")
        and not _changed_modules(run.manifest, prepared.manifest)
    ):
        return run
    recorded = store.count_steps(run.id, "score") - failed
    if recorded >= prepared.row_count * prepared.settings.repeats:
        return run  # complete: no request is made with the changed benchmark
    manifest, message = changed_manifest(run.manifest, prepared.manifest, recorded)
    store.update_run(run.id, manifest=manifest, event=("run.changed", message))
    return store.run(run.id)


def benchmark_again(settings: RunSettings, target: Callable[..., Any] | None) -> BenchmarkSpec:
    """The benchmark of a recorded run, as it is defined now."""
    if target is not None:
        (found,) = find_targets(target, None, Path(settings.cwd))
        return found.spec
    return load_definition(settings.definition)


def _overridden(settings: RunSettings, overrides: Mapping[str, Any]) -> RunSettings:
    chosen = RunOptions.from_keywords(overrides, "resume")
    budget = Budget(chosen.max_requests, chosen.max_tokens_total, chosen.max_minutes, chosen.max_cost)
    parallelism = chosen.parallelism or settings.parallelism
    endpoint = replace(settings.endpoint, parallelism=parallelism)
    changes = {name: value for name, value in chosen.given().items() if name in DECIDES}
    return replace(settings, **changes, budget=budget, endpoint=endpoint)


def _refuse_other_variables(run: RunRecord, settings: RunSettings) -> None:
    """Code of benchmarks and scorers may read them."""
    if cures := unset_variables(settings.variables or {}):
        raise UsageError(
            f"run {run.id} had environment variables that are not set, or have other values: {'; '.join(cures)}"
        )


def _refuse_changes(run: RunRecord, prepared: Prepared, allow_changed: bool) -> None:
    """Raise if the experiment has changed, because a resumed run must be the same experiment."""
    for part, what in (("dataset", "fingerprint"), ("benchmark", "hash"), ("fewshot", "hash")):
        if not run.manifest:
            return  # the run stopped before anything was read
        before, now = _part(run.manifest, part, what), _part(prepared.manifest, part, what)
        if before == now:
            continue
        if part == "benchmark" and allow_changed:
            continue
        cure = "or accept the change with --allow-changed" if part == "benchmark" else "or restore it"
        raise UsageError(
            f"run {run.id} cannot be resumed: the {part} has changed since it started "
            f"({before} → {now}). Start a new run, {cure}."
        )
    changed = _changed_modules(run.manifest, prepared.manifest) + _changed_reads(run.manifest, prepared.spec)
    if changed and not allow_changed:
        raise UsageError(
            f"run {run.id} cannot be resumed: {', '.join(changed)}, which the benchmark imports or reads, changed since it started. "
            "Start a new run, or accept the change with --allow-changed."
        )


def changes_since(run: RunRecord, prepared: Prepared) -> str:
    """What of a run's data and benchmark is no longer what it was; empty: nothing."""
    parts = [
        f"the {part}"
        for part, what in (("dataset", "fingerprint"), ("benchmark", "hash"), ("fewshot", "hash"))
        if _part(run.manifest, part, what) != _part(prepared.manifest, part, what)
    ]
    files = _changed_modules(run.manifest, prepared.manifest) + _changed_reads(run.manifest, prepared.spec)
    return ", ".join([*parts, *files])


def _changed_modules(before: JsonObject, now: JsonObject) -> list[str]:
    """Imported and other files of the benchmark that have changed. Runs of older versions recorded none."""
    changed: list[str] = []
    for kind in ("modules", "files"):
        old, new = _part(before, "benchmark", kind), _part(now, "benchmark", kind)
        if isinstance(old, dict) and isinstance(new, dict):
            changed += [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return sorted(changed)


def _changed_reads(before: JsonObject, spec: BenchmarkSpec) -> list[str]:
    """Files that the benchmark's code read while the run scored, and that have changed."""
    read = _part(before, "benchmark", "files_read")
    if spec.source is None or not isinstance(read, dict):
        return []
    top = spec.source.resolve().parent
    return sorted(name for name, digest in read.items() if Watch.digest(top / name) != digest)


def _part(manifest: JsonObject, part: str, what: str) -> object:
    table = manifest.get(part)
    return table.get(what) if isinstance(table, dict) else None


_MAY_DIFFER = {*RESCORE_OPTIONS, *OWN_SETTINGS}
"""Options that `rescore` accepts; another file of questions may have all of its settings. All other options decide the
requests, which can no longer be changed."""


def rescore_plan(
    source: RunRecord,
    *,
    target: str | os.PathLike[str] | Callable[..., Any] | None = None,
    options: RunOptions | None = None,
    label: str | None = None,
    labels: tuple[tuple[str | None, ...], ...] | None = None,
) -> Plan:
    """The new run that scores `source` again, before anything was read; with people's `labels`, as they say."""
    options = options or RunOptions()
    if source.kind != RunKind.BENCHMARK:
        raise UsageError(
            f"run {source.id} is {kind_title(source.kind)}; only runs of benchmarks have replies to score again"
        )
    _refuse_model_options(source, options)
    settings = RunSettings.from_json(source.settings)
    _refuse_other_variables(source, settings)
    changes = recorded_options(options, settings.repeats)
    settings = replace(
        settings,
        **{
            name: value
            for name, value in changes.items()
            if value is not None and name not in ("cache", "output_dir")
        },
        rescored_from=source.id,
        retargeted=target is not None,
        labels=labels,
        infer_only=False,
        num_warmups=0,
        cache=uses_cache(options.cache),  # for judges; replies of a script are never reused
        output_dir=changes["output_dir"],
    )
    settings = given_later(settings, options.given())
    commits: JsonObject = {**recorded_pins(source.manifest)}
    with hub_commits(commits):
        spec, settings = _retargeted(source, settings, target, options)
    folder = options.output_dir
    place = None if folder is None else artifacts_place(folder)
    return Plan(spec, settings, place, label, commits, bool(options.overwrite))


def _retargeted(
    source: RunRecord,
    settings: RunSettings,
    target: str | os.PathLike[str] | Callable[..., Any] | None,
    options: RunOptions,
) -> tuple[BenchmarkSpec, RunSettings]:
    """The benchmark to score with: that of the run or another; a file of questions gets the given rules."""
    cwd = Path.cwd()
    config = find_config(cwd)
    name = None if target is None or callable(target) else os.fspath(target)
    recorded = defined_settings({"definition": settings.definition}, QUESTIONS)
    if recorded is not None and (target is None or (name is not None and written_as(name) == "questions")):
        # Another file gets the settings of the run's file, except for its name and the files next to it.
        elsewhere = {} if name is None else {"name": None, "meta_path": None}
        questions = changed_questions({**recorded, **elsewhere}, options, config)
        definition = {**settings.definition, "settings": questions}
        if options.dataset is not None:
            raise UsageError(
                f"--dataset: {source.target} is already the data; give the other file with --target"
            )
        if name is not None:
            definition = {**definition, "target": name, "folder": str(cwd)}
            settings = replace(settings, asked=name, cwd=str(cwd))
        settings = replace(settings, definition=definition)
        spec = benchmark_again(settings, None)
        refuse_idle(given_questions(options), spec)
    elif target is None:
        refuse_questions(given_questions(options), source.target)
        spec = benchmark_again(settings, None)
    else:
        found = find_targets(target, config, cwd, options)
        if len(found) > 1:
            names = ", ".join(each.spec.key for each in found)
            raise UsageError(
                f"{target} contains several benchmarks ({names}); name one, as in {target}:{found[0].spec.key}"
            )
        spec = found[0].spec
        settings = replace(
            settings,
            asked=found[0].written,
            definition=found[0].definition,
            cwd=str(cwd),
        )
    return spec, replace(settings, benchmark=spec.key, eval_type=spec.eval_type)


def _refuse_model_options(source: RunRecord, options: RunOptions) -> None:
    given = [name for name in options.given() if name not in _MAY_DIFFER]
    if given:
        raise _changes_requests(source, given)


def _changes_requests(source: RunRecord, names: Sequence[str]) -> UsageError:
    flags = ", ".join(f"--{name.replace('_', '-')}" for name in names)
    return UsageError(
        f"{flags}: rescore calls no model, so the requests of run {source.id} cannot be changed. "
        "For another experiment: benchwright run"
    )
