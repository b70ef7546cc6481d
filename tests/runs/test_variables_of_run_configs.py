"""Environment variables of a launcher's file: set for its runs alone, known to records without secrets, and needed to resume."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import benchwright
from benchwright.cli import main
from recording_server import RecordingServer, recording

CODE = """
import os
from benchwright import benchmark, scorer

@benchmark(name="b", dataset=[{"q": "x", "a": "y"}], prompt="{q} " + os.environ.get("LEVEL", "none"), target_field="a")
@scorer
def b(sample):
    return {"right": sample.response == os.environ["LEVEL"]}
"""
KEY = "sk-host-0123456789abcdef"
LITERAL = "sk-literal-9876543210fedcba"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingServer]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.setenv("HOST_KEY", KEY)
    for name in ("MODEL_KEY", "OTHER_KEY", "LEVEL"):
        monkeypatch.delenv(name, raising=False)
    Path("bench.py").write_text(CODE, encoding="utf-8")
    with recording(lambda body: f"five {KEY} {LITERAL}") as running:
        variables = {"MODEL_KEY": "host:HOST_KEY", "OTHER_KEY": f"lit:{LITERAL}", "LEVEL": "lit:five 5"}
        endpoint = {"url": running.url, "model_id": "m", "type": "chat", "api_key_name": "MODEL_KEY"}
        endpoint |= {"headers": {"X-Api": "\\${OTHER_KEY}"}}
        document = {
            "execution": {"output_dir": "out"},
            "target": {"api_endpoint": endpoint},
            "evaluation": {"tasks": [{"name": "bench.py:b", "env_vars": variables}]},
        }
        Path("all.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        yield running


def test_variables_hold_for_the_run_alone_and_no_record_has_a_secret(
    server: RecordingServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["run", "--config", "all.yaml", "-q"]) == 0
    (sent,) = server.take()
    assert sent.headers["authorization"] == [f"Bearer {KEY}"]
    assert sent.headers["x-api"] == [LITERAL]
    assert sent.body["messages"][0]["content"] == "x five 5"
    assert not {"MODEL_KEY", "OTHER_KEY", "LEVEL"} & os.environ.keys()
    files = [
        path for path in Path.cwd().rglob("*") if path.is_file() and path.name not in ("all.yaml", "bench.py")
    ]
    assert files
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
        assert LITERAL.encode() not in path.read_bytes(), path
    (folder,) = Path("out").glob("*")
    recorded = yaml.safe_load((folder / "run_config.yml").read_text(encoding="utf-8"))
    expected = {"MODEL_KEY": "host:HOST_KEY", "OTHER_KEY": "secret", "LEVEL": "lit:five 5"}
    assert recorded["settings"]["variables"] == expected
    expected_start = "env 'LEVEL=five 5' MODEL_KEY=\"$HOST_KEY\" benchwright run bench.py:b "
    assert recorded["command"].startswith(expected_start)

    again = ["run", "--config", str(folder / "run_config.yml"), "--output-dir", "again", "--no-cache", "-q"]
    capsys.readouterr()
    assert main(again) == 2
    assert "export OTHER_KEY with its value" in capsys.readouterr().err
    with pytest.raises(benchwright.UsageError, match=r"LEVEL=five 5.*MODEL_KEY=.*HOST_KEY"):
        benchwright.rescore(1)
    monkeypatch.setenv("OTHER_KEY", LITERAL)
    assert main(again) == 0
    (once_more,) = server.take()
    assert (once_more.body, once_more.headers["authorization"]) == (sent.body, sent.headers["authorization"])


@pytest.mark.parametrize("flags", [[], ["--parallel-tasks"]], ids=["one by one", "parallel"])
def test_every_task_has_its_own_variables_and_the_shared_ones(
    server: RecordingServer, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    """At every moment: while its file is loaded, its key is read, its replies are scored, and in the record."""
    document = yaml.safe_load(Path("all.yaml").read_text(encoding="utf-8"))
    key = {"MODEL_KEY": "host:HOST_KEY", "OTHER_KEY": "lit:x"}
    alone = {"LEVEL": "lit:alone", "MODEL_KEY": "lit:sk-of-one-task-0123456789"}
    document["evaluation"] = {
        "env_vars": {**key, "LEVEL": "lit:shared"},
        "tasks": ["bench.py:b", {"name": "bench.py:b", "env_vars": alone}, "bench.py:b"],
    }
    Path("all.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    server.reply = lambda body: body["messages"][0]["content"].removeprefix("x ")
    assert main(["check", "--config", "all.yaml", "--json"]) == 1  # no gold answer is right
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert ["x alone" in str(each) for each in checks] == [False, True, False]

    assert main(["run", "--config", "all.yaml", "-q", "--no-cache", *flags]) == 0
    assert ("different env_vars do not run at the same time" in capsys.readouterr().err) == bool(flags)
    sent = sorted(
        (each.body["messages"][0]["content"], each.headers["authorization"]) for each in server.take()
    )
    shared = ("x shared", [f"Bearer {KEY}"])
    assert sent == [("x alone", ["Bearer sk-of-one-task-0123456789"]), shared, shared]
    assert not {"MODEL_KEY", "LEVEL"} & os.environ.keys()
    for number, level in ((1, "shared"), (2, "alone"), (3, "shared")):
        folder = Path("out", f"bench.py_b.{number}")
        recorded = yaml.safe_load((folder / "run_config.yml").read_text(encoding="utf-8"))
        assert recorded["settings"]["variables"]["LEVEL"] == f"lit:{level}"
        results = yaml.safe_load((folder / "results.yml").read_text(encoding="utf-8"))
        (scores,) = results["results"]["tasks"]["b"]["metrics"].values()
        assert scores["scores"]["right"]["value"] == 1.0, level


def test_a_variable_that_is_used_as_a_key_is_a_secret_whatever_its_name(server: RecordingServer) -> None:
    document = yaml.safe_load(Path("all.yaml").read_text(encoding="utf-8"))
    step = {"name": "payload_modifier", "config": {"headers_to_add": {"X-Step": "\\${STEP}"}}}
    document["target"]["api_endpoint"] |= {
        "api_key_name": "MINE",
        "headers": {"X-Team": "\\${TEAM}"},
        "adapter_config": {"interceptors": [step]},
    }
    judge = {"url": server.url, "model_id": "judge", "api_key": "GRADER"}
    document["evaluation"]["nemo_evaluator_config"] = {"config": {"params": {"extra": {"judge": judge}}}}
    document["evaluation"]["tasks"][0]["env_vars"] = {
        "LEVEL": "lit:five 5",
        "MINE": f"lit:{LITERAL}",
        "TEAM": "lit:sk-team-0123456789",
        "STEP": "lit:sk-step-0123456789",
        "GRADER": "lit:sk-grader-0123456789",
    }
    Path("all.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    assert main(["run", "--config", "all.yaml", "-q"]) == 0
    (sent,) = server.take()
    assert (sent.headers["authorization"], sent.headers["x-team"]) == (
        [f"Bearer {LITERAL}"],
        ["sk-team-0123456789"],
    )
    (file,) = Path("out").rglob("run_config.yml")
    recorded = yaml.safe_load(file.read_text(encoding="utf-8"))["settings"]["variables"]
    secrets = dict.fromkeys(("MINE", "TEAM", "STEP", "GRADER"), "secret")
    assert recorded == {"LEVEL": "lit:five 5", **secrets}
    assert sent.headers["x-step"] == ["sk-step-0123456789"]


def test_after_an_interruption_no_task_with_other_variables_begins(
    server: RecordingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    document = yaml.safe_load(Path("all.yaml").read_text(encoding="utf-8"))
    (task,) = document["evaluation"]["tasks"]
    other = {**task, "env_vars": {**task["env_vars"], "LEVEL": "lit:other"}}
    document["evaluation"]["tasks"] = [task, other]
    Path("all.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")

    def interrupt(body: dict[str, Any]) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "five 5"

    server.reply = interrupt
    assert main(["run", "--config", "all.yaml", "-q"]) == 130
    assert len(server.take()) == 1
    assert "LEVEL" not in os.environ
