"""Run configurations with `adapter_config`, by the command line: the YAML of the older package, against a recording server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchwright.cli import main
from recording_server import RecordingServer, recording


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("question,answer\nq0,a0\nq1,a1\nq2,a2\n")
    return tmp_path


def run_eval(server: RecordingServer, adapter: Any, *words: str) -> int:
    endpoint = {"url": server.url, "model_id": "m", "type": "chat", "adapter_config": adapter}
    config = {"config": {"type": "rows.csv", "output_dir": "out"}, "target": {"api_endpoint": endpoint}}
    Path("run.yaml").write_text(yaml.safe_dump(config))
    return main(["run_eval", "--run_config", "run.yaml", *words])


def test_short_flags_arrive(folder: Path) -> None:
    adapter = {
        "use_system_prompt": True,
        "custom_system_prompt": "You; rm -rf / & `echo`",
        "params_to_add": {"chat_template_kwargs": {"enable_thinking": False}},
        "params_to_remove": ["top_p"],
        "params_to_rename": {"max_tokens": "max_completion_tokens"},
        "headers_to_add": {"X-Run": "$(id) 'q'"},
        "use_request_logging": True,
        "use_response_logging": True,
        "max_logged_responses": 1,
    }
    with recording("a1") as server:
        assert run_eval(server, adapter) == 0
        assert [body["messages"][0]["content"] for body in server.bodies] == ["You; rm -rf / & `echo`"] * 3
        body = server.bodies[0]
        assert body["chat_template_kwargs"] == {"enable_thinking": False}
        assert ("top_p" in body, "max_tokens" in body, body["max_completion_tokens"]) == (False, False, 4096)
        assert server.received[0].headers["x-run"] == ["$(id) 'q'"]
    events = [json.loads(line)["event"] for line in Path("out/exchanges.jsonl").read_text().splitlines()]
    assert sorted(events) == ["request", "request", "response"]
    recorded = yaml.safe_load(Path("out/run_config.yml").read_text())
    names = [step["name"] for step in recorded["target"]["api_endpoint"]["adapter_config"]["interceptors"]]
    assert names == ["system_message", "payload_modifier", "request_logging", "response_logging"]


def test_a_list_of_interceptors_arrives(folder: Path) -> None:
    adapter = {
        "interceptors": [
            {"name": "system_message", "config": {"system_message": "S", "strategy": "replace"}},
            {"name": "request_logging", "enabled": False},
            {
                "name": "caching",
                "config": {"cache_dir": "saved", "save_requests": True, "max_saved_requests": 2},
            },
            "endpoint",
            {"name": "reasoning", "config": {"end_reasoning_token": "</r>"}},
        ]
    }
    with recording("x</r>a1") as server:
        assert run_eval(server, adapter) == 0
        assert {body["messages"][0]["content"] for body in server.bodies} == {"S"}
    assert len(Path("saved/requests.jsonl").read_text().splitlines()) == 2
    assert not Path("out/exchanges.jsonl").exists()


def test_a_dry_run_shows_the_pipeline_and_writes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording() as server:
        assert run_eval(server, {"params_to_add": {"top_k": 1}}, "--dry_run") == 0
        assert server.bodies == []
    printed = capsys.readouterr().out
    assert "top_k" in printed
    assert sorted(path.name for path in folder.iterdir()) == ["rows.csv", "run.yaml"]


def test_a_wrong_flag_is_refused_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recording() as server:
        assert run_eval(server, {"use_cashing": True}) == 2
        assert server.bodies == []
    assert (
        "target.api_endpoint.adapter_config: use_cashing is not known. Did you mean 'use_caching'"
        in capsys.readouterr().err
    )


def test_reports_and_statistics_are_those_that_are_wanted(folder: Path) -> None:
    adapter = {"html_report_size": 2, "generate_html_report": True, "include_json": True}
    with recording("a1") as server:
        assert run_eval(server, adapter) == 0
        assert len(json.loads(Path("out/report.json").read_text())) == 2
        assert {"response_stats", "reasoning"} <= json.loads(
            Path("out/eval_factory_metrics.json").read_text()
        ).keys()
        less = {
            "generate_html_report": False,
            "tracking_requests_stats": False,
            "process_reasoning_traces": True,
            "track_reasoning": False,
        }
        assert run_eval(server, less, "--overrides", "config.output_dir=less") == 0
    assert sorted(path.name for path in Path("less").glob("report.*")) == []
    assert json.loads(Path("less/eval_factory_metrics.json").read_text()).keys() == {"evaluation"}


def test_a_run_of_any_command_writes_the_files_that_steps_ask_for(folder: Path) -> None:
    steps = json.dumps({"generate_html_report": True, "include_json": False, "tracking_requests_stats": True})
    with recording("a1") as server:
        assert (
            main(["run", "rows.csv", *server.model, "--output-dir", "out", "--pipeline", steps, "--quiet"])
            == 0
        )
    assert Path("out/report.html").read_text().count("q0")
    assert not Path("out/report.json").exists()
    stats = json.loads(Path("out/eval_factory_metrics.json").read_text())["response_stats"]
    assert (stats["count"], stats["status_codes"]) == (3, {"200": 3})
