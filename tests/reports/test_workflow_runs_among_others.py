"""Lists and `show` meet workflow runs beside benchmark runs and say what there is to say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from benchwright.store import StepRequest, Workspace, open_store
from stored_workflows import (
    add_event,
    add_metric,
    begin_step,
    complete_step,
    created_workflow,
    finish_workflow,
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a complete, a failed and an open workflow run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    store = open_store(Workspace(tmp_path))
    lease = created_workflow(store, "my_eval", input_json=b'{"limit":2}')
    for number in range(2):
        begun = begin_step(store, lease, StepRequest(f"s{number}", "0" * 64, b"1"))
        complete_step(store, lease, begun.step_id, 1, b"2")
        add_metric(store, lease, "score", float(number), unit="points")
    add_event(store, lease, "sampling.done", "half of it")
    finish_workflow(store, lease, "completed", output=b'{"rows":2}')
    failed = created_workflow(store, "broken")
    finish_workflow(store, failed, "failed", error="Traceback\nValueError: no such row")
    created_workflow(store, "open")
    store.close()
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(words) == code
    captured = capsys.readouterr()
    return captured.out + captured.err


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(said(capsys, *words, "--json"))


def test_a_list_tells_name_status_steps_and_metrics(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "list").splitlines()
    (row,) = [line for line in lines if "my_eval" in line]
    assert row.split()[:6] == ["1", "my_eval", "–", "completed", "2", "steps"]
    (row,) = [line for line in lines if "broken" in line]
    assert row.split()[:5] == ["2", "broken", "–", "failed", "0"]
    assert any("open" in line and "running" in line for line in lines)


def test_a_list_as_json_tells_the_kind(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = {run["name"]: run for run in as_json(capsys, "list")["runs"]}
    assert (runs["my_eval"]["kind"], runs["my_eval"]["metrics"]) == ("workflow", {"score": 0.5})
    assert (runs["open"]["status"], runs["open"]["metrics"]) == ("running", None)


def test_show_tells_a_workflow_at_a_glance(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "show", "my_eval")
    for part in (
        "my_eval (workflow): completed",
        "2 steps: 2 completed",
        "0.5000 points",
        '{"limit":2}',
        '{"rows":2}',
        "sampling.done: half of it",
    ):
        assert part in text
    assert "step.started" not in text
    assert "ValueError: no such row" in said(capsys, "show", "broken")
    assert "open (workflow): running" in said(capsys, "show", "last")


def test_show_as_json_has_input_output_and_figures(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = as_json(capsys, "show", "1")
    assert shown["run"]["kind"] == "workflow"
    assert (shown["input"], shown["output"]) == ({"limit": 2}, {"rows": 2})
    assert shown["summary"]["steps"] == {"completed": 2}
    assert shown["summary"]["metrics"]["score"]["count"] == 2
    assert [event["kind"] for event in shown["events"]][-1] == "run.completed"


def test_what_is_only_for_benchmarks_says_so(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--resume 2" in said(capsys, "resume", "2", code=2)
    assert "is a workflow" in said(capsys, "rescore", "1", code=2)
    said(capsys, "show", "1", "--failed")
    store = open_store(Workspace(place))
    assert store.run(2).status == "failed", "nobody claimed it"
    store.close()
