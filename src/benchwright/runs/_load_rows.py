"""The rows of a load test that are no questions: traces, whose rows say when they are sent, and some of which say only how
long their prompts are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from msgspec import Struct

from benchwright.benchmarks import BenchmarkSpec, requested_spec
from benchwright.config import LoadOptions
from benchwright.core import BadRow, Row, UsageError
from benchwright.datasets import DatasetReader, open_dataset
from benchwright.engine import RunSettings, row_settings
from benchwright.perf import TracePrompts, TraceStamps, is_length_trace, open_text_maker
from benchwright.runs._load_options import profile_of


class LoadRows(Struct, frozen=True):
    """What a load test sends."""

    spec: BenchmarkSpec
    """The benchmark with its rows."""
    trace: TraceStamps | None = None
    """Where rows have their time stamps, if they are sent by them."""
    prompt_lengths: Literal["exact", "approximate"] | None = None
    """How true the lengths of prompts are that were made for the rows."""


def rows_for_load(spec: BenchmarkSpec, options: LoadOptions, settings: RunSettings) -> LoadRows:
    """The rows of a benchmark as a load test sends them.

    Rows without a stamp are refused with all other bad rows, by file and line.
    """
    stamps = None
    if profile_of(options) == "trace":
        stamps = TraceStamps(
            options.trace_field or "timestamp",
            options.trace_unit or "ms",
            start=options.trace_start or 0.0,
            end=options.trace_end,
        )
        reader = _opened(spec, settings)
        every = (row for batch in reader.batches(on_bad=_ignore) for row in batch.rows)
        stamps = stamps.beginning(every, reader.name)
        spec = replace(spec, check_row=_both(stamps.seconds, spec.check_row))
    if spec.family == "qa" and any(
        is_length_trace(row) for _, row in _opened(spec, settings).head(1, on_bad=_ignore)
    ):
        maker = open_text_maker(options.tokenizer, options.schedule_seed or 0)
        lengths: Literal["exact", "approximate"] = "exact" if maker.exact else "approximate"
        return LoadRows(_made_prompts(spec, TracePrompts(maker, stamps), lengths), stamps, lengths)
    if options.tokenizer is not None:
        raise UsageError(
            "--tokenizer: the rows have prompts of their own; only prompts that are made take it"
        )
    return LoadRows(spec, stamps)


def _made_prompts(spec: BenchmarkSpec, prompts: TracePrompts, lengths: str) -> BenchmarkSpec:
    """The file with prompts of the lengths that its rows say."""
    shape = spec.shape
    return replace(
        spec,
        shape=prompts.shape if shape is None else lambda row: prompts.shape(shape(row)),
        check_row=_both(prompts.check, spec.check_row),
        doubts=(),  # they are about columns of questions, which it need not have
        rules=f"{spec.rules} prompts by length, {lengths}",
    )


def _opened(spec: BenchmarkSpec, settings: RunSettings) -> DatasetReader:
    spec = requested_spec(spec, row_settings(spec, settings))
    return open_dataset(
        spec.dataset,
        base_dir=spec.base_dir,
        field_mapping=spec.field_mapping,
        limit=settings.limit,
        filters=spec.filters,
        sampling=spec.sampling,
        shape=spec.shape,
    )


def _both(first: Callable[[Row], object], second: Callable[[Row], None] | None) -> Callable[[Row], None]:
    def check(row: Row) -> None:
        first(row)
        if second is not None:
            second(row)

    return check


def _ignore(bad: BadRow) -> None:
    """Bad rows are the check's to report."""
