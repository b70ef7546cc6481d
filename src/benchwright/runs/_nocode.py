"""Evaluations of the configuration that are no file: what `--input` may change, and the benchmark that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchwright.benchmarks import (
    BUILTIN_EVALUATIONS,
    BenchmarkSpec,
    builtin_definition,
    freeze_nocode,
    load_nocode,
)
from benchwright.config import (
    BenchmarkConfig,
    BuiltinBenchmark,
    ConfigFile,
    NoCodeBenchmark,
    RunOptions,
    read_builtin,
)
from benchwright.core import JsonObject, JsonValue, UsageError, suggest
from benchwright.runs._questions import flag, named_judge

_MAY_CHANGE = ("model", "limit", "prompt_template_file")


def described(
    target: str, entry: BenchmarkConfig, config: ConfigFile, cwd: Path, options: RunOptions
) -> tuple[NoCodeBenchmark, dict[str, Any]]:
    """What a table describes, frozen, and its run settings, with what `--input` changes in both."""
    run: dict[str, Any] = dict(entry.run)
    if entry.model is not None:
        run["model"] = entry.model
    if entry.builtin is not None:
        return _built_in(target, entry.builtin, run, cwd, options, config.path.parent)
    assert entry.nocode is not None  # the other types were told apart before
    definition = entry.nocode
    given = options.input or {}
    for key in given:
        if key not in _MAY_CHANGE:
            raise UsageError(
                f"--input: {key!r} cannot be changed for {target}.{suggest(key, _MAY_CHANGE)} What can be: "
                f"{', '.join(_MAY_CHANGE)}; for all else, change [benchmarks.{target}]"
            )
    if "prompt_template_file" in given:
        definition = _other_prompt(definition, given["prompt_template_file"], cwd)
    run |= _checked({key: given[key] for key in given if key != "prompt_template_file"}, options)
    return _frozen(definition, config), run


def built_in_by_name(
    target: str, cwd: Path, options: RunOptions, config: ConfigFile | None
) -> tuple[NoCodeBenchmark, dict[str, Any]] | None:
    """A built-in evaluation by its own name; None for any other name."""
    if target not in BUILTIN_EVALUATIONS:
        return None
    return _built_in(target, BuiltinBenchmark(target), {}, cwd, options, cwd)


def again(record: Mapping[str, Any]) -> BenchmarkSpec:
    """The benchmark of a recorded run, from its own frozen copy."""
    return load_nocode(NoCodeBenchmark.from_json(record))


def refuse_input(options: RunOptions, target: str) -> None:
    """No flag does nothing."""
    if options.input is not None:
        raise UsageError(
            f"--input: {target} takes none; tables of type custom_code, custom_nocode and builtin do"
        )


def _built_in(
    target: str,
    wanted: BuiltinBenchmark,
    run: dict[str, Any],
    cwd: Path,
    options: RunOptions,
    folder: Path,
) -> tuple[NoCodeBenchmark, dict[str, Any]]:
    if options.input is not None:  # stands for all that the table says
        given = dict(options.input)
        model = given.pop("model", None)
        wanted, found = read_builtin(cwd, wanted.benchmark, "--input", given, {})
        run = _checked({**found, **({} if model is None else {"model": model})}, options)
    return freeze_nocode(builtin_definition(wanted, target, folder)), run


def _checked(values: Mapping[str, JsonValue], options: RunOptions) -> JsonObject:
    for key, value in values.items():
        if getattr(options, key) is not None:
            raise UsageError(f"--input sets {key}, and so does {flag(key)}; keep one of them")
        if key == "model" and not isinstance(value, str):
            raise UsageError(f"--input model: {value!r} is no name of a model")
        if key == "limit" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise UsageError(f"--input limit: {value!r}; expected a whole number of 1 or more")
    return dict(values)


def _other_prompt(definition: NoCodeBenchmark, value: JsonValue, cwd: Path) -> NoCodeBenchmark:
    if definition.messages:
        raise UsageError("--input prompt_template_file: the table has messages; change them there")
    if not isinstance(value, str) or not value:
        raise UsageError(f"--input prompt_template_file: {value!r} is no path")
    return replace(definition, prompt=None, prompt_file=str(cwd / Path(value).expanduser()))


def _frozen(definition: NoCodeBenchmark, config: ConfigFile) -> NoCodeBenchmark:
    grader = definition.grader
    if grader is not None and grader.judge_model is not None:
        judge = named_judge(grader.judge_model, config)
        definition = replace(definition, grader=replace(grader, judge=judge, judge_model=None))
    return freeze_nocode(definition)
