"""Why no row of a pool can be a few-shot example: said with the field, the near name and the cure.

Without any example the run is another one, which must not happen quietly.
"""

from __future__ import annotations

import re

from benchwright.benchmarks._examples import FewShotSource, example_template
from benchwright.benchmarks._missing import MissingFieldError, listed, nearest
from benchwright.benchmarks._pools import Pool
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.benchmarks._template import Template

_NAMES: dict[FewShotSource, str] = {
    "fewshot_dataset": "the few-shot dataset",
    "fewshot_split": "the few-shot split",
    "outside_rows": "the dataset",
    "overlapping_rows": "the dataset",
}


def why_no_examples(spec: BenchmarkSpec, main: Template, pool: Pool) -> str:
    """What makes every row of a pool, which has rows, unusable as an example."""
    columns = list(dict.fromkeys(name for row in pool.rows for name in row))
    own = example_template(spec, main)
    where = f"benchmark {spec.name!r}: no row of {_NAMES[pool.source]} can be a few-shot example"
    zero = "or run without examples: --num-fewshot 0"
    try:
        (own or main).render(pool.rows[0])
    except MissingFieldError as error:
        field = re.split(r"[.\[]", error.field)[0]
        if field in columns and all(row.get(field) is None for row in pool.rows):
            return f'{where}: "{field}" is null in all of them; {zero}'
        if field in columns:
            return f"{where}. The first one: {error}; {zero}"
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
