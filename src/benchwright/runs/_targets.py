"""From what the user has in hand to benchmarks: files, modules, installed names, names of benchwright.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchwright.benchmarks import (
    BUILTIN_EVALUATIONS,
    BenchmarkSpec,
    is_question_file,
    load_benchmarks,
    load_nocode,
    load_questions,
)
from benchwright.config import ConfigFile, NoCodeBenchmark, RunOptions, layered
from benchwright.core import JsonObject, UsageError
from benchwright.runs._nocode import built_in_by_name, described, refuse_input
from benchwright.runs._questions import given_questions, question_options, refuse_idle, refuse_questions


@dataclass(frozen=True, slots=True)
class Target:
    """One benchmark to run."""

    spec: BenchmarkSpec
    """The benchmark."""
    written: str
    """What the user asked for."""
    reload: str
    """How a later process loads the same benchmark."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Run options that the configuration sets for it."""
    questions: JsonObject | None = None
    """How a file of questions is asked and scored; None for a benchmark in Python."""
    nocode: JsonObject | None = None
    """What the configuration describes, frozen; None for any other benchmark."""


def resolve_targets(
    target: str, config: ConfigFile | None, cwd: Path, options: RunOptions | None = None
) -> list[Target]:
    """All benchmarks that `target` names. A name of the configuration comes before a built-in one, and that
    before an installed one.

    A file of questions becomes a benchmark here, as `options` and the configuration say.
    """
    options = options or RunOptions()
    defaults: dict[str, Any] = dict(config.run) if config is not None else {}
    own: dict[str, Any] = {}
    base, folder = target, cwd
    if config is not None and target in config.benchmarks:
        entry = config.benchmarks[target]
        if entry.code is not None:
            raise UsageError(
                f"{target} is a program ({entry.code.command[0]} …), and this works on benchmarks; start it with: "
                f"benchwright run {target}"
            )
        if entry.type != "file":
            definition, own = described(target, entry, config, cwd, options)
            return [_described(target, definition, layered(defaults, own), options)]
        own = dict(entry.run)
        if entry.model is not None:
            own["model"] = entry.model
        base, folder = entry.file, config.path.parent
    elif (found := built_in_by_name(target, cwd, options, config)) is not None:
        return [_described(target, found[0], layered(defaults, found[1]), options)]
    refuse_input(options, target)
    defaults = layered(defaults, own)
    given = [*own, *given_questions(options)]
    if is_question_file(base):
        return [_question_file(target, base, config, cwd, options, defaults, given)]
    refuse_questions(given, target)
    names = [*(config.benchmarks if config is not None else ()), *BUILTIN_EVALUATIONS]
    specs = load_benchmarks(base, cwd=folder, names=names)
    return [Target(spec, target, _reload(spec, base), defaults) for spec in specs]


def _described(
    target: str, definition: NoCodeBenchmark, defaults: Mapping[str, Any], options: RunOptions
) -> Target:
    refuse_questions(given_questions(options), target)
    return Target(load_nocode(definition), target, target, defaults, nocode=definition.to_json())


def _question_file(
    target: str,
    file: str,
    config: ConfigFile | None,
    cwd: Path,
    options: RunOptions,
    defaults: Mapping[str, Any],
    given: Sequence[str],
) -> Target:
    effective = options.over(defaults)
    if effective.dataset is not None:
        raise UsageError(f"--dataset: {target} is the data already; give the other file as the target")
    if effective.fewshot_dataset is not None and effective.num_fewshot is None:
        raise UsageError("--fewshot-dataset: say how many examples to show, as in --num-fewshot 5")
    questions = question_options(effective, config)
    if file != target:  # under the name that the configuration gives it
        questions = replace(questions, name=target)
    spec = load_questions(file, questions, cwd=cwd)
    refuse_idle(given, spec)
    return Target(spec, target, file, defaults, questions.to_json())


def _reload(spec: BenchmarkSpec, written: str) -> str:
    """An absolute path for files; names of modules and packages stay as they are."""
    place = written.partition(":")[0]
    if spec.source is not None and place.endswith(".py"):
        return f"{spec.source.resolve()}:{spec.key}"
    return written
