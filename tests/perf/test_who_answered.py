"""A load test says which model answered, if it is not the requested one, as other runs do."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from msgspec import structs
from tests.perf.made_records import streamed

from benchwright.cli import main
from benchwright.cli._perf import LiveLine, finished_line, load_line
from benchwright.demo import DemoSettings, demo_server
from benchwright.perf import LoadProgress, LoadSettings, RequestOutcome, RequestRecord
from browser import page_data
from recording_server import recording


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qa.csv").write_text("question,answer\n1+1=,2\n2+2=,4\n", encoding="utf-8")
    return tmp_path


def test_figures_of_the_demo_model_are_marked_wherever_it_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with demo_server(DemoSettings()) as server:
        address = ["--model-url", server.url, "--model-id", "gpt"]
        assert main(["perf", "qa.csv", *address, "--concurrency=1,2", "--requests=2"]) == 0
    assert (
        capsys.readouterr().out.count("The demo model answered: these figures don't describe a real server")
        == 1
    )
    page = (folder / ".benchwright/runs/0001-qa/report.html").read_text(encoding="utf-8")
    assert page_data(page)["run"]["demo"] is True
    summary = json.loads((folder / ".benchwright/runs/0001-qa/summary.json").read_text(encoding="utf-8"))
    assert summary["run"]["demo"] is True
    for words in (["list"], ["show", "1"]):
        assert main([*words, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["run"] if "run" in found else found["runs"][0])["demo"] is True
    table = pq.read_table(folder / ".benchwright/runs/0001-qa/requests.parquet")
    assert set(table["served"].to_pylist()) == {"benchwright-demo"}


def test_a_server_that_answers_as_another_model_is_noted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording(lambda body: "fine") as server:
        server.served = "small-model"
        address = ["--model-url", server.url, "--model-id", "large-model"]
        assert main(["perf", "qa.csv", *address, "--concurrency=1", "--requests=2", "--no-stream"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "the server answered as small-model, which is not the requested name" in text
    assert "demo model" not in text


def test_the_line_of_a_running_test_has_a_99th_percentile_only_if_there_are_enough_requests() -> None:
    progress = LoadProgress("qa", LoadSettings(requests=400))
    for number in range(99):
        progress.add(RequestRecord(number=number, sent=0.0, first_token=0.05, ended=0.06))
    assert "TTFT 50 ms" in load_line(progress)
    progress.add(RequestRecord(number=99, sent=0.0, first_token=0.05, ended=0.06))
    assert "TTFT 50 (p99 50) ms" in load_line(progress)


def test_the_live_line_has_time_left_limits_and_finished_levels() -> None:
    settings = LoadSettings(levels=(1.0, 4.0), requests=10, slo=(("ttft", 0.06), ("e2e", 9.0)))
    progress = LoadProgress("qa", settings)
    for number in range(4):
        progress.add(streamed(number, 0.0, ttft=0.05 if number else 0.07))
    line = load_line(progress)
    assert "75.0 % within limits" in line
    assert " s left" in line
    progress.begin(1, "measured", 4.0, None)
    assert finished_line(progress, 0).startswith("1 in flight: 4 requests, ")
    assert finished_line(progress, 0).endswith("75.0 % within limits")
    stream = io.StringIO()
    LiveLine(stream).show(progress)
    assert stream.getvalue().count("\n") == 1
    assert "within limits" not in load_line(progress)


def test_a_narrow_live_line_keeps_what_decides() -> None:
    """Time left, limits and failures were cut off at 80 columns."""
    settings = LoadSettings(
        levels=(5.0, 15.0), profile="poisson", seconds=600.0, requests=9000, slo=(("ttft", 0.06),)
    )
    progress = LoadProgress("quiz_of_questions", settings)
    for number in range(1500):
        record = streamed(number, 0.0, ttft=0.05, gaps=[0.01] * 4)
        progress.add(structs.replace(record, outcome=RequestOutcome.HTTP_5XX) if number % 9 == 0 else record)
    assert len(load_line(progress)) > 120
    for width in (79, 99, 119):
        line = load_line(progress, width)
        assert len(line) <= width, line
        for words in ("1,500 of 9,000", "% within limits", "167 failed", " s left"):
            assert words in line
    assert "ITL" in load_line(progress)


def test_a_phase_counts_its_own_requests() -> None:
    """Warm-ups of so many warm-ups; then measured requests, not those that follow them to keep the load."""
    progress = LoadProgress("qa", LoadSettings(requests=3, warmup=2, cooldown=2))
    progress.begin(0, "warmup", 1.0, None)
    progress.add(streamed(0, 0.0, phase="warmup"))
    assert (progress.told().done, progress.told().total) == (1, 2)
    progress.begin(0, "measured", 1.0, None)
    for number in range(3):
        progress.add(streamed(number, 0.0))
        progress.add(streamed(number, 0.0, phase="cooldown", outcome=RequestOutcome.HTTP_5XX))
    told = progress.told()
    assert (told.done, told.total, told.failed) == (3, 3, 0)
    assert (progress.ended_so_far, progress.failed_so_far) == (7, 3)
