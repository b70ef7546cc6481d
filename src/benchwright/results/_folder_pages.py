"""Pages of the samples in `samples.parquet`, filtered like those of the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import orjson

from benchwright.core import Artifacts, RunFile
from benchwright.results._sample_columns import COLUMNS, SampleView, grade_of
from benchwright.store import Page, SampleFilter, place_of, verdict_of

MOST_SEARCHED = 20_000
"""Samples that a page looks at, but for the last row group: a filter that few pass ends a page early, and `next` continues."""
_DECISIVE = ("sample_id", "repeat", "outcome", "scores", "error")
"""Columns that decide whether a sample passes."""
_SEARCHED = ("prompt", "response", "target", "messages")
"""Columns in which a text is looked for."""


def folder_page(files: Artifacts, where: SampleFilter, after: int | None, limit: int) -> Page[SampleView]:
    """Samples that pass a filter, in sample order; `after` is `next` of the page before. Row groups before it are not read."""
    import pyarrow.parquet as pq

    if where.labelled is not None:  # labels are in the store
        return Page([])
    start = -1 if after is None else after
    found: list[SampleView] = []
    with files.open(RunFile.SAMPLES) as data, pq.ParquetFile(data) as file:
        there = set(file.schema_arrow.names)  # older files have fewer columns
        names = [name for name in COLUMNS if name in there]
        decisive = [
            name
            for name in (
                *_DECISIVE,
                *(_SEARCHED if where.text else ()),
                *(("metadata",) if where.column else ()),
            )
            if name in there
        ]
        looked = 0
        for group in range(file.num_row_groups):
            if _last_place(file.metadata.row_group(group)) <= start:
                continue
            columns = file.read_row_group(group, columns=decisive, use_threads=False).to_pydict()
            places = list(map(place_of, columns["sample_id"], columns["repeat"]))
            chosen = [
                at for at in _passing(columns, where) if places[at] > start and where.has_place(places[at])
            ]
            room = limit - len(found)
            if chosen[:room]:
                table = file.read_row_group(group, columns=names, use_threads=False).take(chosen[:room])
                found += map(_view, table.to_pylist())
            if len(chosen) > room:
                return Page(found, place_of(*found[-1][:2]))
            looked += sum(place > start for place in places)
            if looked >= MOST_SEARCHED and group + 1 < file.num_row_groups:
                return Page(found, places[-1])
    return Page(found)


def _last_place(group: Any) -> float:
    """The greatest place that a row group may have."""
    (column,) = (
        each for each in map(group.column, range(group.num_columns)) if each.path_in_schema == "sample_id"
    )
    known = column.statistics
    return float("inf") if known is None or not known.has_min_max else place_of(known.max + 1, 0) - 1


def _passing(columns: Mapping[str, Sequence[Any]], where: SampleFilter) -> Iterator[int]:
    """The places in a row group of the samples that pass."""
    rows = columns.get("metadata") or repeat(None)
    fields = zip(columns["outcome"], columns["scores"], columns["error"], strict=True)
    for at, ((outcome, text, error), row) in enumerate(zip(fields, rows, strict=False)):
        scores = None if text is None else orjson.loads(text)
        if not where.passes_by_fields(outcome, scores, error, row):
            continue
        if where.text and not any(_holds(columns[name][at], where.text) for name in _SEARCHED):
            continue
        yield at


def _holds(content: str | None, text: str) -> bool:
    return content is not None and text.casefold() in content.casefold()


def _view(row: dict[str, Any]) -> SampleView:
    """A row of the file as it was before it was written."""
    for name, column in COLUMNS.items():
        text = row.setdefault(name, None)
        if column.type == "json" and text is not None:
            row[name] = orjson.loads(text) if name == "scores" else text.encode()
    row["verdict"], row["grade"] = verdict_of(row["scores"]), grade_of(row["scores"])  # not in older files
    return SampleView(**row)
