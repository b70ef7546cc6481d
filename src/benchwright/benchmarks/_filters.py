"""Filters of a benchmark: from `filters={"lang": "hi"}` to the rows that count, and why none is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from benchwright.benchmarks._spec import BenchmarkSpec
from benchwright.core import BenchmarkError, suggest
from benchwright.datasets import Filter, open_dataset

_LISTED_VALUES = 6
_COUNTED_VALUES = 10_000
"""Different values that are counted; a column of ids must not fill the memory on the way to an error."""


def filters_of(name: str, value: Mapping[str, Any] | None) -> tuple[Filter, ...]:
    """The filters that `@benchmark` was told. BenchmarkError for what is no field and one value."""
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise BenchmarkError(
            f"benchmark {name!r}: filters is {type(value).__name__}; give a dict of fields and values such as "
            f'{{"lang": "hi"}}'
        )
    for field, wanted in value.items():
        if not isinstance(field, str):
            raise BenchmarkError(f"benchmark {name!r}: filters names the field {field!r}, which is no text")
        if isinstance(wanted, list | tuple | set | frozenset | Mapping):
            raise BenchmarkError(
                f"benchmark {name!r}: filters[{field!r}] is {wanted!r}; give one value (for several, let dataset "
                f"be a function that yields the wanted rows)"
            )
    return tuple(Filter(field, str(wanted)) for field, wanted in value.items())


def check_filters(spec: BenchmarkSpec) -> None:
    """Find the filter that leaves no row, and raise BenchmarkError with what the data holds instead.

    For when nothing is left: takes a pass over the data for each filter. Silent where filters are not to blame. A column
    that no row has is the reader's own error.
    """
    for number, wanted in enumerate(spec.filters):
        reader = open_dataset(spec.dataset, base_dir=spec.base_dir, filters=spec.filters[:number])
        rows = 0
        values: Counter[str] = Counter()
        for batch in reader.batches(on_bad=_ignore):
            for row in batch.rows:
                rows += 1
                value = str(row.get(wanted.field))
                if value in values or len(values) < _COUNTED_VALUES or value == wanted.value:
                    values[value] += 1
        if rows and wanted.value not in values:
            earlier = " that pass the filters before it" if number else ""
            raise BenchmarkError(
                f"{spec.where}: filters={{{wanted.field!r}: {wanted.value!r}}} leaves no row of {reader.name}; "
                + _instead(wanted, values, f"{rows} rows{earlier}")
            )


def _instead(wanted: Filter, values: Counter[str], rows: str) -> str:
    most = ", ".join(f"{_short(value)} ({count})" for value, count in values.most_common(_LISTED_VALUES))
    more = ", …" if len(values) > _LISTED_VALUES else ""
    return f"in its {rows}, {wanted.field!r} is: {most}{more}.{suggest(wanted.value, values)}"


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else f"{value[:39]}…")


def _ignore(bad: object) -> None:
    """Bad rows are the scan's to report."""
