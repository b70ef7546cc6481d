"""Reads the parts of a row that a definition names, and checks the filters of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from benchwright.core import BenchmarkError, MissingFieldError, Row, clause, suggest
from benchwright.datasets import Filter, open_dataset

if TYPE_CHECKING:
    from benchwright.benchmarks._spec import BenchmarkSpec

_ABSENT: Any = object()


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


def at_path(row: Row, path: str, default: Any = None) -> Any:
    """The value of a column, or at a dotted path through dicts and lists if no column has exactly that name.

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
    return spec.target_reader()(row)


def column_reader(path: str, default: Any = None) -> Callable[[Row], Any]:
    """The function that reads a column of many rows, like `at_path`, but decides once what a path without dots means."""
    if "." in path:
        return lambda row: at_path(row, path, default)
    return lambda row: row.get(path, default)


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
    """The candidates of a row, or None if it has none.

    `choices_field` is a dotted path through dicts, or the exact name of a column. If the value is a dict, its `text` entry is
    used. It must be a non-empty list; otherwise the fixed `choices` are used.
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
    reason = f'candidate {choices.index("") + 1} of {len(choices)} in "{field}" is empty, and an empty candidate cannot be ranked'
    raise MissingFieldError(field, reason=f"{clause(reason)}; give it a text, or take it out of {where}")


def missing_choices(spec: BenchmarkSpec, row: Row) -> MissingFieldError:
    """Why `resolve_choices` found nothing in a row."""
    field = spec.choices_field or "choices"
    if _walk(row, field) is None and "." not in field:
        return MissingFieldError(field, row)
    found = _walk(row, field)
    kind = "nothing" if found is None else type(found).__name__
    return MissingFieldError(
        field, reason=f'choices_field "{field}" contains {kind} where a list of candidates is expected'
    )


def _walk(row: Row, path: str) -> Any:
    value: Any = row
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return row.get(path)
        value = value[part]
    return value


_LISTED_VALUES = 6
_COUNTED_VALUES = 10_000
"""The most distinct values that are counted, so that a column of ids does not fill the memory."""


def filters_of(name: str, value: Mapping[str, Any] | None) -> tuple[Filter, ...]:
    """The filters of `@benchmark`. Raises BenchmarkError for anything but fields with one value each."""
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise BenchmarkError(
            f"benchmark {name!r}: filters is {type(value).__name__}; give a dict of fields and values such as "
            f'{{"lang": "hi"}}'
        )
    for field, expected in value.items():
        if not isinstance(field, str):
            raise BenchmarkError(
                f"benchmark {name!r}: filters names the field {field!r}, which is not a text"
            )
        if isinstance(expected, list | tuple | set | frozenset | Mapping):
            raise BenchmarkError(
                f"benchmark {name!r}: filters[{field!r}] is {expected!r}; give one value (for several, let dataset "
                f"be a function that yields the rows you need)"
            )
    return tuple(Filter(field, str(expected)) for field, expected in value.items())


def check_filters(spec: BenchmarkSpec) -> None:
    """Find the filter that leaves no row, and raise BenchmarkError with the values in the data.

    Called if no row is left; it takes a pass over the data for each filter. Does not raise if filters are not to blame. The
    reader reports a column that no row has.
    """
    for number, condition in enumerate(spec.filters):
        reader = open_dataset(spec.dataset, base_dir=spec.base_dir, filters=spec.filters[:number])
        rows = 0
        values: Counter[str] = Counter()
        for row in reader.good_rows():
            rows += 1
            value = str(row.get(condition.field))
            if value in values or len(values) < _COUNTED_VALUES or value == condition.value:
                values[value] += 1
        if rows and condition.value not in values:
            earlier = " that pass the filters before it" if number else ""
            raise BenchmarkError(
                f'{spec.where}: no row of {reader.name} matches the filter "{condition.field}={condition.value}"; '
                + _instead(condition, values, f"{rows} rows{earlier}")
            )


def _instead(condition: Filter, values: Counter[str], rows: str) -> str:
    most = ", ".join(f"{_short(value)} ({count})" for value, count in values.most_common(_LISTED_VALUES))
    more = ", …" if len(values) > _LISTED_VALUES else ""
    return f'in its {rows}, "{condition.field}" is: {most}{more}.{suggest(condition.value, values)}'


def _short(value: str) -> str:
    return f'"{value}"' if len(value) <= 40 else f'"{value[:39]}…"'
