"""Runs whose files are in memory: every command finds what another wrote, and nothing looks for it in a folder."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from tests.memory_files import MemoryPlaces

import benchwright
from benchwright.cli import main
from benchwright.core import JsonObject, LoadFile, RunFile, open_artifacts
from benchwright.core._artifacts import ARTIFACT_KINDS
from benchwright.reports.files import run_files

ROWS = "question,answer\n1+1=,2\n2+2=,4\n3+3=,6\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(ARTIFACT_KINDS, "", MemoryPlaces().open)
    Path("rows.csv").write_text(ROWS)
    yield tmp_path
    places = [tmp_path / "out", *(tmp_path / ".benchwright" / "runs").glob("*")]
    assert not [path for place in places for path in place.rglob("*")], "something was written to a folder"


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_a_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    first = benchwright.run("rows.csv", data_type="qa")
    files = open_artifacts(first.folder)
    assert files.names() == sorted(RunFile)
    assert len(first.samples()) == 3
    tasks = yaml.safe_load(files.read(RunFile.RESULTS))["results"]["tasks"]
    assert tasks["rows"]["samples"]["evaluated"] == 3
    main(["show", "1"])
    assert ", ".join(RunFile) in " ".join(capsys.readouterr().out.split()).replace("│ ", "")
    assert main(["rescore", "1", "--quiet"]) == 0
    assert main(["compare", "1", "2"]) == 0
    assert main(["export", "1", "-o", "samples.parquet"]) == 0
    assert pq.read_table("samples.parquet").num_rows == 3
    removed = said(capsys, "rm", "1", "--yes")["removed"]
    assert removed[0]["folder"] == str(first.folder)
    assert files.names() == []


def test_a_folder_from_elsewhere_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "rows.csv", "--data-type", "qa", "--quiet", "--output-dir", "out"]) == 0
    assert main(["run", "rows.csv", "--data-type", "qa", "--quiet"]) == 0
    Path("elsewhere").mkdir()
    Path("out").mkdir()  # a run is found by an existing folder
    assert main(["compare", "out", "2"]) == 0
    assert main(["run", "rows.csv", "--data-type", "qa", "--quiet", "--output-dir", "out"]) == 2
    assert "contains the files of another run (results.yml" in capsys.readouterr().err


def test_a_load_test(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["perf", "rows.csv", "--requests", "6", "--concurrency", "2", "--format", "aisbench"]
    found = said(capsys, *words)
    files = open_artifacts(found["results"][0]["run"]["folder"])
    assert files.names() == ["performances/", *sorted(LoadFile)]
    assert pq.read_table(io.BytesIO(files.read(LoadFile.REQUESTS))).num_rows >= 6
    table = list(csv.DictReader(io.StringIO(files.read(LoadFile.TABLE).decode())))
    assert table[0]["stage"] == "0"
    main(["show", "last"])
    assert "requests.parquet" in capsys.readouterr().out


def test_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    Path("benchwright.toml").write_text(
        '[benchmarks.work]\ntype = "custom_code"\ncommand = ["sh", "-c", "echo it works"]\n'
    )
    assert main(["run", "work", "--no-server"]) == 0
    capsys.readouterr()
    shown = said(capsys, "show", "last")
    assert shown["stdout"] == "it works\n"


def test_a_plugin_gets_a_folder_and_what_it_writes_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def report(run: JsonObject, folder: Path) -> None:
        there = sorted(path.name for path in folder.iterdir())
        (folder / "there.txt").write_text(" ".join(there))

    monkeypatch.setattr(run_files.REPORT_PLUGINS, "find", lambda name: report)
    result = benchwright.run("rows.csv", data_type="qa", reports=["mine"])
    assert result.report_problems == ()
    assert open_artifacts(result.folder).read("there.txt").decode() == " ".join(sorted(RunFile))


def test_files_of_function_calls_and_the_log_of_a_pipeline(capsys: pytest.CaptureFixture[str]) -> None:
    result = benchwright.run("bfclv3_ast", task="simple", limit=3, pipeline={"use_request_logging": True})
    files = open_artifacts(result.folder)
    assert files.names("result/demo") == ["result/demo/BFCL_v3_simple_result.json"]
    assert "score/demo/data_overall.csv" in files.names("score/demo")
    log = files.read("exchanges.jsonl").splitlines()
    assert {json.loads(line)["event"] for line in log} == {"request"}
    main(["show", "last"])
    assert "result/, score/" in " ".join(capsys.readouterr().out.split())


DOORS = {
    "run": ["run", "rows.csv", "--data-type", "qa"],
    "perf": ["perf", "rows.csv", "--requests", "2"],
    "rescore": ["rescore", "1"],
    "suite": ["run", "--models", "demo", "--datasets", "rows.csv"],
    "run_eval": ["run_eval", "--eval_type", "bfclv3_ast", "--model_id", "m", "--model_type", "chat", "--model_url", "http://127.0.0.1:9"],
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_a_url_is_not_taken_for_a_folder(door: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if door == "rescore":
        benchwright.run("rows.csv", data_type="qa")
    before = {path.name for path in here.iterdir()} | {".benchwright"}
    for scheme in ("s3", "gs", "az", "file"):
        assert main([*DOORS[door], "--output-dir", f"{scheme}://bucket/x"]) == 2
        assert f"cannot be at {scheme}://bucket/x" in capsys.readouterr().err
    assert {path.name for path in here.iterdir()} <= before
