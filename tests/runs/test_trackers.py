"""Trackers are told that a run starts, how far it is and how it ends; what they do wrong changes nothing about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, scorer
from benchwright.core import JsonObject, UsageError
from benchwright.reports.files import run_files
from benchwright.reports.trackers import tracking as trackers

SECRETS = {"HIDDEN_KEY": "sk-hidden-0123456789", "SERVICE_KEY": "sk-service-9876543210"}


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
    error: ClassVar[BaseException] = OSError("no room")

    def started(self, run: JsonObject) -> None:
        raise self.error


class Hanging(Kept):
    let_go: ClassVar[threading.Event]

    def finished(self, run: JsonObject) -> None:
        self.let_go.wait()


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, JsonObject]]:
    Kept.told, Hanging.let_go = [], threading.Event()
    monkeypatch.setattr(trackers, "_EVERY_S", 0.0)
    made = {"kept": Kept, "broken": Broken, "hanging": Hanging}
    monkeypatch.setattr(trackers.TRACKER_PLUGINS, "find", made.get)
    return Kept.told


def test_no_count_takes_the_place_of_a_metric() -> None:
    counts = {"rows": 4, "evaluated": 4, "failed": 1, "cut": 0, "prompt_tokens": 9}
    metrics: JsonObject = {name: {"value": 0.25, "ci_low": 0.0, "ci_high": 1.0} for name in (*counts, "cost")}
    summary: JsonObject = {**counts, "metrics": metrics, "cost": {"amount": 3.0}}
    found = trackers.tracked_figures({"summary": summary})
    assert {found[name] for name in metrics} == {0.25}
    assert {name: found[f"run/{name}"] for name in counts} == counts
    assert found["run/cost"] == 3.0


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


@pytest.mark.parametrize("error", [OSError("no room"), SystemExit("no room")])
def test_a_tracker_that_fails_is_reported_and_stops_no_other(
    kept: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr(Broken, "error", error)
    result = benchwright.run(
        right, endpoint=ScriptedEndpoint("B"), workspace=tmp_path, trackers=["broken", "kept"]
    )
    assert result["correct"] == 0.5
    assert result.report_problems == (f"tracker broken failed: {type(error).__name__}: no room",)
    assert result.exit_code == 1
    assert [event for event, _ in kept if event != "progress"] == ["started", "finished"]


def test_a_tracker_that_hangs_holds_up_no_run(
    kept: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers, "PATIENCE_S", 0.01)
    result = benchwright.run(
        right, endpoint=ScriptedEndpoint("B"), workspace=tmp_path, trackers=["kept", "hanging"]
    )
    (hanging,) = (each for each in threading.enumerate() if each.name == "benchwright-tracker")
    assert hanging.daemon, "else the process would stay"
    Hanging.let_go.set()
    hanging.join()
    assert (result.status, result.exit_code) == ("completed", 1)
    assert "tracker hanging did not answer" in result.report_problems[0]
    assert [event for event, _ in kept if event != "progress"] == ["started", "started", "finished"]


def test_a_load_test_is_followed_and_a_failing_tracker_reported(kept: list[Any], tmp_path: Path) -> None:
    load: dict[str, Any] = {"requests": 20, "concurrency": 2, "warmup": 0, "workspace": tmp_path}
    result = benchwright.perf(right, trackers=["broken", "kept"], **load)
    assert (result.exit_code, result.report_problems) == (1, ("tracker broken failed: OSError: no room",))
    (first, start), *between, (last, end) = kept
    assert (first, last, end["run"]["status"]) == ("started", "finished", "completed")
    assert start["settings"]["requests"] == 20
    assert between[-1][1] == {"done": 20, "total": 20, "failed": 0}
    assert trackers.tracked_figures(end)["request_throughput_per_s"] > 0
    with pytest.raises(UsageError, match="no tracker named 'wandbb'"):
        benchwright.perf(right, trackers=["wandbb"], **load)


def test_a_report_that_ends_the_process_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def leave(run: JsonObject, folder: Path) -> None:
        seen.append(run["run"]["status"])
        raise SystemExit(0)

    monkeypatch.setattr(run_files.REPORT_PLUGINS, "find", lambda name: leave)
    result = benchwright.run(right, endpoint=ScriptedEndpoint("B"), workspace=tmp_path, reports=["leaving"])
    assert (result.status, result.exit_code) == ("completed", 1)
    assert result.report_problems == ("report leaving failed: SystemExit: 0",)
    assert seen == ["completed"]


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


@pytest.fixture
def followed(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """What a library wrote of a run that was stopped and resumed, and of a suite of two runs.

    In a process of its own: these libraries start services, and change the process that they are in.
    """
    settings = {
        "WANDB_MODE": "offline",
        "WANDB_ERROR_REPORTING": "false",
        "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'mlflow.db'}",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    }
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("WANDB_", "MLFLOW_"))}
    script = Path(__file__).with_name("followed_by_a_library.py")
    done = subprocess.run(
        [sys.executable, str(script), request.param],
        env={**ours, **settings, **SECRETS},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((tmp_path / "followed.json").read_text())
    assert found["exit_codes"] == [3, 0, 0, 0], done.stdout + done.stderr
    return found


def written_under(*folders: Path) -> bytes:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert files
    return b"".join(path.read_bytes() for path in files)


def check_load(figures: dict[str, Any]) -> None:
    """The main figures of a load test of two levels."""
    for prefix in ("", "1 in flight/", "2 in flight/"):
        assert figures[f"{prefix}request_throughput_per_s"] > 0
        assert figures[f"{prefix}goodput_per_s"] == pytest.approx(
            figures[f"{prefix}request_throughput_per_s"]
        )
        assert figures[f"{prefix}error_share"] == 0
        latencies = [figures[f"{prefix}e2e_ms/{name}"] for name in ("p50", "p90", "p95", "p99", "max")]
        assert latencies == sorted(latencies)
    assert figures["e2e_ms/p99"] in [figures[f"{level} in flight/e2e_ms/p99"] for level in (1, 2)]
    assert (figures["run/evaluated"], figures["run/failed"]) == (60, 0)


@pytest.mark.parametrize("followed", ["wandb"], indirect=True)
def test_weights_and_biases_offline(followed: dict[str, Any], tmp_path: Path) -> None:
    stopped, resumed, *suite, load = sorted(followed["runs"], key=lambda run: str(run["folder"]))
    check_load(load["summary"])
    assert (load["name"], load["exit_code"], load["config"]["params"]["profile"]) == (
        "two-4",
        0,
        "concurrent",
    )
    assert load["history"][-1]["progress/total"] == 60
    assert [(run["name"], run["summary"]["correct"]) for run in suite] == [("one-2", 1.0), ("two-3", 1.0)]
    assert len({run["id"] for run in suite}) == 2
    assert stopped["id"] == resumed["id"], "a resumed run continues the same run"
    assert (stopped["summary"]["status"], stopped["exit_code"]) == ("interrupted", 1)
    assert (resumed["summary"]["status"], resumed["exit_code"]) == ("completed", 0)
    assert (stopped["summary"]["run/evaluated"], resumed["summary"]["run/evaluated"]) == (2.0, 4.0)
    assert (resumed["config"]["model"], resumed["config"]["params"]["temperature"]) == ("demo", 0.0)
    assert resumed["history"][-1]["progress/done"] == 4
    assert followed["at_once"] == ["first", "second"], "runs that are under way at once are kept apart"
    written = written_under(*(tmp_path / ".benchwright" / "runs").glob("*/wandb"))
    assert [name for name, secret in SECRETS.items() if secret.encode() in written] == []
    assert b"How much is" not in written, "nor prompts"


@pytest.mark.parametrize("followed", ["mlflow"], indirect=True)
@pytest.mark.slow
def test_mlflow_in_a_local_store(followed: dict[str, Any], tmp_path: Path) -> None:
    resumed, *suite, load = followed["runs"]
    check_load(load["metrics"])
    assert (load["name"], load["status"], load["params"]["profile"]) == ("two-4", "FINISHED", "concurrent")
    assert load["artifacts"] == ["summary.json"]
    assert [(run["name"], run["status"], run["metrics"]["correct"]) for run in suite] == [
        ("one-2", "FINISHED", 1.0),
        ("two-3", "FINISHED", 1.0),
    ]
    assert (resumed["name"], resumed["status"]) == ("one-1", "FINISHED"), (
        "a resumed run continues the same run"
    )
    assert (resumed["metrics"]["run/evaluated"], resumed["metrics"]["progress/done"]) == (4.0, 4.0)
    steps = [step for step, _ in resumed["done"]]
    assert steps == list(range(1, len(steps) + 1)), "its curve goes on where it stopped"
    assert {2.0, 4.0} <= {value for _, value in resumed["done"]}
    assert (resumed["tags"]["benchwright.run"], resumed["params"]["model"]) == ("1", "demo")
    assert resumed["params"]["parallelism"] == "1", "parameters of the first start stay"
    assert resumed["artifacts"] == ["results.yml"]
    written = written_under(tmp_path / "mlruns") + (tmp_path / "mlflow.db").read_bytes()
    assert [name for name, secret in SECRETS.items() if secret.encode() in written] == []
    assert b"How much is" not in written, "nor prompts"
