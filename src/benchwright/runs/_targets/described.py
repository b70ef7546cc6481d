"""Evaluations that a table describes, without code: `custom_nocode`, and the built-in ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.benchmarks import BUILTIN_EVALUATIONS, BenchmarkSpec
from benchwright.config import ConfigFile, RunOptions, layered
from benchwright.core import JsonObject, JsonValue, UsageError, expand_home, suggest
from benchwright.runs._questions import flag, named_judge, refuse_second_system
from benchwright.runs._targets.values import Asked, Target, TargetKind

if TYPE_CHECKING:
    from benchwright.config import NoCodeBenchmark

_MAY_CHANGE = ("model", "limit", "prompt_template_file")
_DESCRIBING = ("prompt_template_file", "benchmark", "dataset", "metric")
"""Keys of `--input` that describe an evaluation; the others are settings of its run."""


def _define_nocode(asked: Asked) -> list[Target]:
    """The evaluation that a table describes, with the changes of `--input`."""
    entry, given = asked.entry, asked.options.input or {}
    definition = entry.nocode if entry is not None else None
    assert definition is not None  # it was recognised
    assert asked.config is not None  # it has the table
    for key in given:
        if key not in _MAY_CHANGE:
            raise UsageError(
                f"--input: {key!r} cannot be changed for {asked.target}.{suggest(key, _MAY_CHANGE)} You can change: "
                f"{', '.join(_MAY_CHANGE)}; for all else, change [benchmarks.{asked.target}]"
            )
    if "prompt_template_file" in given:
        definition = _other_prompt(definition, given["prompt_template_file"], asked.cwd)
    run = _checked({key: given[key] for key in given if key != "prompt_template_file"}, asked.options)
    return _target(asked, NOCODE.name, _frozen(definition, asked.config), {**asked.own, **run})


def _define_builtin(asked: Asked) -> list[Target]:
    from benchwright.benchmarks import builtin_definition
    from benchwright.config import BuiltinBenchmark

    entry, options, run = asked.entry, asked.options, asked.own
    chosen = None if entry is None else entry.builtin
    if chosen is None:
        chosen = BuiltinBenchmark(asked.target)
    if options.input is not None:  # replaces everything in the table
        given = dict(options.input)
        model = given.pop("model", None)
        chosen, found = BuiltinBenchmark.read(asked.cwd, chosen.benchmark, "--input", given, {})
        run = _checked({**found, **({} if model is None else {"model": model})}, options)
    definition = builtin_definition(chosen, asked.target, asked.folder)
    return _target(asked, BUILTIN.name, _with_texts(definition), run)


def _target(asked: Asked, kind: str, definition: NoCodeBenchmark, run: Mapping[str, Any]) -> list[Target]:
    spec = _loaded(definition)
    refuse_second_system(asked.options.system, spec)
    recorded: JsonObject = {"kind": kind, "target": asked.target, "settings": definition.to_json()}
    defaults = layered({} if asked.config is None else dict(asked.config.run), dict(run))
    return [Target(spec, asked.target, recorded, defaults, input=_kept_input(asked.options))]


def _kept_input(options: RunOptions) -> JsonObject | None:
    """The part of `--input` that describes the evaluation; a run records the rest as its settings."""
    if options.input is None:
        return None
    return {key: value for key, value in options.input.items() if key in _DESCRIBING}


def _checked(values: Mapping[str, JsonValue], options: RunOptions) -> JsonObject:
    for key, value in values.items():
        if getattr(options, key) is not None:
            raise UsageError(f"--input sets {key}, and so does {flag(key)}; keep one of them")
        if key == "model" and not isinstance(value, str):
            raise UsageError(f"--input model: {value!r} is not a name of a model")
        if key == "limit" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise UsageError(f"--input limit: {value!r}; expected a whole number of 1 or more")
    return dict(values)


def _other_prompt(definition: NoCodeBenchmark, value: JsonValue, cwd: Path) -> NoCodeBenchmark:
    if definition.messages:
        raise UsageError("--input prompt_template_file: the table has messages; change them there")
    if not isinstance(value, str) or not value:
        raise UsageError(f"--input prompt_template_file: {value!r} is not a path")
    return replace(definition, prompt=None, prompt_file=str(cwd / expand_home(value)))


def _frozen(definition: NoCodeBenchmark, config: ConfigFile) -> NoCodeBenchmark:
    grader = definition.grader
    if grader is not None and grader.judge_model is not None:
        judge = named_judge(grader.judge_model, config)
        definition = replace(definition, grader=replace(grader, judge=judge, judge_model=None))
    return _with_texts(definition)


def _with_texts(definition: NoCodeBenchmark) -> NoCodeBenchmark:
    from benchwright.benchmarks import freeze_nocode  # five modules that other runs do not need

    return freeze_nocode(definition)


def _loaded(definition: NoCodeBenchmark) -> BenchmarkSpec:
    from benchwright.benchmarks import load_nocode

    return load_nocode(definition)


def _load(definition: JsonObject) -> BenchmarkSpec:
    from benchwright.config import NoCodeBenchmark

    settings: Any = definition["settings"]
    return _loaded(NoCodeBenchmark.from_json(settings))


def _is_nocode(asked: Asked) -> bool:
    return asked.entry is not None and asked.entry.nocode is not None


def _is_builtin(asked: Asked) -> bool:
    return asked.target in BUILTIN_EVALUATIONS if asked.entry is None else asked.entry.builtin is not None


NOCODE = TargetKind("nocode", _is_nocode, _define_nocode, _load, takes=frozenset({"input"}))
BUILTIN = TargetKind("builtin", _is_builtin, _define_builtin, _load, takes=frozenset({"input"}))
