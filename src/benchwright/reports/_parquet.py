"""`samples.parquet`: one row per sample and repeat, written in row groups so that memory stays flat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import orjson

from benchwright.reports._atomic import replacing
from benchwright.reports._samples import SampleView

GROUP_ROWS = 2_000
"""Rows per row group: as many as are held as Python objects at a time."""
GROUP_BYTES = 16_000_000
"""Bytes of text per row group, roughly: rows with long prompts make smaller groups."""

_TEXT = (
    "prompt", "system", "messages", "response", "reasoning", "target", "outcome", "error", "scores",
    "finish_reason", "metadata",
)  # fmt: skip
_INTEGERS = ("sample_id", "repeat", "prompt_tokens", "completion_tokens", "attempts")
_CHOICES = ("choices", "choices_logprobs", "choices_is_greedy")
_REPETITIVE = ["system", "outcome", "error", "finish_reason"]
"""Columns where a dictionary pays; on texts that all differ it only costs time."""


def write_samples(
    path: Path, samples: Iterable[SampleView], metrics: Sequence[str], *, choices: bool = False
) -> int:
    """Write the file and return the number of rows.

    Columns are the fields of `SampleView`; `scores` and `metadata` are JSON texts, and each metric has a
    column `score.<name>` of its own. Choice columns are there for runs that rank: when `choices` is set, or
    one of the first samples has them.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    groups = _groups(samples)
    group = next(groups, [])
    schema = _schema(pa, metrics, choices or any(view.choices is not None for view in group))
    written = 0
    with (
        replacing(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", use_dictionary=_REPETITIVE) as writer,
    ):
        while group:
            writer.write_batch(_batch(pa, schema, group, metrics))
            written += len(group)
            group = next(groups, [])
    return written


def _groups(samples: Iterable[SampleView]) -> Iterator[list[SampleView]]:
    group: list[SampleView] = []
    size = 0
    for view in samples:
        group.append(view)
        size += len(view.messages or b"") + len(view.response or "") + len(view.metadata or b"")
        if len(group) >= GROUP_ROWS or size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _schema(pa: Any, metrics: Sequence[str], choices: bool) -> Any:
    types = {
        **dict.fromkeys(_TEXT, pa.string()),
        **dict.fromkeys(_INTEGERS, pa.int64()),
        "choices": pa.list_(pa.string()),
        "choices_logprobs": pa.list_(pa.float64()),
        "choices_is_greedy": pa.list_(pa.bool_()),
    }
    fields = []
    for name in SampleView._fields:
        if name in _CHOICES and not choices:
            continue
        fields.append(pa.field(name, types.get(name, pa.float64())))
        if name == "scores":
            fields += [pa.field(f"score.{metric}", pa.float64()) for metric in metrics]
    return pa.schema(fields)


def _batch(pa: Any, schema: Any, chunk: list[SampleView], metrics: Sequence[str]) -> Any:
    columns: dict[str, Sequence[Any]] = dict(zip(SampleView._fields, zip(*chunk, strict=True), strict=True))
    scores = columns["scores"]
    columns["scores"] = [None if given is None else orjson.dumps(given) for given in scores]
    for metric in metrics:
        columns[f"score.{metric}"] = list(map(_number, scores, repeat(metric)))
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return pa.record_batch(arrays, schema=schema)


def _number(scores: dict[str, Any] | None, metric: str) -> float | None:
    value = None if scores is None else scores.get(metric)
    return float(value) if isinstance(value, int | float) else None
