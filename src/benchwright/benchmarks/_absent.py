"""Fields that the definition names and no row has: said once, with the columns, the near name and the cure.

One row without a field is a slip in the data; all rows without it are a slip in the definition, so the cure
begins there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from benchwright.benchmarks._missing import listed, nearest
from benchwright.benchmarks._prompts import PromptBuilder
from benchwright.benchmarks._spec import BenchmarkSpec, Strategy
from benchwright.benchmarks._template import Template
from benchwright.benchmarks._turns import OpeningTurn

if TYPE_CHECKING:
    from benchwright.benchmarks._scan import RowScan

_NOT_IN_BRACES = re.compile(r"[.\[\]{}!:\"'\n\r\t]|^\s|\s$|^\d*$")


def absent_fields(
    spec: BenchmarkSpec,
    prompts: PromptBuilder,
    strategy: Strategy,
    columns: Sequence[str],
    missing: Mapping[str, int],
) -> Iterator[str]:
    """One text for each field that is needed to ask a row, and that no row has.

    `columns` are the fields that occur, `missing` those that made rows unusable: what Jinja2 reads may have a
    default, and only counts as needed when a row failed for it.
    """
    if strategy == "score_only":
        if spec.response_field is not None and not _has(spec.response_field, columns):
            yield _named(spec, "response_field", columns)
        return
    for what, template in (("prompt", prompts.template), ("system_prompt", prompts.system_template)):
        if template is None or isinstance(template, OpeningTurn):
            continue
        for field in sorted(template.fields.difference(columns)):
            if template.engine == "format" or missing.get(field):
                yield _read(spec, what, template, field, columns)
    if strategy == "multi_turn" and spec.turns_field is not None and spec.turns_field not in columns:
        yield _named(spec, "turns_field", columns)
    choices = spec.choices_field
    if strategy != "choices" or choices is None or spec.choices is not None:
        return
    if not _has(choices, columns):
        yield _named(spec, "choices_field", columns)


def target_problem(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """That no row has the column with the expected answers, with the cure; None when one has.

    Whether a run may go on all the same, `target_error` says.
    """
    field = spec.target_field
    if not scan.readable or field in scan.columns or scan.missing_targets != scan.rows:
        return None
    if spec.unscored and nearest(field, scan.columns) is None:
        return None  # nothing is missing: the data are known to have no answers
    return _named(spec, "target_field", scan.columns)


def _has(field: str, columns: Sequence[str]) -> bool:
    """Whether a column has this name, or is where a dotted path begins."""
    return field in columns or field.split(".")[0] in columns


def target_error(spec: BenchmarkSpec, scan: RowScan) -> str | None:
    """The same where nothing may be sent: every row would have the empty target, which many scorers find in any
    reply.

    So it is where the benchmark names the column itself. Where `target_field` was left at its default a note is
    enough: some scorers need no target.
    """
    return None if spec.target_field == "target" else target_problem(spec, scan)


def _read(spec: BenchmarkSpec, what: str, template: Template, field: str, columns: Sequence[str]) -> str:
    near = _near(spec, field, columns)
    text = (
        f'no row has the field "{field}" that the {what} reads; {_columns(columns)}.{_renamed(spec, field)}'
    )
    if spec.family:
        return f"{text}{_question_cure(spec, field, near)}"
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


def _question_cure(spec: BenchmarkSpec, field: str, near: str | None) -> str:
    """How a file of questions gets a column that it lacks: it has no definition to change."""
    question = f' Did you mean "{near}"?' if near else ""
    if spec.template is not None and spec.template.engine != "code":
        return f"{question} Write a column of the rows in the template"
    header = "" if near else ". The first line of a CSV or TSV file holds the names of its columns"
    return f"{question} Rename the column, or name it: --input-columns {near or 'COLUMN'}{header}"


def _named(spec: BenchmarkSpec, parameter: str, columns: Sequence[str]) -> str:
    field: str = getattr(spec, parameter)
    near = _near(spec, field, columns)
    role = (
        ", where the expected answer is looked for unless target_field says otherwise"
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
            f'no row has the field "{field}", where the expected answer is looked for; {_columns(columns)}.'
        )
        hint = f' Did you mean "{near}"?' if near else ""
        return f"{text}{hint} Name the column: --output-column {near or 'COLUMN'}"
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
    """Whether a column can be named inside braces at all."""
    return name.isidentifier() if template.engine == "jinja2" else not _NOT_IN_BRACES.search(name)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
