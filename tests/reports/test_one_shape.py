"""A run has one JSON shape: `--json` prints it, the server sends it over its real routes, Python gives it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScriptedEndpoint, compare
from benchwright.cli import main
from benchwright.core import RunKind, UsageError
from benchwright.perf import LoadSettings, RequestRecord, Requests, summarise
from benchwright.results import RUN_KINDS, benchmark_details, view_of
from benchwright.runs import run_suite
from benchwright.server import ServerAddress, serving
from benchwright.server._bodies import RunBody
from benchwright.store import StepRequest, Store, Workspace, open_store
from stored_records import change_run
from stored_workflows import add_metric, begin_step, complete_step, created_workflow, finish_workflow
from waiting import PATIENCE_S

THIS_START = ("run_id", "exit_code", "sentence", "notes", "summary", "stopped_because", "first_failure", "requests_sent", "retries",
              "sent_again", "from_cache", "seconds", "samples_per_s", "ttft_s", "report_problems")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two benchmark runs, two workflow runs, a load test, and a run of a kind that nobody knows."""
    place = tmp_path_factory.mktemp("shapes")
    (place / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n2+2,4\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for reply in ("2", "3"):
            result = benchwright.run("q.csv", endpoint=ScriptedEndpoint(lambda request, said=reply: said))
            (place / f"result-{result.run_id}.json").write_text(json.dumps(result.to_json()))
    with open_store(Workspace(place)) as store:
        for value in (0.25, 0.75):
            _workflow(store, value)
        load = store.create_run(
            kind="load", name="l", target="l", model="m", folder=None, settings={}, manifest={}
        )
        tested = summarise(Requests.of([RequestRecord(number=0, sent=0.0, ended=1.0)]), LoadSettings())
        store.finish_run(load.id, "completed", summary=tested.to_json())
        new = store.create_run(name="new", target="new", model="m", folder=None, settings={}, manifest={})
        store.finish_run(new.id, "completed", summary={"requests": 7})
    _rename_kind(place, new.id, "siege")
    return place


def _workflow(store: Store, value: float) -> None:
    lease = created_workflow(
        store, "my_eval", input_json=b'{"model": "m", "text": "\\u00e9"}', tags={"team": "a"}
    )
    step = begin_step(store, lease, StepRequest("s", "0" * 64, b"1"))
    complete_step(store, lease, step.step_id, 1, b'{"x": 2}')
    add_metric(store, lease, "score", value, unit="points", step_id=step.step_id)
    finish_workflow(store, lease, "completed", output=b'{"rows": 2}')


def _rename_kind(place: Path, run_id: int, kind: str) -> None:
    """As if a newer version had written the run."""
    change_run(place, run_id, kind=kind)


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def address(here: Path) -> Iterator[ServerAddress]:
    with serving(Workspace(here)) as (found, _):
        yield found


def got(address: ServerAddress, path: str) -> Any:
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {address.token}"})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        return json.loads(answer.read())
    finally:
        connection.close()


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def as_values(sent: dict[str, Any]) -> dict[str, Any]:
    """A run from the server: JSON inside JSON is text there, and the summary comes with it."""
    run = {name: value for name, value in sent.items() if name != "summary"}
    for name in ("input", "output"):
        run[name] = None if run[name] is None else json.loads(run[name])
    return run


def test_lists_of_the_command_and_of_the_server_are_equal(
    here: Path, address: ServerAddress, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = printed(capsys, "list")["runs"]
    assert [run["kind"] for run in listed] == [
        "siege", "load", "workflow", "workflow", "benchmark", "benchmark",
    ]  # fmt: skip
    assert [as_values(run) for run in got(address, "/runs")["runs"]] == listed
    for kind in RUN_KINDS:
        of_kind = [as_values(run) for run in got(address, f"/runs?kind={kind}")["runs"]]
        assert of_kind == printed(capsys, "list", "--kind", kind)["runs"] != []


@pytest.mark.parametrize("number", [1, 3])
def test_show_list_server_and_python_tell_the_same_of_a_run(
    here: Path, address: ServerAddress, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    shown = printed(capsys, "show", str(number))
    (listed,) = [run for run in printed(capsys, "list")["runs"] if run["id"] == number]
    sent = got(address, f"/runs/{number}")
    assert shown["run"] == listed == as_values(sent)
    assert shown["summary"] == sent["summary"]
    with open_store(Workspace(here)) as store:
        run = store.run(number)
        assert json.loads(json.dumps(view_of(run).to_json())) == listed
        assert json.loads(json.dumps(RUN_KINDS[run.kind].details(store, run).to_json())) == shown
    if number == 1:
        result = json.loads((here / "result-1.json").read_text())
        assert {name: value for name, value in result.items() if name not in THIS_START} == listed
        assert result["summary"] == shown["summary"]
        assert result["ttft_s"] == shown["ttft_s"]


def test_samples_and_steps_are_the_same_in_lists_and_alone(
    here: Path, address: ServerAddress, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = printed(capsys, "show", "1", "--samples")["samples"]
    assert printed(capsys, "show", "1", "0")["samples"] == samples[:1]
    (step,) = printed(capsys, "show", "3", "--steps")["samples"]
    (alone,) = printed(capsys, "show", "3", "s")["samples"]
    assert {name: value for name, value in alone.items() if name != "events"} == step
    (sent,) = got(address, "/runs/3/steps")["steps"]
    for name in ("step_key", "status", "input_hash", "error", "started_at", "finished_at"):
        assert step[name] == sent[name], name
    (point,) = got(address, "/runs/3/metrics")["metrics"]
    del point["id"]
    assert printed(capsys, "show", "3")["metrics"] == [point]


@pytest.mark.parametrize(("a", "b"), [(1, 2), (3, 4)])
def test_compare_prints_what_it_returns(
    here: Path, capsys: pytest.CaptureFixture[str], a: int, b: int
) -> None:
    told = printed(capsys, "compare", str(a), str(b))
    assert told.pop("exit_code") == 0
    assert told == json.loads(json.dumps(compare(a, b).to_json()))
    for side, number in (("run_a", a), ("run_b", b)):
        run = printed(capsys, "show", str(number))["run"]
        assert (told[side]["id"], told[side]["status"], told[side]["outcomes"]) == (
            number,
            run["status"],
            run["outcomes"],
        )


def test_a_suite_prints_what_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1+1,2\n1+2,3\n")
    (tmp_path / "suite.yaml").write_text("models: [{name: d, type: demo}]\ndatasets: [{path: q.csv}]\n")
    result = json.loads(json.dumps(run_suite("suite.yaml").to_json()))
    told = printed(capsys, "run", "suite.yaml", "--no-cache")
    assert told.keys() == result.keys()
    (one,), (other,) = told["results"], result["results"]
    assert one.keys() == other.keys()
    assert one["summary"] == other["summary"]
    listed = {run["id"]: run for run in printed(capsys, "list")["runs"]}
    for pair in (one, other):
        names = {*THIS_START, "suite_model", "suite_dataset"}
        assert {name: value for name, value in pair.items() if name not in names} == listed[pair["run_id"]]


def test_the_server_describes_the_shape_of_a_run(here: Path) -> None:
    with open_store(Workspace(here)) as store:
        shape = benchmark_details(store.run(1)).run.to_json()
    assert set(RunBody.__struct_fields__) == {*shape, "summary"}


def test_every_kind_has_a_row_and_a_newer_kind_gets_a_clear_message(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(RUN_KINDS) == set(RunKind)
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["list"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "6  new" in line]
    assert "kind 'siege': needs a newer benchwright" in row
    for words in (
        ["show", "6"], ["show", "6", "0"], ["show", "6", "--wrong"], ["compare", "6", "1"], ["export", "6"],
        ["rescore", "6"], ["resume", "6"], ["cancel", "6"],
    ):  # fmt: skip
        assert main(words) == 2, words
        assert "of the kind 'siege', which a newer version of benchwright wrote" in capsys.readouterr().err, (
            words
        )
    with pytest.raises(UsageError, match="newer version"):
        benchwright.resume(6)
    with pytest.raises(UsageError, match="a benchmark and run 3 a workflow: they have nothing in common"):
        compare(1, 3)
