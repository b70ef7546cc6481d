"""Quality under load: replies are scored after the test, and the scores stand next to the latencies."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.perf.made_records import read_request_file, streamed

from benchwright import benchmark, compare, perf, scorer
from benchwright.core import UsageError
from benchwright.engine import RunLife
from benchwright.perf import LoadSettings, Requests, summarise
from benchwright.perf._quality import StageScores, score_differences
from recording_server import Refusal, recording


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = "".join(f"{n}+{n}=,{2 * n}\n" for n in range(20))
    (tmp_path / "qa.csv").write_text("question,answer\n" + rows, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_scores_are_those_of_a_run_on_the_same_rows(folder: Path) -> None:
    from benchwright import run

    result = perf("qa.csv", score=True, concurrency=[1, 4], requests=40)
    truth = run("qa.csv")
    for stage in result.summary.stages:
        found = stage.scores["normalised_exact"]
        assert found.mean == pytest.approx(truth.metrics["normalised_exact"].value)
        assert (found.n, stage.score_outcomes) == (40, {"scored": 40})
        assert found.mean_ci95 is not None
    change = result.summary.quality[0].change
    assert (change.name, change.rows, change.difference) == ("normalised_exact", 20, 0.0)
    again = read_request_file(result.folder / "requests.parquet")
    assert set(again["score_outcome"].to_pylist()) == {"scored"}
    stored = json.loads((result.folder / "summary.json").read_text(encoding="utf-8"))
    assert stored["stages"][1]["scores"]["normalised_exact"]["n"] == 40
    assert "normalised_exact" in (result.folder / "report.html").read_text(encoding="utf-8")
    other = perf("qa.csv", score=True, concurrency=[1, 4], requests=40)
    levels = compare(result.run_id, other.run_id).to_json()["levels"]
    assert levels[0]["scores"][0]["name"] == "normalised_exact"


def test_without_the_flag_no_reply_is_kept(folder: Path) -> None:
    result = perf("qa.csv", concurrency=1, requests=3)
    assert result.summary.stages[0].scores == {}
    assert read_request_file(result.folder / "requests.parquet")["reply"].null_count == 3


def test_a_scorer_that_fails_costs_its_scores_and_nothing_else(folder: Path) -> None:
    @benchmark(name="half", dataset=[{"n": n, "target": "x"} for n in range(4)], prompt="{n}+1=")
    @scorer
    def half(sample: Any) -> dict[str, Any]:
        if sample.metadata["n"] % 2:
            raise ValueError("odd")
        return {"right": True}

    result = perf(half, score=True, requests=8, concurrency=2)
    (stage,) = result.summary.stages
    assert (stage.scores["right"].n, stage.scores_with_failures["right"]) == (4, 0.5)
    assert stage.score_outcomes == {"scored": 4, "scorer_failed": 4}
    assert "odd" in str(stage.score_error)
    assert result.exit_code == 0


def test_replies_that_hold_a_key_are_neither_stored_nor_scored_as_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-load-0123456789")
    keys = {"1+1=": "sk-load-0123456789", "2+2=": "4"}

    def answer(body: dict[str, Any]) -> str:
        question = body["messages"][-1]["content"]
        if question not in keys:
            raise Refusal("Bad key: SK-LOAD-0123456789")
        return keys[question]

    with recording(answer) as server:
        model = {"model_url": server.url, "model_id": "m", "api_key_name": "MY_KEY", "stream": False}
        result = perf("qa.csv", score=True, concurrency=1, requests=8, limit=4, stop_error_share=1.0, **model)
    (stage,) = result.summary.stages
    assert (stage.counts.failed, stage.score_outcomes) == (4, {"scored": 2, "skipped": 2})
    assert stage.scores["exact"].mean == 1.0
    requests = read_request_file(result.folder / "requests.parquet")
    assert "Bad key: [redacted]" in requests["error"].to_pylist()[0]
    for path in (result.folder / "requests.parquet", folder / ".benchwright" / "benchwright.db"):
        assert b"sk-load-0123456789" not in path.read_bytes().lower()


def test_rows_that_send_several_requests_have_no_score_each(folder: Path) -> None:
    @benchmark(
        name="rank", dataset=[{"q": "1+1=", "target": "2"}], prompt="{q}", choices=["2", "3"],
        endpoint_type="completions_logprob",
    )  # fmt: skip
    @scorer
    def rank(sample: Any) -> dict[str, Any]:
        return {"right": True}

    with pytest.raises(UsageError, match="several requests"):
        perf(rank, score=True, requests=2)


def test_a_score_that_falls_under_load_is_told_row_by_row() -> None:
    """30 rows, each sent twice at both levels: 12 rows are right at 1 in flight and wrong at 8."""
    records = []
    for stage in (0, 1):
        for number in range(60):
            right = 0.0 if stage and number % 30 < 12 else 1.0
            records.append(
                streamed(
                    stage * 60 + number,
                    stage * 60.0 + number,
                    stage=stage,
                    row=number % 30,
                    scores={"right": right},
                )
            )
    requests = Requests.of(records)
    sides = [StageScores(requests.stage(stage).sent.completed) for stage in (0, 1)]
    (change,) = score_differences(*sides)
    assert (change.a, change.b, change.rows) == (1.0, 0.6, 30)
    assert change.significant
    assert change.worse
    assert change.ci95 is not None
    assert change.ci95[0] < -0.4 < change.ci95[1] < 0
    summary = summarise(requests, LoadSettings(levels=(1.0, 8.0), score=True))
    assert summary.quality[0].change == change
    assert type(summary).from_json(json.loads(json.dumps(summary.to_json()))) == summary


@pytest.mark.parametrize(("least", "code"), [("0.0", 0), ("1.01", 1)])
def test_a_minimum_score_decides_the_exit_code(
    least: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchwright.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "qa.csv").write_text("question,answer\n1+1=,2\n2+3=,5\n", encoding="utf-8")
    words = ["perf", "qa.csv", "--requests", "4", "--concurrency", "1,2", "--quiet", "--min-score", least]
    assert main([*words, "--score"]) == code
    assert ("below the minimum" in " ".join(capsys.readouterr().out.split())) == bool(code)
    assert main(words) == 2
    assert "--score" in capsys.readouterr().err


def test_a_test_that_scores_and_sums_up_shows_that_it_is_alive(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process takes a run for dead whose heart has not beaten for a while."""
    from benchwright.engine import _life
    from benchwright.runs import _load_work

    beats, at, scored = 0, [], _load_work.score_replies
    beat = RunLife.beat

    def counted(life: RunLife, progress: Any) -> None:
        nonlocal beats
        beats += 1
        beat(life, progress)

    async def slowly(*given: Any) -> None:
        begun = beats
        while beats < begun + 2:
            await asyncio.sleep(0)
        await scored(*given)
        at.append(beats)

    monkeypatch.setattr(_life, "HEARTBEAT_S", 0.0)
    monkeypatch.setattr(_load_work, "_SHOW_EVERY_S", 0.0)
    monkeypatch.setattr(RunLife, "beat", counted)
    monkeypatch.setattr(_load_work, "score_replies", slowly)
    perf("qa.csv", score=True, concurrency=1, requests=5)
    (scoring,) = at
    assert beats >= scoring + 2, "while figures are computed"
