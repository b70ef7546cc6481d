"""Resolves targets to benchmarks: files, modules, installed names, names of benchwright.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from benchwright.benchmarks import (
    BUILTIN_EVALUATIONS,
    BenchmarkSpec,
    custom_media_file,
    is_question_file,
    load_benchmarks,
)
from benchwright.config import ConfigFile, RunOptions, layered
from benchwright.core import JsonObject, JsonValue, UsageError, expand_home, suggest
from benchwright.runs._questions import (
    flag,
    given_questions,
    named_judge,
    question_options,
    refuse_idle,
    refuse_questions,
    refuse_second_system,
)
from benchwright.runs._tool_targets import evaluation_input, refuse_tool_settings
from benchwright.store import find_workspace

if TYPE_CHECKING:
    from benchwright.benchmarks import BenchmarkSpec
    from benchwright.config import BenchmarkConfig, BuiltinBenchmark, NoCodeBenchmark

_MAY_CHANGE = ("model", "limit", "prompt_template_file")
_DESCRIBING = ("prompt_template_file", "benchmark", "dataset", "metric")
"""Keys of `--input` that describe an evaluation; the others are settings of its run."""


def described(
    target: str, entry: BenchmarkConfig, config: ConfigFile, cwd: Path, options: RunOptions
) -> tuple[NoCodeBenchmark, dict[str, Any]]:
    """The evaluation that a table describes and its run settings, with the changes of `--input`."""
    run: dict[str, Any] = dict(entry.run)
    if entry.model is not None:
        run["model"] = entry.model
    if entry.builtin is not None:
        return _built_in(target, entry.builtin, run, cwd, options, config.path.parent)
    assert entry.nocode is not None  # the other types were handled before
    definition = entry.nocode
    given = options.input or {}
    for key in given:
        if key not in _MAY_CHANGE:
            raise UsageError(
                f"--input: {key!r} cannot be changed for {target}.{suggest(key, _MAY_CHANGE)} You can change: "
                f"{', '.join(_MAY_CHANGE)}; for all else, change [benchmarks.{target}]"
            )
    if "prompt_template_file" in given:
        definition = _other_prompt(definition, given["prompt_template_file"], cwd)
    run |= _checked({key: given[key] for key in given if key != "prompt_template_file"}, options)
    return _frozen(definition, config), run


def built_in_by_name(
    target: str, cwd: Path, options: RunOptions
) -> tuple[NoCodeBenchmark, dict[str, Any]] | None:
    """A built-in evaluation by its name; None for any other name."""
    if target not in BUILTIN_EVALUATIONS:
        return None
    from benchwright.config import BuiltinBenchmark

    return _built_in(target, BuiltinBenchmark(target), {}, cwd, options, cwd)


def again(record: Mapping[str, Any]) -> BenchmarkSpec:
    """The benchmark of a recorded run, from its recorded copy."""
    if "bfcl" in record:
        from benchwright.bfcl import Definition, load_evaluation

        return load_evaluation(Definition.from_json(record))
    from benchwright.config import NoCodeBenchmark

    return _loaded(NoCodeBenchmark.from_json(record))


def kept_input(options: RunOptions) -> JsonObject | None:
    """The part of `--input` that describes the evaluation; a run records the rest as its settings."""
    if options.input is None:
        return None
    return {key: value for key, value in options.input.items() if key in _DESCRIBING}


def refuse_input(options: RunOptions, target: str) -> None:
    """Raise UsageError for `--input` if the target takes none."""
    if options.input is not None:
        raise UsageError(
            f"--input: {target} takes none; tables of type custom_code, custom_nocode and builtin do"
        )


def _built_in(
    target: str,
    chosen: BuiltinBenchmark,
    run: dict[str, Any],
    cwd: Path,
    options: RunOptions,
    folder: Path,
) -> tuple[NoCodeBenchmark, dict[str, Any]]:
    from benchwright.benchmarks import builtin_definition
    from benchwright.config import read_builtin

    if options.input is not None:  # replaces everything in the table
        given = dict(options.input)
        model = given.pop("model", None)
        chosen, found = read_builtin(cwd, chosen.benchmark, "--input", given, {})
        run = _checked({**found, **({} if model is None else {"model": model})}, options)
    return _with_texts(builtin_definition(chosen, target, folder)), run


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


class Target(Struct, frozen=True):
    """One benchmark to run."""

    spec: BenchmarkSpec
    """The benchmark."""
    written: str
    """The target as the user wrote it."""
    reload: str
    """The target by which a later process loads the same benchmark."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Run options that the configuration sets for it."""
    questions: JsonObject | None = None
    """The options of a file of questions; None for a benchmark in Python."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that a run configuration sets for it, as records hold them."""
    nocode: JsonObject | None = None
    """The recorded description from the configuration; None for any other benchmark."""


def resolve_targets(
    target: str, config: ConfigFile | None, cwd: Path, options: RunOptions | None = None
) -> list[Target]:
    """All benchmarks that `target` names. A name of the configuration takes precedence over a built-in one, and that over an
    installed one.

    A file of questions becomes a benchmark here, by `options` and the configuration.
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
    elif (found := built_in_by_name(target, cwd, options)) is not None:
        return [_described(target, found[0], layered(defaults, found[1]), options)]
    elif (place := custom_media_file(target, cwd)) is not None:
        base = place
    defaults = layered(defaults, own)
    if (evaluation := _function_calling(target, base, cwd, folder, options, defaults)) is not None:
        return [evaluation]
    refuse_tool_settings(options, own, target)
    refuse_input(options, target)
    given = [*own, *given_questions(options)]
    if is_question_file(base):
        return [_question_file(target, base, config, cwd, options, defaults, given)]
    refuse_questions(given, target)
    names = [
        *(config.benchmarks if config is not None else ()),
        *BUILTIN_EVALUATIONS,
        *_near_evaluations(target),
    ]
    specs = load_benchmarks(base, cwd=folder, names=names)
    for spec in specs:
        refuse_second_system(own.get("system", options.system), spec)
    return [Target(spec, target, _reload(spec, base), defaults) for spec in specs]


def _function_calling(
    target: str, name: str, cwd: Path, folder: Path, options: RunOptions, defaults: Mapping[str, Any]
) -> Target | None:
    """A function-calling evaluation by its name, or by the name of a table that refers to it; None for any other name."""
    if not name.startswith("bfcl"):
        return None
    from benchwright.bfcl import define, evaluation_of, load_evaluation

    if evaluation_of(name) is None:
        return None
    effective = options.over(defaults)
    place = cwd if options.tool_data is not None else folder
    given = evaluation_input(effective, place)
    definition = define(name, given, place, skip_bad_rows=bool(effective.skip_bad_rows))
    assert definition is not None  # checked above
    refuse_questions(given_questions(options), target)
    if options.dataset is not None:
        raise UsageError(f"--dataset: {target} takes rows of your own by --tool-data PATH")
    output = effective.output_dir
    if output is not None:
        output = expand_home(output).resolve()
    definition = replace(definition, name=target, output=None if output is None else str(output))
    # A state folder in the current folder would become the nearest workspace and hide all earlier runs.
    faults = output or find_workspace(cwd, options.workspace).state
    spec = load_evaluation(replace(definition, output=str(faults)))
    return Target(spec, target, name, defaults, nocode=definition.to_json())


def _near_evaluations(target: str) -> tuple[str, ...]:
    """Names of function-calling evaluations, if a misspelt target may mean one."""
    if not target.startswith("bf"):
        return ()
    from benchwright.bfcl import EVALUATIONS

    return tuple(EVALUATIONS)


def _described(
    target: str, definition: NoCodeBenchmark, defaults: Mapping[str, Any], options: RunOptions
) -> Target:
    refuse_questions(given_questions(options), target)
    refuse_tool_settings(options, (), target)
    spec = _loaded(definition)
    refuse_second_system(options.system, spec)
    return Target(spec, target, target, defaults, nocode=definition.to_json())


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
        raise UsageError(f"--dataset: {target} is already the data; give the other file as the target")
    if effective.fewshot_dataset is not None and effective.num_fewshot is None:
        raise UsageError("--fewshot-dataset: say how many examples to show, as in --num-fewshot 5")
    questions = question_options(effective, config)
    if file != target:  # the configuration gives it a name
        questions = replace(questions, name=target)
    from benchwright.benchmarks import load_questions  # a dozen modules that Python benchmarks do not need

    spec = load_questions(file, questions, cwd=cwd)
    refuse_idle(given, spec)
    return Target(spec, target, file, defaults, questions.to_json())


def _reload(spec: BenchmarkSpec, written: str) -> str:
    """An absolute path for files; names of modules and packages stay as they are."""
    place = written.partition(":")[0]
    if spec.source is not None and place.endswith(".py"):
        return f"{spec.source.resolve()}:{spec.key}"
    return written


def _with_texts(definition: NoCodeBenchmark) -> NoCodeBenchmark:
    from benchwright.benchmarks import freeze_nocode  # five modules that other runs do not need

    return freeze_nocode(definition)


def _loaded(definition: NoCodeBenchmark) -> BenchmarkSpec:
    from benchwright.benchmarks import load_nocode

    return load_nocode(definition)
