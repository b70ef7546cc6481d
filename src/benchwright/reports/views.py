"""`BLOCKS`: what is shown of each view. The terminal, plain text and notebooks draw the same blocks."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from benchwright.reports.blocks import Block, plain

if TYPE_CHECKING:
    from rich.console import Group

BLOCKS = {
    "Calibration": "calibration:calibration_blocks",
    "Comparison": "comparison:comparison_blocks",
    "EventList": "workflows:event_list_blocks",
    "LabelList": "labels:label_list_blocks",
    "LoadComparison": "load_comparison:load_comparison_blocks",
    "LoadView": "load:load_blocks",
    "ManyRuns": "many_runs:many_runs_blocks",
    "ProgramResult": "workflows:program_blocks",
    "RequestList": "sent_requests:request_list_blocks",
    "RunResult": "result:result_blocks",
    "RunDetails": "runs:run_blocks",
    "SampleList": "samples:sample_list_blocks",
    "SideBySide": "side_by_side:side_by_side_blocks",
    "Slices": "slices:slices_blocks",
    "StepList": "workflows:step_list_blocks",
    "Verdict": "verdict:verdict_blocks",
    "WorkflowDetails": "workflows:workflow_blocks",
}
"""Views by the names of their classes, each with its file in `terminal` and the function that puts it into blocks; loaded when one is
shown."""


def blocks_of(view: object) -> Iterable[Block]:
    """A view as blocks; blocks as they are."""
    if isinstance(view, list):
        return view
    row = next(BLOCKS[kind.__name__] for kind in type(view).__mro__ if kind.__name__ in BLOCKS)
    module, _, function = row.partition(":")
    found: Iterable[Block] = getattr(import_module(f"benchwright.reports.terminal.{module}"), function)(view)
    return found


def drawn(view: object) -> Group:
    """A view, or a list of blocks, for a terminal; a rich renderable."""
    from benchwright.reports.terminal.drawing import draw

    return draw(blocks_of(view))


def in_plain_text(view: object, width: int) -> str | None:
    """A view in `width` columns, without rich; None if it must draw it."""
    return plain(blocks_of(view), width)


def in_notebook(view: object) -> str:
    """A view as a piece of HTML, with every text in it escaped."""
    from benchwright.reports.markup import html

    return html(blocks_of(view))
