"""A dataset of the hub as a target: the same result through the command line and through Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hub_content import jsonl
from hub_server import LoopbackHub

from benchwright import run
from benchwright.cli import main


def test_a_hub_dataset_is_a_target_of_both_doors(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"What is {n} + 7?", "answer": str(n + 7)} for n in range(10, 22)]
    hub.repo("a/sums").commit({"test.jsonl": jsonl(rows)})
    result = run("hf://a/sums?split=test", cache=False)
    assert main(["run", "hf://a/sums?split=test", "--no-cache", "--json", "--quiet"]) == 0
    (printed,) = json.loads(capsys.readouterr().out)["results"]
    assert printed["summary"] == json.loads(json.dumps(result.to_json()["summary"]))
    assert result.summary.rows == 12
    assert len(hub.paths(r"^/api/datasets/a/sums$")) == 2, "each door looks the commit up once"
    assert main(["perf", "hf://a/sums?split=test", "--requests", "12", "--json", "--quiet"]) == 0
    (loaded,) = json.loads(capsys.readouterr().out)["results"]
    assert (loaded["summary"]["evaluated"], loaded["summary"]["failed"]) == (12, 0)
