"""How runs of one kind are reported: the part of `RUN_KINDS` that concerns reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from benchwright.core import JsonObject
from benchwright.reports.terminal.load import load_table
from benchwright.reports.terminal.runs import run_overview
from benchwright.reports.terminal.samples import sample_list
from benchwright.reports.terminal.sent_requests import request_list
from benchwright.reports.terminal.workflows import step_list, workflow_overview
from benchwright.reports.views.benchmarks import (
    benchmark_sample,
    benchmark_samples,
    benchmark_view,
    recorded_benchmark,
)
from benchwright.reports.views.load import load_view, recorded_load
from benchwright.reports.views.runs import PartsRequest, RunView
from benchwright.reports.views.sent_requests import load_part, load_parts
from benchwright.reports.views.workflows import (
    recorded_workflow,
    workflow_step,
    workflow_steps,
    workflow_view,
)
from benchwright.store import RunRecord, Store

if TYPE_CHECKING:
    from rich.console import RenderableType


class View(Protocol):
    """A frozen value with one JSON shape."""

    def to_json(self) -> JsonObject:
        """The value as `--json` prints it."""
        ...


class KindReports(Struct, frozen=True):
    """The views of one kind of run, and how the terminal shows them."""

    view: Callable[[RunRecord], RunView]
    """A run in a list."""
    details: Callable[[Store, RunRecord], View]
    """A run in full."""
    parts: Callable[[Store, RunRecord, PartsRequest], View]
    """Some of its samples or steps."""
    part: Callable[[Store, RunRecord, str], View]
    """One sample or step in full, by its number or key."""
    show_details: Callable[[Any], RenderableType]
    """`details` on the terminal."""
    show_parts: Callable[[Any], RenderableType]
    """`parts` and `part` on the terminal."""


BENCHMARK_REPORTS = KindReports(
    view=benchmark_view,
    details=recorded_benchmark,
    parts=benchmark_samples,
    part=benchmark_sample,
    show_details=run_overview,
    show_parts=sample_list,
)
WORKFLOW_REPORTS = KindReports(
    view=workflow_view,
    details=recorded_workflow,
    parts=workflow_steps,
    part=workflow_step,
    show_details=workflow_overview,
    show_parts=step_list,
)
LOAD_REPORTS = KindReports(
    view=load_view,
    details=recorded_load,
    parts=load_parts,
    part=load_part,
    show_details=load_table,
    show_parts=request_list,
)
