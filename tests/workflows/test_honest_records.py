"""What a workflow's records and closing lines say: nothing that contradicts itself, and nothing that an output can replace."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benchwright.core import DatasetError
from benchwright.reports import drawn
from benchwright.results._workflows import StepView
from benchwright.runs import ProgramResult
from benchwright.store import WorkflowStep
from benchwright.workflows._sources import ObjectRows


class Source:
    def __init__(self, name: str) -> None:
        self.source_id = name

    async def initialize(self) -> None:
        return None

    async def load_batch(self, offset: int, batch_size: int) -> list[Any]:
        return []


def test_another_source_is_not_continued() -> None:
    ObjectRows(Source("a")).restore({"identity": "a", "metadata": None})
    with pytest.raises(DatasetError, match="is 'b' now, and was 'a' when the run began"):
        ObjectRows(Source("b")).restore({"identity": "a", "metadata": None})


@pytest.mark.parametrize(
    ("error", "following"),
    [
        ("x changed. Restore the source, or start a new run", "next: benchwright show 3"),
        ("no reply", "next: benchwright resume 3"),
    ],
)
def test_the_closing_line_does_not_advise_what_was_refused(error: str, following: str) -> None:
    shown = io.StringIO()
    result = ProgramResult(
        run_id=3, workflow_name="w", input=None, warning=None, command=(), base_url=None, server_started_by_us=False,
        status="failed", success=False, exit_code=1, signal=None, duration_seconds=1.0, stdout="", stderr="", error=error,
        metrics={}, rows=0, steps={}, output=None, folder=Path(),
    )  # fmt: skip
    Console(file=shown, width=100).print(drawn(result))
    assert following in shown.getvalue()


def test_an_output_takes_the_place_of_no_field() -> None:
    output = b'{"output": 1, "input": 2, "status": "mine", "step_key": 3, "metrics": 4, "own": 5}'
    step = WorkflowStep(
        id=1, run_id=1, key="k", generation=1, attempt=1, input_hash="h", input=b'{"x":1}', status="completed",
        output=output, error=None, started_at=0.0, finished_at=1.0,
    )  # fmt: skip
    shown = StepView(step).to_json()
    assert (shown["status"], shown["step_key"], shown["metrics"], shown["own"]) == ("completed", "k", {}, 5)
    assert shown["input"] == {"x": 1}
    assert isinstance(shown["output"], dict)
    assert shown["output"]["output"] == 1
