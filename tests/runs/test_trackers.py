"""Trackers are told that a run starts, how far it is and how it ends; what they do wrong changes nothing about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, scorer
from benchwright.core import JsonObject, UsageError
from benchwright.reports.trackers import tracking as trackers

FOLDER = Path(__file__).parent


@benchmark(name="tracked", dataset=[{"q": "a", "target": "B"}, {"q": "b", "target": "C"}], prompt="{q}")
@scorer
def right(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": sample.response == sample.target}


class Kept:
    """A tracker that keeps what it is told."""

    told: ClassVar[list[tuple[str, JsonObject]]] = []

    def started(self, run: JsonObject) -> None:
        self.told.append(("started", run))

    def progress(self, counts: JsonObject) -> None:
        self.told.append(("progress", counts))

    def finished(self, run: JsonObject) -> None:
        self.told.append(("finished", run))


class Broken(Kept):
    def started(self, run: JsonObject) -> None:
        raise OSError("no room")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, JsonObject]]:
    Kept.told = []
    monkeypatch.setattr(trackers, "_EVERY_S", 0.0)
    made = {"kept": Kept, "broken": Broken}
    monkeypatch.setattr(trackers.TRACKER_PLUGINS, "find", made.get)
    return Kept.told


def test_a_run_is_followed_from_start_to_end(kept: list[Any], tmp_path: Path) -> None:
    result = benchwright.run(right, endpoint=ScriptedEndpoint("B"), workspace=tmp_path, trackers=["kept"])
    assert result.exit_code == 0
    (first, start), *between, (last, end) = kept
    assert (first, last) == ("started", "finished")
    assert (start["run"]["status"], end["run"]["status"]) == ("running", "completed")
    assert end["summary"]["metrics"]["correct"]["value"] == 0.5
    assert (Path(end["run"]["folder"]) / "results.yml").is_file()
    assert {event for event, _ in between} == {"progress"}
    assert between[-1][1] == {"done": 2, "total": 2, "failed": 0}
    assert trackers.tracked_figures(end)["correct"] == 0.5


def test_a_tracker_that_fails_is_reported_and_stops_no_other(kept: list[Any], tmp_path: Path) -> None:
    result = benchwright.run(
        right, endpoint=ScriptedEndpoint("B"), workspace=tmp_path, trackers=["broken", "kept"]
    )
    assert result["correct"] == 0.5
    assert result.report_problems == ("tracker broken failed: OSError: no room",)
    assert result.exit_code == 1
    assert [event for event, _ in kept if event != "progress"] == ["started", "finished"]


def test_a_missing_tracker_is_refused_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = ScriptedEndpoint("B")
    with pytest.raises(UsageError, match=r"no tracker named 'wandbb'. Did you mean 'wandb'"):
        benchwright.run(right, endpoint=endpoint, workspace=tmp_path, trackers=["wandbb"])
    monkeypatch.setattr(trackers, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'benchwright\[mlflow\]'"):
        benchwright.run(right, endpoint=endpoint, workspace=tmp_path, trackers=["mlflow"])
    assert endpoint.requests == []


@pytest.mark.filterwarnings("default")  # of the library's own dependencies
def test_weights_and_biases_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setattr(trackers, "_EVERY_S", 0.0)
    result = benchwright.run(right, endpoint=ScriptedEndpoint("B"), workspace=tmp_path, trackers=["wandb"])
    assert (result.exit_code, result.report_problems) == (0, ())
    (folder,) = (result.folder / "wandb").glob("offline-run-*")
    (record,) = folder.glob("*.wandb")
    written = record.read_bytes()
    assert b"correct" in written
    assert b"progress/done" in written


@pytest.mark.filterwarnings("default")  # of the library's own dependencies
def test_mlflow_in_a_local_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow")
    from mlflow.tracking import MlflowClient

    store = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trackers, "_EVERY_S", 0.0)
    result = benchwright.run(right, endpoint=ScriptedEndpoint("B"), workspace=tmp_path, trackers=["mlflow"])
    assert (result.exit_code, result.report_problems) == (0, ())
    client = MlflowClient(store)
    experiment = client.get_experiment_by_name("benchwright")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    assert (run.info.status, run.data.metrics["correct"], run.data.metrics["progress/done"]) == (
        "FINISHED",
        0.5,
        2.0,
    )
    assert run.data.tags["benchwright.run"] == "1"
    assert [each.path for each in client.list_artifacts(run.info.run_id)] == ["results.yml"]
