"""Files of questions, and datasets by their URI."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec, written_as
from benchwright.core import QUESTIONS, JsonObject, UsageError
from benchwright.runs._questions import given_questions, question_options, refuse_idle
from benchwright.runs._targets.values import Asked, Target, TargetKind

if TYPE_CHECKING:
    from benchwright.benchmarks import QuestionOptions


def _define(asked: Asked) -> list[Target]:
    effective = asked.options.over(asked.defaults)
    if effective.dataset is not None:
        raise UsageError(f"--dataset: {asked.target} is already the data; give the other file as the target")
    if effective.fewshot_dataset is not None and effective.num_fewshot is None:
        raise UsageError("--fewshot-dataset: say how many examples to show, as in --num-fewshot 5")
    options = question_options(effective, asked.config)
    if asked.place != asked.target:  # the configuration gives it a name
        options = replace(options, name=asked.target)
    from benchwright.benchmarks import load_questions  # a dozen modules that Python benchmarks do not need

    spec = load_questions(asked.place, options, cwd=asked.cwd)
    refuse_idle([*asked.own, *given_questions(asked.options)], spec)
    return [question_target(spec, asked.target, asked.place, options, asked.cwd, asked.defaults)]


def question_target(
    spec: BenchmarkSpec,
    written: str,
    file: str,
    options: QuestionOptions,
    folder: Path,
    defaults: Mapping[str, Any],
) -> Target:
    """The target of a file of questions that was loaded with `options`."""
    return Target(spec, written, question_definition(file, folder, options.to_json()), defaults)


def question_definition(file: str, folder: Path | str, options: JsonObject) -> JsonObject:
    """What a run of a file of questions records."""
    return {"kind": QUESTIONS, "target": file, "folder": str(folder), "settings": options}


def _load(definition: JsonObject) -> BenchmarkSpec:
    from benchwright.benchmarks import QuestionOptions, load_questions

    settings: Any = definition["settings"]
    return load_questions(
        str(definition["target"]),
        QuestionOptions.from_json(settings),
        cwd=Path(str(definition["folder"])),
    )


KIND = TargetKind(
    QUESTIONS,
    lambda asked: written_as(asked.place) == "questions",
    _define,
    _load,
    takes=frozenset({"questions"}),
)
