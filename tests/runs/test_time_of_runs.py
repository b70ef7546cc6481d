"""When a run started and ended, how often, and how long it was worked on. Time in which nobody worked counts nowhere."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.results._runs import plain_view
from benchwright.store import Workspace, open_store
from stored_records import change_run, end_steps_at, shift_runs
from stored_workflows import claimed_workflow, created_workflow, finish_workflow

TIMES = ("started_at", "finished_at", "duration_s", "starts")
GAP_S = 5000.0


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("question,answer\n" + "".join(f"q{n},a{n}\n" for n in range(8)), encoding="utf-8")
    return path


def run(rows: Path, **options: Any) -> dict[str, Any]:
    result = benchwright.run(
        rows, endpoint=ScriptedEndpoint(lambda _: "a1"), workspace=rows.parent, **options
    )
    return dict(result.to_json())


def resume(rows: Path, **options: Any) -> dict[str, Any]:
    result = benchwright.resume(
        1, endpoint=ScriptedEndpoint(lambda _: "a1"), workspace=rows.parent, **options
    )
    return dict(result.to_json())


def let_time_pass(rows: Path) -> None:
    """As if the run had been started and left long ago."""
    shift_runs(rows.parent, GAP_S, "created_at", "finished_at")


@pytest.mark.parametrize("options", [{}, {"retry_failed": True}])
def test_a_complete_run_keeps_its_end_when_it_is_resumed(rows: Path, options: dict[str, Any]) -> None:
    first = run(rows)
    again = resume(rows, **options)
    assert {name: again[name] for name in TIMES} == {name: first[name] for name in TIMES}
    assert again["status"] == "completed"
    assert again["starts"] == 1


def test_a_resume_that_is_refused_leaves_the_end_as_it_was(rows: Path) -> None:
    run(rows, max_requests=3)
    with open_store(Workspace(rows.parent)) as store:
        before = store.run(1)
        rows.write_text("question,answer\nother,rows\n", encoding="utf-8")
        with pytest.raises(benchwright.UsageError, match="dataset has changed"):
            resume(rows)
        after = store.run(1)
    assert (after.finished_at, after.worked, after.starts) == (before.finished_at, before.worked, 1)


def test_time_between_two_starts_is_not_counted(rows: Path) -> None:
    first = run(rows, max_requests=3)
    let_time_pass(rows)
    again = resume(rows)
    assert again["status"] == "completed"
    assert again["starts"] == 2
    assert first["duration_s"] <= again["duration_s"] < GAP_S / 10
    assert again["finished_at"] > first["finished_at"]


@pytest.mark.parametrize("sign", ["heartbeat", "record"])
def test_a_killed_start_counts_up_to_its_last_sign_of_life(rows: Path, sign: str) -> None:
    run(rows, max_requests=3)
    began = time.time() - GAP_S
    beat, record = (began + 100, began + 7) if sign == "heartbeat" else (began, began + 100)
    change_run(
        rows.parent, 1, status="running", created_at=began, began=began, worked=30, finished_at=None, heartbeat=beat,
        owner='["elsewhere",1,"x"]', lease="x",
    )  # fmt: skip
    end_steps_at(rows.parent, record)
    assert 130 <= resume(rows)["duration_s"] < 230


def test_a_run_of_an_older_version_counts_from_its_start_to_its_end(rows: Path) -> None:
    run(rows, max_requests=3)
    began = time.time() - GAP_S
    change_run(rows.parent, 1, worked=None, created_at=began, finished_at=began + 100)
    with open_store(Workspace(rows.parent)) as store:
        assert plain_view(store.run(1)).seconds == pytest.approx(100)
    assert 100 <= resume(rows)["duration_s"] < 200


def test_a_run_starts_when_its_turn_comes(tmp_path: Path) -> None:
    with open_store(Workspace(tmp_path)) as store:
        waiting = store.create_run(
            name="b", target="b.py", model="m", folder=None, settings={}, manifest={}, status="queued"
        )
        shift_runs(tmp_path, GAP_S, "created_at")
        begun = store.start_run(waiting.id, {"some": "manifest"})
        store.finish_run(waiting.id, "completed", summary={})
        ended = store.run(waiting.id)
    assert begun.created_at >= waiting.created_at
    assert (ended.starts, ended.created_at) == (1, begun.created_at)
    assert ended.worked is not None
    assert ended.worked < GAP_S / 10


def test_a_resumed_workflow_does_not_count_the_time_between(tmp_path: Path) -> None:
    with open_store(Workspace(tmp_path)) as store:
        lease = created_workflow(store, "w")
        finish_workflow(store, lease, "failed", error="x")
        shift_runs(tmp_path, GAP_S, "created_at", "finished_at")
        finish_workflow(store, claimed_workflow(store, lease.run_id), "completed")
        run = store.run(lease.run_id)
    assert run.starts == 2
    assert run.worked is not None
    assert run.worked < GAP_S / 10
