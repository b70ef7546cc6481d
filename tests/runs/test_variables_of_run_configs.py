"""Environment variables of a launcher's file: set for its runs alone, known to records without secrets, and needed to resume."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

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
