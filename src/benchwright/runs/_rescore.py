"""The plan of a run that scores the recorded replies of another again. No model is called."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchwright.benchmarks import BenchmarkSpec, is_question_file
from benchwright.config import RESCORE_OPTIONS, RunOptions, find_config
from benchwright.core import JsonObject, RunKind, UsageError, kind_title
from benchwright.datasets import hub_commits, recorded_pins
from benchwright.engine import RunSettings
from benchwright.runs._questions import (
    QUESTION_SETTINGS,
    changed_questions,
    given_questions,
    refuse_idle,
    refuse_questions,
)
from benchwright.runs._resume import benchmark_again
from benchwright.runs._run import Plan, find_targets, recorded_options
from benchwright.store import RunRecord

_MAY_DIFFER = {*RESCORE_OPTIONS, *QUESTION_SETTINGS}
"""Options that `rescore` follows: another file of questions may come with all of its settings. Every other decides what a
model is asked, which cannot be changed any more."""


def rescore_plan(
    source: RunRecord,
    *,
    target: str | os.PathLike[str] | Callable[..., Any] | None = None,
    options: RunOptions | None = None,
    label: str | None = None,
) -> Plan:
    """The new run that scores `source` again, before anything was read."""
    options = options or RunOptions()
    if source.kind != RunKind.BENCHMARK:
        raise UsageError(
            f"run {source.id} is {kind_title(source.kind)}; only runs of benchmarks have replies to score again"
        )
    _refuse_model_options(source, options)
    settings = RunSettings.from_json(source.settings)
    changes = recorded_options(options, settings.repeats)
    changes.pop("system", None)  # of a file of questions; the model's is part of what was asked
    settings = replace(
        settings,
        **{
            name: value
            for name, value in changes.items()
            if value is not None and name not in ("cache", "output_dir")
        },
        rescored_from=source.id,
        retargeted=target is not None,
        infer_only=False,
        num_warmups=0,
        cache=options.cache is not False,  # of judges; a script's own replies are never taken for another's
        output_dir=changes["output_dir"],
    )
    commits: JsonObject = {**recorded_pins(source.manifest)}
    with hub_commits(commits):
        spec, settings = _retargeted(source, settings, target, options)
    folder = options.output_dir
    place = None if folder is None else folder.expanduser().resolve()
    return Plan(spec, settings, place, label, commits, bool(options.overwrite))


def _retargeted(
    source: RunRecord,
    settings: RunSettings,
    target: str | os.PathLike[str] | Callable[..., Any] | None,
    options: RunOptions,
) -> tuple[BenchmarkSpec, RunSettings]:
    """What to score with: the run's own benchmark, or another; a file of questions with the rules that are given."""
    cwd = Path.cwd()
    config = find_config(cwd)
    name = None if target is None or callable(target) else os.fspath(target)
    if settings.questions is not None and (target is None or (name is not None and is_question_file(name))):
        # Another file is asked and scored as the run's own was, but for its name and what lies beside it.
        elsewhere = {} if name is None else {"name": None, "meta_path": None}
        questions = changed_questions({**settings.questions, **elsewhere}, options, config)
        settings = replace(settings, questions=questions)
        if options.dataset is not None:
            raise UsageError(
                f"--dataset: {source.target} is the data already; give the other file with --target"
            )
        if name is not None:
            settings = replace(settings, asked=name, target=name, cwd=str(cwd))
        spec = benchmark_again(source, settings, None)
        refuse_idle(given_questions(options), spec)
    elif target is None:
        refuse_questions(given_questions(options), source.target)
        spec = benchmark_again(source, settings, None)
    else:
        found = find_targets(target, config, cwd, options)
        if len(found) > 1:
            names = ", ".join(each.spec.key for each in found)
            raise UsageError(
                f"{target} holds several benchmarks ({names}); name one, as in {target}:{found[0].spec.key}"
            )
        spec = found[0].spec
        settings = replace(
            settings,
            asked=found[0].written,
            target=found[0].reload,
            cwd=str(cwd),
            questions=found[0].questions,
            nocode=found[0].nocode,
        )
    return spec, replace(settings, benchmark=spec.key, eval_type=spec.eval_type)


def _refuse_model_options(source: RunRecord, options: RunOptions) -> None:
    given = [name for name in options.given() if name not in _MAY_DIFFER]
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(
            f"{flags}: rescore calls no model, so the requests of run {source.id} cannot be changed. "
            "For another experiment: benchwright run"
        )
