"""The flags that say which server is asked, typed as people type them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from benchwright.config import PROFILES
from benchwright.core import WIRE_FORMATS
from benchwright.demo import DemoSettings, demo_server

BENCH = """\
from benchwright import benchmark, scorer

@benchmark(name="sums", dataset=[{"q": "What is 2 + 2?", "target": "4"}], prompt="{q}")
@scorer
def check(sample):
    return {"correct": sample.response.strip() == sample.target}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench.py").write_text(BENCH, encoding="utf-8")
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main([*words, "--json"]) == code
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    return shown


def test_a_server_by_profile_host_port_and_headers(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_KEY", "abc-def-ghi")
    with demo_server(DemoSettings(skill=1.0, model_id="served")) as server:
        run = printed(
            capsys, "run", "bench.py", "--model", "tgi_stream_api_general", "--host-ip", server.host, "--host_port",
            str(server.port), "--header", "X-Team=a", "--headers", "X-Api-Key=${TEAM_KEY}", "--api-key-env", "TEAM_KEY",
            "--max-event-bytes", "100000",
        )  # fmt: skip
        assert server.stats()["streams"] == 1
    (result,) = run["results"]
    assert (result["model"], result["summary"]["metrics"]["correct"]["value"]) == ("served", 1.0)
    for file in (folder / ".benchwright").rglob("*"):
        if file.is_file():
            assert b"abc-def-ghi" not in file.read_bytes(), file
    command = (Path(result["folder"]) / "run_config.yml").read_text(encoding="utf-8")
    assert "X-Api-Key=${TEAM_KEY}" in command


@pytest.mark.parametrize("flag", ["--model-url", "--base-url", "--url"])
def test_names_of_the_address_flag(folder: Path, capsys: pytest.CaptureFixture[str], flag: str) -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:
        run = printed(capsys, "run", "bench.py", flag, server.url, "--model-id", "m", "--api", "responses")
    assert run["results"][0]["summary"]["outcomes"]["scored"] == 1


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--api", "tgii"], f"expected one of {', '.join(WIRE_FORMATS)}"),
        (["--host-port", "0"], "too small"),
        (["--model", "hf_qwen"], "Start a server"),
        (["--model-url", "http://h", "--model-id", "m", "--header", "Authorization=Bearer sk-1"], "looks like a secret"),
        (["--model", "vllm_api_general", "--host-ip", "127.0.0.1", "--host-port", "9"], "Is the server running"),
    ],
)  # fmt: skip
def test_wrong_flags_get_the_cure(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], part: str
) -> None:
    shown = printed(capsys, "run", "bench.py", *words, code=2)
    assert part in json.dumps(shown["error"])
    assert "sk-1" not in json.dumps(shown)
    assert (
        not (folder / ".benchwright" / "runs").exists() or os.listdir(folder / ".benchwright" / "runs") == []
    )


def test_models_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "benchwright.toml").write_text(
        '[models.mine]\nprofile = "triton_api_general"\nmodel_name = "llama"\n[models.weak]\ntype = "demo"\nskill = 0.2\n',
        encoding="utf-8",
    )
    models = {model["name"]: model for model in printed(capsys, "ls", "--models")["models"]}
    assert set(models) == {"mine", "weak", "demo", *PROFILES}
    assert models["mine"] == {
        "name": "mine", "kind": "config", "api": "triton", "type": "completions", "stream": False,
        "url": "http://localhost:8080", "model": "llama", "description": "llama at http://localhost:8080",
    }  # fmt: skip
    assert main(["ls", "--models"]) == 0
    shown = capsys.readouterr().out
    assert "tgi_stream_api_general" in shown
    assert "demo model skill 0.2" in shown
