"""`KIND_VIEWS`: what `show` reads of runs of each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from benchwright.core import JsonObject, RunKind
from benchwright.results._benchmarks import benchmark_sample, benchmark_samples, recorded_benchmark
from benchwright.results._load import recorded_load
from benchwright.results._sent_requests import load_part, load_parts
from benchwright.results._workflows import recorded_workflow, workflow_step, workflow_steps
from benchwright.store import RunRecord, SampleFilter, Store


class View(Protocol):
    """A frozen value with one JSON shape."""

    def to_json(self) -> JsonObject:
        """The value as `--json` prints it."""
        ...


class KindViews(Struct, frozen=True):
    """The views of one kind of run."""

    details: Callable[[Store, RunRecord], View]
    """A run in full."""
    parts: Callable[[Store, RunRecord, SampleFilter, int | None, int], View]
    """A page of its samples, requests or steps: those that pass a filter, after a cursor, at most so many."""
    part: Callable[[Store, RunRecord, str], View]
    """One sample or step in full, by its number or key."""


KIND_VIEWS: dict[str, KindViews] = {
    RunKind.BENCHMARK: KindViews(recorded_benchmark, benchmark_samples, benchmark_sample),
    RunKind.WORKFLOW: KindViews(recorded_workflow, workflow_steps, workflow_step),
    RunKind.LOAD: KindViews(recorded_load, load_parts, load_part),
}
