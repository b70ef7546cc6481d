"""Reading the parts of a row that a definition names: target, ready-made response, candidate choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.benchmarks._missing_fields import MissingFieldError
from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import Row

_ABSENT: Any = object()


def at_path(row: Row, path: str, default: Any = None) -> Any:
    """What stands in a column, or at a dotted path through dicts and lists where no column has that very name.

    >>> at_path({"a": {"b": ["x", "y"]}, "c.d": 1}, "a.b.1"), at_path({"c.d": 1}, "c.d"), at_path({}, "c.d")
    ('y', 1, None)
    """
    if "." not in path or path in row:
        return row.get(path, default)
    value: Any = row
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return default
    return value


def target_of(spec: BenchmarkSpec, row: Row) -> Any:
    """The expected answer; `""` for a row without the target column."""
    if spec.gold is not None:
        return spec.gold(row)
    return at_path(row, spec.target_field, "")


def response_of(spec: BenchmarkSpec, row: Row) -> str:
    """The ready-made response of a score-only benchmark; a null is an empty response.

    Raises MissingFieldError for a row without the column.
    """
    field = spec.response_field or ""
    value = at_path(row, field, _ABSENT)
    if value is _ABSENT:
        raise MissingFieldError(field, row)
    return "" if value is None else str(value)


def resolve_choices(spec: BenchmarkSpec, row: Row) -> list[str] | None:
    """The candidates of a row, or None when it has none.

    `choices_field` is walked as a dotted path through dicts, else looked up as a column of that very name; of a
    dict its `text` entry is taken; the value must be a non-empty list. Failing that, the fixed `choices`.
    Raises MissingFieldError for an empty candidate, which has no probability.
    """
    if spec.candidates is not None:
        return list(spec.candidates(row)) or None
    if spec.choices_field is not None:
        found = _walk(row, spec.choices_field)
        if isinstance(found, Mapping):
            found = found.get("text")
        if isinstance(found, list | tuple) and found:
            return _filled([str(choice) for choice in found], spec.choices_field, "the row's list")
    return _filled(list(spec.choices), "choices", "choices= in @benchmark") if spec.choices else None


def _filled(choices: list[str], field: str, where: str) -> list[str]:
    if "" not in choices:
        return choices
    reason = f'candidate {choices.index("") + 1} of {len(choices)} in "{field}" is empty, and nothing cannot be ranked'
    raise MissingFieldError(field, reason=f"{reason}; give it a text, or take it out of {where}")


def missing_choices(spec: BenchmarkSpec, row: Row) -> MissingFieldError:
    """Why `resolve_choices` found nothing in a row."""
    field = spec.choices_field or "choices"
    if _walk(row, field) is None and "." not in field:
        return MissingFieldError(field, row)
    found = _walk(row, field)
    kind = "nothing" if found is None else type(found).__name__
    return MissingFieldError(
        field, reason=f'choices_field "{field}" holds {kind} where a list of candidates is expected'
    )


def _walk(row: Row, path: str) -> Any:
    value: Any = row
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return row.get(path)
        value = value[part]
    return value
