"""`KIND_REPORTS`: how `show` presents runs of each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from benchwright.core import JsonObject, RunKind
from benchwright.reports.terminal.runs import run_overview
from benchwright.reports.terminal.samples import sample_list
from benchwright.reports.terminal.sent_requests import request_list
from benchwright.reports.terminal.workflows import step_list, workflow_overview
from benchwright.reports.views import drawn
from benchwright.results import (
    benchmark_sample,
    benchmark_samples,
    load_part,
    load_parts,
    recorded_benchmark,
    recorded_load,
    recorded_workflow,
    workflow_step,
    workflow_steps,
)
from benchwright.store import RunRecord, SampleFilter, Store

if TYPE_CHECKING:
    from rich.console import RenderableType


class View(Protocol):
    """A frozen value with one JSON shape."""

    def to_json(self) -> JsonObject:
        """The value as `--json` prints it."""
        ...


class KindReports(Struct, frozen=True):
    """The views of one kind of run, and how the terminal shows them."""

    details: Callable[[Store, RunRecord], View]
    """A run in full."""
    parts: Callable[[Store, RunRecord, SampleFilter, int | None, int], View]
    """A page of its samples, requests or steps: those that pass a filter, after a cursor, at most so many."""
    part: Callable[[Store, RunRecord, str], View]
    """One sample or step in full, by its number or key."""
    show_details: Callable[[Any], RenderableType]
    """`details` on the terminal."""
    show_parts: Callable[[Any], RenderableType]
    """`parts` and `part` on the terminal."""


KIND_REPORTS: dict[str, KindReports] = {
    RunKind.BENCHMARK: KindReports(
        details=recorded_benchmark,
        parts=benchmark_samples,
        part=benchmark_sample,
        show_details=run_overview,
        show_parts=sample_list,
    ),
    RunKind.WORKFLOW: KindReports(
        details=recorded_workflow,
        parts=workflow_steps,
        part=workflow_step,
        show_details=workflow_overview,
        show_parts=step_list,
    ),
    RunKind.LOAD: KindReports(
        details=recorded_load,
        parts=load_parts,
        part=load_part,
        show_details=drawn,
        show_parts=request_list,
    ),
}
