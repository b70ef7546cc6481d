"""Replies that a run did not request itself stand next to its numbers, with their age, wherever the run is shown; nothing is
decided on them unless the user accepts them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

import benchwright
from benchwright import UsageError
from benchwright.cli import main
from benchwright.demo import DemoSettings, demo_server
from benchwright.store import find_workspace, open_store
from stored_records import make_older

POLICY = '[[threshold]]\nmetric = "correct"\nmin = 0.0\nbound = "value"\n'
BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset=[{"q": f"What is {k} + 1?", "target": str(k + 1)} for k in range(24)], prompt="{q}")
@scorer
def sums(sample: ScorerInput) -> dict:
    return {"correct": sample.target in sample.response}
"""
AGE_S = 3 * 86400.0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("CI", raising=False)
    Path("bench.py").write_text(BENCH)
    Path("policy.toml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(list(words))
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return run


def made_older(run: int) -> None:
    """Let the replies of a run, and the run, be three days old."""
    make_older(Path.cwd(), run, AGE_S)


def day_before() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - AGE_S))


def test_every_record_and_view_gives_the_number_and_the_age(said: Any, folder: Path) -> None:
    assert said("run", "bench.py")[0] == 0
    made_older(1)
    code, closing_table = said("run", "bench.py")
    assert code == 0
    note, day = "24 replies came from earlier runs (oldest ", day_before()
    assert note in closing_table
    for shown in (
        closing_table,
        said("show", "2")[1],
        Path(".benchwright/runs/0002-sums/report.html").read_text(),
    ):
        assert note in shown
        assert day in shown
    listed = said("list")[1]
    assert "24 reused" in listed
    assert "3 d old" in listed or "72 h" in listed, listed
    place = next(Path(".benchwright/runs").glob("*2*"))
    results = yaml.safe_load((place / "results.yml").read_text())["results"]["tasks"]["sums"]["samples"]
    manifest = json.loads((place / "manifest.json").read_text())["run"]
    views = [results["reused"], manifest["reused"]]
    for words in (("show", "2"), ("list",)):
        found = json.loads(said(*words, "--json")[1])
        views.append(found["runs"][0]["reused"] if "runs" in found else found["run"]["reused"])
    compared = json.loads(said("compare", "1", "2", "--json")[1])
    views.append(compared["run_b"]["reused"])
    for view in views:
        assert (view["replies"], view["older"]) == (24, 24)
        assert view["oldest"].startswith(day)
        assert view["newest"].startswith(day)
    assert compared["run_a"]["reused"] is None
    assert any("run 2: 24 replies came from earlier runs" in text for text in [compared["warning"]])


def test_a_gate_gives_no_verdict_on_replies_older_than_the_run(said: Any) -> None:
    said("run", "bench.py")
    assert said("gate", "last", "--policy", "policy.toml")[0] == 0
    said("run", "bench.py")
    code, shown = said("gate", "last", "--policy", "policy.toml", "--markdown", "gate.md")
    assert code == 3
    assert "INCONCLUSIVE" in shown
    for text in (shown, Path("gate.md").read_text()):
        text = " ".join(text.split())
        assert "24 replies are older than the run" in text
        assert "--accept-cached" in text
        assert "--no-cache" in text
    assert said("gate", "last", "--policy", "policy.toml", "--accept-cached")[0] == 0
    policy = {"threshold": [{"metric": "correct", "min": 0.0, "bound": "value"}]}
    assert benchwright.gate("last", policy=policy).verdict == "INCONCLUSIVE"
    assert benchwright.gate("last", policy=policy, accept_cached=True).verdict == "GO"


def test_one_old_reply_among_new_ones_is_enough(said: Any) -> None:
    said("run", "bench.py", "--limit", "1")
    said("run", "bench.py")
    code, shown = said("gate", "last", "--policy", "policy.toml")
    assert code == 3
    assert "1 reply is older than the run" in " ".join(shown.split())


def test_nor_a_comparison_with_a_baseline_of_old_replies(said: Any) -> None:
    said("run", "bench.py")
    said("run", "bench.py")
    said("run", "bench.py", "--no-cache")
    Path("policy.toml").write_text('[[regression]]\nmetric = "correct"\nbound = "value"\nmargin = 0.0\n')
    words = ("gate", "3", "--policy", "policy.toml", "--baseline")
    folder = next(Path(".benchwright/runs").glob("0002-*"))
    for baseline in ("2", str(folder)):
        code, shown = said(*words, baseline)
        assert code == 3
        assert "24 replies are older than the run" in " ".join(shown.split())
        assert said(*words, baseline, "--accept-cached")[0] == 0
    assert said(*words, "1")[0] == 0
    said("export", "2", "--baseline", "base.jsonl", "--accept-cached")
    code, shown = said(*words, "base.jsonl")
    assert code == 0, "accepted by whoever exported it"
    assert "24 replies are older than the run" in " ".join(shown.split())


@pytest.mark.parametrize(
    "words", [("bless", "2", "--as", "main"), ("export", "2", "--baseline", "base.jsonl")]
)
def test_no_baseline_is_made_of_them_unasked(said: Any, words: tuple[str, ...]) -> None:
    said("run", "bench.py")
    said("run", "bench.py")
    code, shown = said(*words)
    assert code == 2
    assert "24 replies are older than the run" in shown
    assert "--accept-cached" in shown
    assert said(*words, "--force")[0] == 2
    assert said(*words, "--accept-cached")[0] == 0
    assert said("gate", "1", "--policy", "policy.toml", "--baseline", "2")[0] == 0


def test_new_requests_are_no_reused_replies(said: Any) -> None:
    said("run", "bench.py")
    said("run", "bench.py", "--no-cache")
    assert said("gate", "last", "--policy", "policy.toml")[0] == 0
    assert said("bless", "last")[0] == 0
    assert "reused" not in said("list")[1]


def test_replies_of_an_earlier_start_of_the_run_are_its_own(said: Any) -> None:
    assert said("run", "bench.py", "--max-requests", "5")[0] == 3
    assert said("resume", "last")[0] == 0
    assert json.loads(said("show", "last", "--json")[1])["run"]["reused"]["replies"] == 0
    assert said("gate", "last", "--policy", "policy.toml")[0] == 0


def test_a_resumed_run_still_counts_what_its_first_start_took_over(said: Any) -> None:
    said("run", "bench.py", "--limit", "5")
    assert said("run", "bench.py", "--max-requests", "3", "--cache")[0] == 3
    assert said("resume", "last")[0] == 0
    assert json.loads(said("show", "last", "--json")[1])["run"]["reused"]["replies"] == 5
    assert said("gate", "last", "--policy", "policy.toml")[0] == 3


def test_a_rescored_run_is_as_old_as_the_run_that_it_scores(said: Any) -> None:
    """It reports the age of its replies. They are too old only if they were for the run that they come from."""
    said("run", "bench.py")
    code, shown = said("rescore", "1")
    assert code == 0
    assert "age of the replies: oldest " in shown
    reused = json.loads(said("show", "2", "--json")[1])["run"]["reused"]
    assert (reused["replies"], reused["older"]) == (24, 0)
    assert said("gate", "2", "--policy", "policy.toml")[0] == 0
    said("run", "bench.py")  # 3: all from the cache
    said("rescore", "3")
    said("rescore", "4")
    for run in ("3", "4", "5"):
        assert said("gate", run, "--policy", "policy.toml")[0] == 3, run


@pytest.mark.parametrize(("value", "reuses"), [("true", 0), ("1", 0), ("", 24), ("false", 24), ("0", 24)])
def test_in_ci_the_cache_is_used_only_if_requested(
    said: Any, monkeypatch: pytest.MonkeyPatch, value: str, reuses: int
) -> None:
    said("run", "bench.py")
    monkeypatch.setenv("CI", value)
    said("run", "bench.py")
    found = json.loads(said("list", "--json")[1])["runs"][0]["reused"]
    assert found["replies"] == reuses
    said("run", "bench.py", "--cache")
    assert json.loads(said("list", "--json")[1])["runs"][0]["reused"]["replies"] == 24
    Path("benchwright.toml").write_text("[run]\ncache = true\n")
    said("run", "bench.py")
    assert json.loads(said("list", "--json")[1])["runs"][0]["reused"]["replies"] == 24


def test_runs_of_earlier_versions_are_counted_when_a_gate_reads_them(said: Any) -> None:
    said("run", "bench.py")
    said("run", "bench.py")
    with open_store(find_workspace(Path.cwd())) as store:
        for run in store.runs():
            summary = {name: value for name, value in (run.summary or {}).items() if name != "reused"}
            store.update_run(run.id, summary=summary)
    assert said("gate", "2", "--policy", "policy.toml")[0] == 3
    assert said("gate", "1", "--policy", "policy.toml")[0] == 0
    with pytest.raises(UsageError, match="older than the run"):
        benchwright.bless(2)


def test_a_calibration_and_a_suite_count_them_too(said: Any) -> None:
    labels = [{"question": f"{n}?", "response": "2", "target": "2", "label": "C"} for n in range(3)]
    Path("labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    Path("q.jsonl").write_text(
        "\n".join(json.dumps({"question": f"{n}+1?", "answer": n + 1}) for n in range(4))
    )
    suite = {
        "models": [{"name": "a", "type": "demo"}, {"name": "b", "type": "demo", "skill": 0.2}],
        "datasets": ["q.jsonl"],
    }
    Path("suite.json").write_text(json.dumps(suite))
    with demo_server(DemoSettings(skill=1.0)) as running:
        judge = json.dumps({"url": running.url, "model_id": "demo"})
        words = ("judge-calibrate", "labels.jsonl", "--judge", judge)
        assert "earlier runs" not in said(*words)[1]
        assert "3 replies came from earlier runs" in said(*words)[1]
    said("run", "suite.json")
    assert "each run: 4 replies came from earlier runs" in said("run", "suite.json")[1]
