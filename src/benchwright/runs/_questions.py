"""Turns the options of a run into those of a question file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.benchmarks import (
    BenchmarkSpec,
)
from benchwright.config import BY_NAME, RUN_SETTINGS, ConfigFile, RunOptions
from benchwright.core import LEFT_OUT, JsonObject, UsageError, expand_home, suggest

if TYPE_CHECKING:
    from benchwright.benchmarks import BenchmarkSpec, QuestionOptions

QUESTION_SETTINGS = tuple(setting.name for setting in RUN_SETTINGS if setting.group == "questions")
"""Names of the options of files of questions."""

OWN_SETTINGS = tuple(
    setting.name for setting in RUN_SETTINGS if setting.group == "questions" and "model" not in setting.tables
)
"""Those of them that no other benchmark has. What a model's table may set, such as its system message, fits all."""

_RECORDED = tuple(name for name in OWN_SETTINGS if not name.startswith("judge_"))
"""Those that `QuestionOptions` has under their own names."""

ONLY_MCQ = tuple(setting.name for setting in RUN_SETTINGS if setting.only == "mcq")
"""Settings that concern options of multiple choice."""

_ONLY_QA = tuple(setting.name for setting in RUN_SETTINGS if setting.only == "qa")


def question_options(options: RunOptions, config: ConfigFile | None) -> QuestionOptions:
    """The options of a question file: how rows become prompts, and how replies are scored."""
    from benchwright.benchmarks import QuestionOptions  # for files of questions

    given = given_questions(options)
    judge = {**_judge(given, config), **(options.judge or {})}
    values = {name: value for name, value in given.items() if name in _RECORDED}
    return QuestionOptions.of({**values, **({"judge": judge} if judge else {})})


def changed_questions(
    record: Mapping[str, Any], options: RunOptions, config: ConfigFile | None
) -> JsonObject:
    """The recorded settings of a question file with the changes of the options."""
    from benchwright.benchmarks import QuestionOptions

    chosen = question_options(options, config).to_json()
    changed = {name for name in given_questions(options) if name in _RECORDED}
    if chosen["judge"]:
        changed.add("judge")
    if "qa_metrics" in changed:  # in place of a recorded evaluator, which would decide otherwise
        changed |= {"evaluator", "evaluator_kwargs"}
    return QuestionOptions.from_json({**record, **{name: chosen[name] for name in changed}}).to_json()


def given_questions(options: RunOptions) -> dict[str, Any]:
    """The options of question files that were given."""
    values = {name: getattr(options, name) for name in QUESTION_SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def refuse_questions(names: Iterable[str], target: str) -> None:
    """Raise UsageError for options that a benchmark in Python does not have, with the cure."""
    flags = [flag(name) for name in names if name in OWN_SETTINGS]
    if flags:
        raise UsageError(
            f"{', '.join(flags)}: only files of questions (test.csv, test.jsonl, …) take this, and {target} is a "
            "benchmark with settings of its own; change them in its @benchmark"
        )


def refuse_second_system(given: object, spec: BenchmarkSpec) -> None:
    """Raise UsageError for a system message that would not be sent, because the benchmark has its own."""
    if given is not None and (spec.system is not None or spec.system_prompt is not None):
        raise UsageError(
            f"{flag('system')}: {spec.name} has a system prompt of its own; change it where the benchmark is defined, or "
            "leave the setting out"
        )


def system_of(
    options: RunOptions, spec: BenchmarkSpec, model: str | None, folder: Path | None = None
) -> str | None:
    """The system message for a benchmark without one: the option's or the model's, as text or as a file in `folder` (None:
    the current one)."""
    said = model if options.system is None else options.system
    if said is None or spec.system is not None or spec.system_prompt is not None:
        return model
    from benchwright.benchmarks import text_or_file

    return text_or_file(said, folder or Path.cwd(), flag("system"))


def refuse_idle(names: Iterable[str], spec: BenchmarkSpec) -> None:
    """Raise UsageError for settings that would have no effect: of the other type of questions, or metrics next to an evaluator."""
    names = list(names)
    if "evaluator" in names and "qa_metrics" in names:
        raise UsageError(
            f"{flag('evaluator')}, {flag('qa_metrics')}: both say how replies are scored; keep one of them"
        )
    idle = _ONLY_QA if spec.family == "mcq" else tuple(name for name in ONLY_MCQ if name != "infer_method")
    flags = [flag(name) for name in names if name in idle]
    if flags:
        other = "qa" if spec.family == "mcq" else "mcq"
        instead = f", or score with {flag('evaluator')} NAME" if flag("qa_metrics") in flags else ""
        raise UsageError(
            f"{', '.join(flags)}: only {other} files take this, and {spec.dataset} is {spec.family}; leave it out{instead}"
        )


def fitting(options: RunOptions, family: str) -> RunOptions:
    """The options without those that a run of this family does not take: `mcq`, `qa`, or anything else.

    Used for several runs at once: a common option applies to the runs that have it.
    """
    idle = {"mcq": _ONLY_QA, "qa": ONLY_MCQ}.get(family, QUESTION_SETTINGS)
    return replace(options, **dict.fromkeys(idle))


def refuse_unheard(options: RunOptions, families: Iterable[str]) -> None:
    """Raise UsageError for an option that none of several runs has."""
    heard = {name for family in families for name in given_questions(fitting(options, family))}
    unheard = [flag(name) for name in given_questions(options) if name not in heard]
    if unheard:
        raise UsageError(f"{', '.join(unheard)}: none of the datasets takes this")


def flag(name: str) -> str:
    """The flag of a setting."""
    return f"--{name.replace('_', '-')}"


def _judge(given: Mapping[str, Any], config: ConfigFile | None) -> JsonObject:
    judge: JsonObject = {s.judge: given[name] for name, s in BY_NAME.items() if s.judge and name in given}
    if "ca_file" in judge:  # a resumed run may start in another folder
        judge["ca_file"] = str(expand_home(str(judge["ca_file"])).absolute())
    named = given.get("judge_model")
    if named is None:
        return judge
    if judge:
        raise UsageError(
            "--judge-model names a configured model and --judge-url describes one; give only one"
        )
    return named_judge(named, config)


def named_judge(named: str, config: ConfigFile | None) -> JsonObject:
    """The settings of a judge, by its name in the configuration."""
    models = config.models if config is not None else {}
    model = models.get(named)
    if model is None and named == "demo":
        return {"url": named}
    if model is not None and model.type == "demo":
        if model.demo:
            raise UsageError(
                f"a demo judge has no settings of its own, and [models.{named}] has {', '.join(model.demo)}. Name the plain one: demo"
            )
        return {"url": model.type, "model_id": named}
    if model is not None:
        model = model.at_provider()
    if model is None or model.base_url is None:
        usable = [name for name, known in models.items() if known.base_url or known.provider]
        raise UsageError(
            f"no model named {named!r} can be a judge.{suggest(named, usable)} Known: "
            f"{', '.join([*usable, 'demo'])}. Describe it in a [models.{named}] table of benchwright.toml, or with "
            "--judge-url URL --judge-id ID"
        )
    if model.api != "openai" or model.model is None:
        why = "names no model" if model.model is None else f"speaks {model.api}"
        raise UsageError(
            f"a judge by name needs OpenAI's chat route, and [models.{named}] {why}. Choose another model"
        )
    if model.pipeline is not None and model.pipeline.changing:
        raise UsageError(
            f"requests to judges do not go through a pipeline, and [models.{named}] has one that changes them. Choose another model, or "
            "describe the judge: --judge-url URL --judge-id ID"
        )
    found: JsonObject = {"url": model.base_url, "model_id": model.model}
    for key, value in (
        ("api_key", model.api_key_name),
        ("max_new_tokens", model.generation.get("max_tokens")),
        ("verify", model.verify),
        ("ca_file", model.ca_file),
    ):
        if value is not None and value != LEFT_OUT:
            found[key] = value
    return found
