"""Turns an evaluation without code into a benchmark: prompt, row checks, scorer, figures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchwright.benchmarks._nocode.choices import ChoiceReader
from benchwright.benchmarks._nocode.figures import LabelFigures, RightAnswers, Similarities
from benchwright.benchmarks._nocode.graders import (
    choice_scorer,
    golden_check,
    grader_scorer,
    headline_of,
    judge_config,
)
from benchwright.benchmarks._nocode.templates import RowTemplate, scalar_text
from benchwright.benchmarks._spec import BenchmarkSpec, Derived, History, RowCheck
from benchwright.benchmarks._template import Engine, Template
from benchwright.config import GraderStyle, NoCodeBenchmark
from benchwright.core import (
    ConfigError,
    Information,
    JsonObject,
    JsonValue,
    MetricSummary,
    MissingFieldError,
    Row,
    canonical_json,
    normalise_name,
)


def freeze_nocode(definition: NoCodeBenchmark) -> NoCodeBenchmark:
    """The definition with the text of its template files. ConfigError for one that cannot be read."""
    prompt = _text(definition.prompt, definition.prompt_file, "prompt_template_file")
    system = _text(definition.system, definition.system_file, "system_template_file")
    fewshot = definition.fewshot
    if fewshot is not None:
        template = _text(fewshot.template, fewshot.template_file, "fewshot template_file")
        fewshot = replace(fewshot, template=template)
    return replace(definition, prompt=prompt, system=system, fewshot=fewshot)


def load_nocode(definition: NoCodeBenchmark) -> BenchmarkSpec:
    """The benchmark of a definition whose templates are read. The data are not read.

    Raises ConfigError for templates that cannot be compiled and functions that do not exist.
    """
    choices, grader = definition.choices, definition.grader
    read = None if choices is None else ChoiceReader(choices)
    golden: Callable[[Row], str]
    if read is not None:
        golden = read.golden
        field = choices.answer_column if choices is not None else ""
    else:
        assert grader is not None  # a table has one or the other
        field = grader.golden_column
        golden = _golden_reader(field)
    compile_ = _compiler(read)
    prompt, system, history = _prompts(definition, compile_)
    folder = Path(definition.folder)
    scorer = (
        choice_scorer(read)
        if read is not None
        else grader_scorer(grader, prompt.render, folder)
        if grader is not None
        else None
    )
    assert scorer is not None
    return BenchmarkSpec(
        name=definition.name,
        key=normalise_name(definition.name, any_script=True) or "nocode",
        dataset=_dataset(definition.dataset, folder),
        prompt="",
        scorer=scorer,
        target_field=field,
        config=judge_config(grader),
        base_dir=folder,
        template=prompt,
        system=system,
        history=history,
        gold=None if read is None else golden,
        example=_example(definition, prompt, golden, read),
        check_row=_row_check(definition, read, history),
        headline=headline_of(grader),
        remarks=_remarks(definition),
        derive=_derive(definition),
        family="nocode",
        rules=_rules(definition),
        **_fewshot(definition),
    )


def _text(text: str | None, file: str | None, key: str) -> str | None:
    if text is not None or file is None:
        return text
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"{key}: there is no file {file}. Relative paths start at the configuration file"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{key}: {file} cannot be read: {error}") from None


def _compiler(read: ChoiceReader | None) -> Callable[[str, str], RowTemplate]:
    """How templates of an evaluation are compiled: with the choices of its rows, or with none."""
    names = {"choices": frozenset[str]() if read is None else read.columns}

    def values(row: Row) -> Mapping[str, Any]:
        return {"choices": [] if read is None else read(row)[0]}

    return lambda text, what: RowTemplate(text, what, values=values, names=names)


def _prompts(
    definition: NoCodeBenchmark, compiled: Callable[[str, str], RowTemplate]
) -> tuple[RowTemplate, Template | None, History | None]:
    system = None if definition.system is None else compiled(definition.system, "system_template")
    if not definition.messages:
        what = "prompt" if definition.prompt_file is None else f"prompt ({Path(definition.prompt_file).name})"
        return compiled(definition.prompt or "", what), system, None
    turns = [
        (role, compiled(text, f"messages, entry {number}"))
        for number, (role, text) in enumerate(definition.messages, 1)
    ]
    if turns[0][0] == "system":
        system = turns.pop(0)[1]
    _, prompt = turns.pop()
    if not turns:
        return prompt, system, None

    def history(row: Row) -> Sequence[JsonObject]:
        return [{"role": role, "content": template.render(row)} for role, template in turns]

    return prompt, system, history


def _golden_reader(column: str) -> Callable[[Row], str]:
    return lambda row: scalar_text(row, column, "golden_column")


def _row_check(definition: NoCodeBenchmark, read: ChoiceReader | None, history: History | None) -> RowCheck:
    grader = definition.grader
    golden = None if grader is None else _golden_reader(grader.golden_column)
    problem_of = None if grader is None else golden_check(grader)

    def check(row: Row) -> None:
        if read is not None:
            read(row)
        if golden is not None and problem_of is not None and grader is not None:
            problem = problem_of(golden(row))
            if problem is not None:
                column = grader.golden_column
                raise MissingFieldError(column, reason=f'golden_column "{column}": {problem}')
        if history is not None:
            history(row)

    return check


def _example(
    definition: NoCodeBenchmark, prompt: RowTemplate, golden: Callable[[Row], str], read: ChoiceReader | None
) -> Template | None:
    """One solved example: as the table writes it, else the prompt and its answer below."""
    fewshot = definition.fewshot
    if fewshot is None:
        return None

    def values(row: Row) -> Mapping[str, Any]:
        choices, answer = read(row) if read is not None else ([], golden(row))
        return {"choices": choices, "answer": answer}

    own = definition.grader.golden_column if definition.grader is not None else ""
    names = {"choices": frozenset[str]() if read is None else read.columns, "answer": frozenset({own} - {""})}
    if fewshot.template is not None:
        return RowTemplate(fewshot.template, "fewshot template", values=values, names=names)
    return _Solved(prompt, lambda row: str(values(row)["answer"]), prompt.fields | names["answer"])


class _Solved:
    """A prompt with its answer on the next line."""

    engine: Engine = "code"

    def __init__(self, prompt: RowTemplate, answer: Callable[[Row], str], fields: frozenset[str]) -> None:
        self.text = f"{prompt.text}\n<answer>"
        self.fields = fields
        self._prompt = prompt
        self._answer = answer

    def render(self, row: Row) -> str:
        return f"{self._prompt.render(row)}\n{self._answer(row)}"


def _fewshot(definition: NoCodeBenchmark) -> dict[str, Any]:
    fewshot = definition.fewshot
    if fewshot is None:
        return {}
    return {
        "num_fewshot": fewshot.count,
        "fewshot_dataset": [dict(row) for row in fewshot.rows] if fewshot.rows else fewshot.dataset,
        "fewshot_prefix": fewshot.prefix,
        "fewshot_separator": fewshot.separator,
    }


def _remarks(definition: NoCodeBenchmark) -> Callable[[Mapping[str, MetricSummary]], list[str]]:
    headline = headline_of(definition.grader)
    choices = definition.choices

    def remarks(metrics: Mapping[str, MetricSummary]) -> list[str]:
        found: list[str] = []
        if choices is not None and choices.seed_column is not None:
            found.append(Information(f"choices are shuffled by {choices.seed_column} ({choices.algorithm})"))
        metric = metrics.get(headline or "")
        if (
            definition.on_row_error == "count_wrong"
            and metric is not None
            and metric.with_failures is not None
        ):
            found.append(
                Information(
                    f"{headline} with failed rows as wrong (on_row_error): {metric.with_failures:.4f} of "
                    f"{metric.with_failures_count}"
                )
            )
        return found

    return remarks


def _derive(definition: NoCodeBenchmark) -> Callable[[], Derived] | None:
    choices, metrics = definition.choices, definition.metrics
    if choices is not None and metrics:
        return lambda: LabelFigures(choices.labels, metrics)
    kind = None if definition.grader is None else definition.grader.type
    if kind == "levenshtein":
        return Similarities
    return RightAnswers if kind == "leading_label" else None


def _dataset(dataset: str, folder: Path) -> str:
    """The path relative to that folder, as a user would write it."""
    path = Path(dataset)
    if "://" not in dataset and path.is_absolute() and path.is_relative_to(folder):
        return str(path.relative_to(folder))
    return dataset


def _rules(definition: NoCodeBenchmark) -> str:
    """Everything that determines prompts and scores and is in no template; part of the benchmark's hash."""
    deciding = definition.to_json()
    for elsewhere in ("name", "dataset", "folder", "prompt", "prompt_file", "system", "system_file"):
        deciding.pop(elsewhere)
    fewshot = deciding["fewshot"]
    if isinstance(fewshot, dict):
        deciding["fewshot"] = {k: v for k, v in fewshot.items() if k not in ("dataset", "template_file")}
    grader = definition.grader
    if grader is not None:
        deciding["function"] = _code_hash(grader, Path(definition.folder))
        deciding["grader"] = {**_mapping(deciding["grader"]), "function": None}
    return canonical_json(deciding).decode()


def _code_hash(grader: GraderStyle, folder: Path) -> JsonValue:
    place, _, name = (grader.function or "").rpartition(":")
    path = folder / place
    if not place.endswith(".py") or not path.is_file():
        return grader.function
    return [name, hashlib.sha256(path.read_bytes()).hexdigest()]


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}
