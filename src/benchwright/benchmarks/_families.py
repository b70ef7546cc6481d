"""The families of benchmarks, one row each: where users define a benchmark, and what follows from that for rows and messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from benchwright.core import data_format, late_pattern, listed, nearest

if TYPE_CHECKING:
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.benchmarks._template import Template

FamilyName: TypeAlias = Literal["", "mcq", "qa", "nocode", "bfcl"]

_NOT_IN_BRACES = late_pattern(r"[.\[\]{}!:\"'\n\r\t]|^\s|\s$|^\d*$")


class Family(Struct, frozen=True, kw_only=True):
    """What benchmarks that are defined in the same place have in common."""

    eval_type: str
    """The evaluation type that `run_eval` and result files use, with `{key}` for that of the benchmark."""
    questions: bool = False
    """Whether it is a bare file of questions, whose columns are named by flags."""
    may_lack_answers: bool = True
    """Whether a row without an answer is left out of every metric; otherwise its answer is taken as empty."""
    null_in_prompts: str = "empty"
    """What null is in a prompt."""
    examples_flag: str = "fewshot_dataset= in @benchmark"
    """How users give examples a separate source."""
    ranks_with: str | None = ""
    """What to do if the choices of a row are to be ranked, and it has none; None: its definition may name them."""
    field_cure: Callable[[BenchmarkSpec, str, Template, str, Sequence[str]], str]
    """The cure for a field that a template (`prompt` or `system_prompt`) reads and no row has."""
    column_message: Callable[[BenchmarkSpec, str, Sequence[str]], str]
    """The message that no row has the column that a parameter names, with the cure."""
    example_cure: Callable[[Template, str, str | None], str]
    """The cure for a field that a template of examples reads and no row has; the last argument is a similar column."""
    target_cure: str = "Name the column as in the data"
    """The cure for examples without the column of the expected answer."""


def columns_there(spec: BenchmarkSpec, columns: Sequence[str]) -> str:
    """The columns of the data, for a message: by their own names, and without those that the layout of questions adds."""
    written = {usual: name for name, usual in (spec.field_mapping or {}).items()}
    if spec.traits.questions and spec.shape is not None:
        columns = [
            name
            for name in columns
            if name in written or name in spec.sources or not (len(name) == 1 or name == spec.target_field)
        ]
    if spec.traits.questions:
        columns = [written.get(name, name) for name in columns]
    return f"the rows have: {listed(columns)}" if columns else "the rows have no fields"


def renamed_field(spec: BenchmarkSpec, field: str) -> str:
    """A sentence on what the field mapping has to do with a missing field; empty if nothing."""
    for source, target in (spec.field_mapping or {}).items():
        if source == field:
            return f' field_mapping has renamed it to "{target}".'
        if target == field:
            return f' field_mapping makes it of "{source}", which no row has either.'
    return ""


def _near(spec: BenchmarkSpec, field: str, columns: Sequence[str]) -> str | None:
    renamed = (spec.field_mapping or {}).get(field)
    return renamed if renamed in columns else nearest(field, columns)


def _meant(near: str | None) -> str:
    return f' Did you mean "{near}"?' if near else ""


def _python_field(
    spec: BenchmarkSpec, what: str, template: Template, field: str, columns: Sequence[str]
) -> str:
    near = _near(spec, field, columns)
    cures = []
    example = near or next(iter(columns), None)
    if example is not None and _fits(example, template):
        braces = _in_braces(template, example)
        cures.append(
            f"write {braces} in the {what}" if near else f"write one of them in the {what}, as {braces}"
        )
    mapping = spec.field_mapping or {}
    if near not in mapping.values():
        pair = f'{{"{near or "…"}": "{field}"}}'
        cures.append(f"add {pair} to field_mapping" if mapping else f"map the column: field_mapping={pair}")
    text = ", or ".join(cures)
    return f"{_meant(near)} {text[:1].upper()}{text[1:]}"


def _fits(name: str, template: Template) -> bool:
    """Whether a column can be named inside braces."""
    return name.isidentifier() if template.engine == "jinja2" else not _NOT_IN_BRACES.search(name)


def _in_braces(template: Template, name: str) -> str:
    return f"{{{{ {name} }}}}" if template.engine == "jinja2" else f"{{{name}}}"


def _python_column(spec: BenchmarkSpec, parameter: str, columns: Sequence[str]) -> str:
    field: str = getattr(spec, parameter)
    near = _near(spec, field, columns)
    role = (
        ", which contains the expected answer unless target_field names another field"
        if (parameter, field) == ("target_field", "target")
        else f" that {parameter} names"
    )
    text = (
        f'no row has the field "{field}"{role}; {columns_there(spec, columns)}.{renamed_field(spec, field)}'
    )
    if near is None:
        return f'{text} Write the right one in @benchmark: {parameter}="…"'
    return f'{text} Did you mean "{near}"? Write {parameter}="{near}" in @benchmark'


def _python_example(template: Template, what: str, near: str | None) -> str:
    if what == "prompt":
        return (
            "Give the examples a fewshot_template with names of their own, map the column with field_mapping"
        )
    return f"Write {_in_braces(template, near or '…')} in the fewshot_template"


def _question_field(
    spec: BenchmarkSpec, what: str, template: Template, field: str, columns: Sequence[str]
) -> str:
    """The cure for a file of questions that lacks a column; it has no definition to change."""
    from benchwright.benchmarks._questions.columns import (  # only on the way to an error
        likely_question,
        looks_like_content,
    )

    near = likely_question(name for name in columns if name != spec.target_field)
    if spec.template is not None and spec.template.engine != "code":
        return f"{_meant(near)} Write a column of the rows in the template"
    flags = f"--input-columns {quote(near) if near else 'COLUMN'}"
    rename = "the column, or name it"
    if spec.likely_answer:
        flags += f" --output-column {quote(spec.likely_answer)}"
        rename = "the columns, or name them"
    if not _header_names_columns(spec):
        return f"{_meant(near)} Rename {rename}: {flags}"
    if any(map(looks_like_content, columns)) or len(columns) == 1:
        names = {1: "question", 2: "question,answer"}.get(len(columns), "question,A,B,…,answer")
        return (
            f"{_meant(near)} The first line of a CSV or TSV file contains the names of its columns. If it is a row of the data here, add "
            f"a line above it, such as {names}; otherwise, rename {rename}: {flags}"
        )
    header = "" if near else ". The first line of a CSV or TSV file contains the names of its columns"
    return f"{_meant(near)} Rename {rename}: {flags}{header}"


def _header_names_columns(spec: BenchmarkSpec) -> bool:
    """Whether the names of fields may be in the first line of the data; not if each row has them."""
    found = data_format(spec.dataset) if isinstance(spec.dataset, str) else None
    return found is None or (found.fixed_columns and bool(found.options))


def _question_column(spec: BenchmarkSpec, parameter: str, columns: Sequence[str]) -> str:
    field: str = getattr(spec, parameter)
    there = columns_there(spec, columns)
    text = f'no row has the field "{field}", which should contain the expected answer; {there}.'
    if spec.likely_answer:
        if field in columns:
            text = f'"{field}", which should contain the expected answer, is empty in all rows; {there}.'
        return (
            f'{text} Did you mean "{spec.likely_answer}"? Name the column: --output-column {quote(spec.likely_answer)}. To '
            "record replies without scores: --mode infer"
        )
    near = _near(spec, field, columns)
    return f"{text}{_meant(near)} Name the column: --output-column {quote(near) if near else 'COLUMN'}"


def _nocode_column(spec: BenchmarkSpec, parameter: str, columns: Sequence[str]) -> str:
    field: str = getattr(spec, parameter)
    return (
        f'no row has the column "{field}" of the right answer; {columns_there(spec, columns)}.{_meant(_near(spec, field, columns))} '
        f"Write the right one in the style of [benchmarks.{spec.name}]"
    )


def _as_in_the_data(template: Template, what: str, near: str | None) -> str:
    return "Name the columns as in the data"


def _questions(name: str, ranks_with: str = "") -> Family:
    return Family(
        eval_type=f"{name}.{{key}}",
        questions=True,
        examples_flag="--fewshot-dataset FILE",
        ranks_with=ranks_with,
        field_cure=_question_field,
        column_message=_question_column,
        example_cure=_as_in_the_data,
    )


FAMILIES: Mapping[FamilyName, Family] = {
    "": Family(
        eval_type="byob_{key}.{key}",
        may_lack_answers=False,
        null_in_prompts='written as "None"',
        ranks_with=None,
        field_cure=_python_field,
        column_message=_python_column,
        example_cure=_python_example,
        target_cure="Name the column with target_field, give a fewshot_template that does without it",
    ),
    "mcq": _questions("mcq", ", or rank its options: --infer-method logprob"),
    "qa": _questions("qa"),
    "nocode": Family(
        eval_type="nocode.{key}",
        field_cure=_question_field,
        column_message=_nocode_column,
        example_cure=_as_in_the_data,
    ),
    "bfcl": Family(
        eval_type="bfcl.{key}",
        field_cure=_question_field,
        column_message=_question_column,
        example_cure=_as_in_the_data,
    ),
}
"""The families by name: a benchmark in Python, two kinds of files of questions, a table of the configuration, function calling."""
