"""Runs say who answered: the demo model over HTTP, or a model under another name than the requested one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.core import DEMO_NOTE, ModelReply
from benchwright.demo import DemoServer, DemoSettings, demo_server
from benchwright.results._command import command_of
from benchwright.results._runs import plain_view
from benchwright.store import Workspace, open_store


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with demo_server(DemoSettings(skill=1.0, model_id="m")) as running:
        yield running


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "sums.jsonl"
    rows = [{"question": f"What is {n} + 3?", "answer": str(n + 3)} for n in range(6)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", ["openai", "responses", "tgi", "triton", "mindie"])
def test_the_demo_server_is_never_taken_for_a_real_model(
    server: DemoServer, questions: Path, tmp_path: Path, api: str, stream: bool
) -> None:
    root = server.url.removesuffix("/v1")
    settings: dict[str, Any] = {"model_url": root, "model_id": "m", "api": api, "stream": stream}
    first = benchwright.run(questions, workspace=tmp_path, **settings)
    assert first.summary.outcomes["request_failed"] == 0
    assert first.summary.notes.count(DEMO_NOTE) == 1
    assert first.demo
    assert first.to_json()["demo"] is True
    again = benchwright.run(questions, workspace=tmp_path, **settings)
    assert again.requests_sent == 0
    assert again.summary.notes.count(DEMO_NOTE) == 1
    as_first = {"reused": first.summary.reused, "notes": first.summary.notes}
    assert replace(again.summary, **as_first) == first.summary


def test_lists_and_rescored_runs_say_that_the_demo_server_answered(
    server: DemoServer, questions: Path, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"model_url": server.url, "model_id": "m"}
    first = benchwright.run(questions, workspace=tmp_path, **settings)
    rescored = benchwright.rescore(first.run_id, workspace=tmp_path)
    assert DEMO_NOTE in rescored.summary.notes
    script = ScriptedEndpoint(lambda request: "4")
    assert not benchwright.run(questions, endpoint=script, workspace=tmp_path).demo
    with open_store(Workspace(tmp_path)) as store:
        assert [plain_view(run).to_json()["demo"] for run in store.runs()] == [False, True, True]
        assert f"--model-url {server.url}" in command_of(store.run(first.run_id))


def test_another_name_is_noted_once(questions: Path, tmp_path: Path) -> None:
    reply = ModelReply("answered", "4", served="gpt-4o-2024-08-06")
    result = benchwright.run(questions, endpoint=ScriptedEndpoint(lambda request: reply), workspace=tmp_path)
    notes = [note for note in result.summary.notes if "gpt-4o-2024-08-06" in note]
    assert notes == ["the requested model is scripted; the server answered as gpt-4o-2024-08-06"]


def test_the_requested_name_is_not_noted(questions: Path, tmp_path: Path) -> None:
    script = ScriptedEndpoint(
        lambda request: {"model": request.body["model"], "choices": [{"message": {"content": "4"}}]}
    )
    result = benchwright.run(questions, endpoint=script, workspace=tmp_path)
    assert not any("answered as" in note for note in result.summary.notes)


def test_a_server_of_many_long_names_fills_no_record(questions: Path, tmp_path: Path) -> None:
    names = iter(f"{n}-" + "x" * 100_000 for n in range(1_000))
    script = ScriptedEndpoint(lambda request: ModelReply("answered", "4", served=next(names)))
    result = benchwright.run(questions, endpoint=script, workspace=tmp_path, repeats=20)
    assert result.summary.outcomes["scored"] == 120
    assert sum(map(len, result.summary.notes)) < 2_000
    manifest = (result.folder / "manifest.json").read_bytes()
    assert len(manifest) < 20_000
