"""Messages about missing fields: one row lacks a field, no row has it, or no row can be a few-shot example.

If one row lacks a field, the mistake is in the data. If all rows lack it, the mistake is in the definition, and so is the
cure. Every message names the columns, the nearest name and the cure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from benchwright.benchmarks._families import columns_there, renamed_field
from benchwright.core import MissingFieldError, clause, listed, nearest

if TYPE_CHECKING:
    from benchwright.benchmarks._fewshot import Pool
    from benchwright.benchmarks._prompts import PromptBuilder
    from benchwright.benchmarks._scan import RowScan
    from benchwright.benchmarks._spec import BenchmarkSpec
    from benchwright.benchmarks._template import Template


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
    left_out = spec.target_field == "target" and not spec.traits.questions  # there, the default is `answer`
    return None if left_out else target_problem(spec, scan)


def _read(spec: BenchmarkSpec, what: str, template: Template, field: str, columns: Sequence[str]) -> str:
    return (
        f'no row has the field "{field}" that the {what} reads; {columns_there(spec, columns)}.{renamed_field(spec, field)}'
        f"{spec.traits.field_cure(spec, what, template, field, columns)}"
    )


def parameter_without_column(spec: BenchmarkSpec, parameter: str, columns: Sequence[str]) -> str:
    """The message that no row has the column that a parameter of the definition names, with the cure."""
    return spec.traits.column_message(spec, parameter, columns)


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
    meant = f' Did you mean "{near}"?' if near else ""
    cure = spec.traits.example_cure(template, what, near)
    return f'"{field}" that the {what} reads; the rows have: {listed(columns)}.{meant} {cure}'


def _target_cure(spec: BenchmarkSpec, columns: list[str]) -> str:
    near = nearest(spec.target_field, columns)
    meant = f' Did you mean "{near}"?' if near else ""
    return f'"{spec.target_field}", the expected answer; the rows have: {listed(columns)}.{meant} {spec.traits.target_cure}'
