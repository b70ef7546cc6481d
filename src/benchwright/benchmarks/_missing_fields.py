"""Messages about missing fields: one row lacks a field, no row has it, or no row can be a few-shot example.

If one row lacks a field, the mistake is in the data. If all rows lack it, the mistake is in the definition, and so is the
cure. Every message names the columns, the nearest name and the cure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from shlex import quote
from typing import TYPE_CHECKING

from benchwright.core import MissingFieldError, clause, listed, nearest

if TYPE_CHECKING:
    from benchwright.benchmarks._fewshot import Pool
    from benchwright.benchmarks._prompts import PromptBuilder
    from benchwright.benchmarks._scan import RowScan
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.benchmarks._template import Template

_NOT_IN_BRACES = re.compile(r"[.\[\]{}!:\"'\n\r\t]|^\s|\s$|^\d*$")


def is_blank(value: object) -> bool:
    """Whether a cell is empty: null, a number that is none (NaN), an empty or blank text, or a list of such values.

    >>> is_blank(" "), is_blank([]), is_blank(["", None]), is_blank(0), is_blank(float("nan"))
    (True, True, True, False, True)
    """
    if isinstance(value, str):
        return not value or value.isspace()
    if isinstance(value, float):
        return not isfinite(value)
    return value is None or (isinstance(value, list) and all(map(is_blank, value)))


def lacks_answer(spec: BenchmarkSpec, target: object) -> bool:
    """Whether a row with this target has no answer, so that metrics leave it out."""
    return spec.needs_answer and is_blank(target)


def fields_without_column(
    spec: BenchmarkSpec, prompts: PromptBuilder, columns: Sequence[str], missing: Mapping[str, int]
) -> Iterator[str]:
    """One message for each field that the prompt and the system prompt need and no row has.

    `columns` are the fields that occur; `missing` are those that made rows unusable. A field that Jinja2 reads may have a
    default, so it counts as needed only if a row failed because of it.
    """
    for what, template in (("prompt", prompts.template), ("system_prompt", prompts.system_template)):
        if template is None or template.engine == "turns":
            continue
        for field in sorted(template.fields.difference(columns)):
            if template.engine == "format" or missing.get(field):
                yield _read(spec, what, template, field, columns)


def target_problem(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """The message that no row has the column of the expected answers, with the cure; None if one has.

    `target_error` decides whether a run may start anyway.
    """
    field = spec.target_field
    if not scan.readable or scan.missing_targets != scan.rows:
        return None
    if spec.unscored and not spec.likely_answer:
        return None  # nothing is missing: the data are known to have no answers
    if field in scan.columns and not spec.likely_answer:
        return None
    return parameter_without_column(spec, "target_field", scan.columns)


def has_column(field: str, columns: Sequence[str]) -> bool:
    """Whether a column has this name, or is the start of a dotted path."""
    return field in columns or field.split(".")[0] in columns


def target_error(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """The same message if the run must not start: every row would have an empty target, which many scorers find in any
    reply.

    This applies if the benchmark names the column. If `target_field` was left at its default, a note is enough, because some
    scorers need no target.
    """
    left_out = spec.target_field == "target" and spec.family not in (
        "mcq",
        "qa",
    )  # there, the default is `answer`
    return None if left_out else target_problem(spec, scan)


def _read(spec: BenchmarkSpec, what: str, template: Template, field: str, columns: Sequence[str]) -> str:
    near = _near(spec, field, columns)
    text = (
        f'no row has the field "{field}" that the {what} reads; {_columns(columns)}.{_renamed(spec, field)}'
    )
    if spec.family:
        return f"{text}{_question_cure(spec, columns)}"
    cures = []
    example = near or next(iter(columns), None)
    if example is not None and _fits(example, template):
        braces = f"{{{{ {example} }}}}" if template.engine == "jinja2" else f"{{{example}}}"
        cures.append(
            f"write {braces} in the {what}" if near else f"write one of them in the {what}, as {braces}"
        )
    mapping = spec.field_mapping or {}
    if near not in mapping.values():
        pair = f'{{"{near or "…"}": "{field}"}}'
        cures.append(f"add {pair} to field_mapping" if mapping else f"map the column: field_mapping={pair}")
    question = f' Did you mean "{near}"?' if near else ""
    return f"{text}{question} {_sentence(', or '.join(cures))}"


def _question_cure(spec: BenchmarkSpec, columns: Sequence[str]) -> str:
    """The cure for a file of questions that lacks a column; it has no definition to change."""
    from benchwright.benchmarks._questions.columns import likely_question  # only on the way to an error

    near = likely_question(name for name in columns if name != spec.target_field)
    question = f' Did you mean "{near}"?' if near else ""
    if spec.template is not None and spec.template.engine != "code":
        return f"{question} Write a column of the rows in the template"
    flags = f"--input-columns {quote(near) if near else 'COLUMN'}"
    what = "the column, or name it"
    if spec.likely_answer:
        flags += f" --output-column {quote(spec.likely_answer)}"
        what = "the columns, or name them"
    header = ""
    if len(columns) == 1:
        header = (
            f'. The first line of a CSV or TSV file contains the names of its columns; if "{columns[0]}" is a question, add a '
            "line above it: question"
        )
    elif near is None:
        header = ". The first line of a CSV or TSV file contains the names of its columns"
    return f"{question} Rename {what}: {flags}{header}"


def parameter_without_column(spec: BenchmarkSpec, parameter: str, columns: Sequence[str]) -> str:
    """The message that no row has the column that a parameter of the definition names, with the cure."""
    field: str = getattr(spec, parameter)
    near = _near(spec, field, columns)
    role = (
        ", which contains the expected answer unless target_field names another field"
        if (parameter, field) == ("target_field", "target")
        else f" that {parameter} names"
    )
    if spec.family == "nocode":
        hint = f' Did you mean "{near}"?' if near else ""
        return (
            f'no row has the column "{field}" of the right answer; {_columns(columns)}.{hint} Write the right one in '
            f"the style of [benchmarks.{spec.name}]"
        )
    if spec.family:
        text = (
            f'no row has the field "{field}", which should contain the expected answer; {_columns(columns)}.'
        )
        if spec.likely_answer:
            if field in columns:
                text = f'"{field}", which should contain the expected answer, is empty in all rows; {_columns(columns)}.'
            return (
                f'{text} Did you mean "{spec.likely_answer}"? Name the column: --output-column {quote(spec.likely_answer)}. To '
                "record replies without scores: --mode infer"
            )
        hint = f' Did you mean "{near}"?' if near else ""
        return f"{text}{hint} Name the column: --output-column {quote(near) if near else 'COLUMN'}"
    text = f'no row has the field "{field}"{role}; {_columns(columns)}.{_renamed(spec, field)}'
    if near is None:
        return f'{text} Write the right one in @benchmark: {parameter}="…"'
    return f'{text} Did you mean "{near}"? Write {parameter}="{near}" in @benchmark'


def _columns(columns: Sequence[str]) -> str:
    return f"the rows have: {listed(columns)}" if columns else "the rows have no fields"


def _near(spec: BenchmarkSpec, field: str, columns: Sequence[str]) -> str | None:
    renamed = (spec.field_mapping or {}).get(field)
    return renamed if renamed in columns else nearest(field, columns)


def _renamed(spec: BenchmarkSpec, field: str) -> str:
    for source, target in (spec.field_mapping or {}).items():
        if source == field:
            return f' field_mapping has renamed it to "{target}".'
        if target == field:
            return f' field_mapping makes it of "{source}", which no row has either.'
    return ""


def _fits(name: str, template: Template) -> bool:
    """Whether a column can be named inside braces."""
    return name.isidentifier() if template.engine == "jinja2" else not _NOT_IN_BRACES.search(name)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def why_no_examples(spec: BenchmarkSpec, main: Template, own: Template | None, pool: Pool) -> str:
    """Why no row of a non-empty pool can be an example; `own` is the template of examples.

    A run without examples is a different run, which must not happen silently.
    """
    columns = list(dict.fromkeys(name for row in pool.rows for name in row))
    where = f"benchmark {spec.name!r}: no row of {pool.place} can be a few-shot example"
    zero = "or run without examples: --num-fewshot 0"
    try:
        (own or main).render(pool.rows[0])
    except MissingFieldError as error:
        field = re.split(r"[.\[]", error.field)[0]
        if field in columns and all(row.get(field) is None for row in pool.rows):
            return f'{where}: "{field}" is null in all of them; {zero}'
        if field in columns:
            return f"{where}. The first one: {clause(error)}; {zero}"
        what = "prompt" if own is None else "fewshot_template"
        return f"{where}: none has the field {_cure(spec, own or main, what, field, columns)}, {zero}"
    if spec.target_field in columns:
        return f'{where}: "{spec.target_field}", the expected answer, is null in all of them; {zero}'
    return f"{where}: none has the field {_target_cure(spec, columns)}, {zero}"


def _cure(spec: BenchmarkSpec, template: Template, what: str, field: str, columns: list[str]) -> str:
    near = nearest(field, columns)
    text = f'"{field}" that the {what} reads; the rows have: {listed(columns)}.'
    if near is not None:
        text += f' Did you mean "{near}"?'
    if spec.family:
        return f"{text} Name the columns as in the data"
    if what == "prompt":
        return f"{text} Give the examples a fewshot_template with names of their own, map the column with field_mapping"
    written = near or "…"
    braces = f"{{{{ {written} }}}}" if template.engine == "jinja2" else f"{{{written}}}"
    return f"{text} Write {braces} in the fewshot_template"


def _target_cure(spec: BenchmarkSpec, columns: list[str]) -> str:
    near = nearest(spec.target_field, columns)
    text = f'"{spec.target_field}", the expected answer; the rows have: {listed(columns)}.'
    if near is not None:
        text += f' Did you mean "{near}"?'
    if spec.family:
        return f"{text} Name the column as in the data"
    return f"{text} Name the column with target_field, give a fewshot_template that does without it"
