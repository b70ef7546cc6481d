"""Which model a run gets, and what the options do that no other test shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, scorer
from benchwright.config import RunOptions
from benchwright.core import BenchwrightError, ConfigError, RequestFailure, UsageError
from benchwright.demo import DemoSettings, demo_server
from benchwright.engine._models import ChosenModel
from benchwright.store import Workspace, open_store

BENCH = """
from benchwright import ScorerInput, benchmark, judge_score, scorer

@benchmark(name="qa", dataset="rows.jsonl", prompt="{question}", target_field="answer", **{judge!r})
@scorer
def check(sample: ScorerInput) -> dict:
    return judge_score(sample) if {judged} else {{"correct": True}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"What is {n} + 2?", "answer": str(n + 2)} for n in range(10)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def write(folder: Path, judged: bool = False, url: str = "") -> Path:
    path = folder / "bench.py"
    text = BENCH.replace("{question}", "{{question}}").format(
        judged=judged, judge={"judge": {"url": url, "model_id": "demo"}} if judged else {}
    )
    path.write_text(text, encoding="utf-8")
    return path


def test_a_described_model_replaces_the_one_of_the_configuration(folder: Path) -> None:
    (folder / "benchwright.toml").write_text('[run]\nmodel = "demo"\n', encoding="utf-8")
    with demo_server(DemoSettings()) as server:
        result = benchwright.run(write(folder), model_url=server.url, model_id="served")
        assert server.stats()["requests"] == 10
    assert (result.model, result.demo) == ("served", True)


def test_a_models_cap_on_concurrency_holds(folder: Path) -> None:
    with demo_server(DemoSettings()) as server:
        (folder / "benchwright.toml").write_text(
            f'[run]\nparallelism = 32\n[models.small]\nbase_url = "{server.url}"\nmodel = "m"\nmax_concurrency = 3\n',
            encoding="utf-8",
        )
        result = benchwright.run(write(folder), model="small")
    store = open_store(Workspace(folder))
    assert store.run(result.run_id).settings["parallelism"] == 3
    store.close()


def test_an_unset_key_leaves_no_run_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSET_KEY", raising=False)
    with pytest.raises(ConfigError, match="UNSET_KEY"):
        benchwright.run(write(folder), model_url="http://127.0.0.1:9", model_id="m", api_key_name="UNSET_KEY")
    store = open_store(Workspace(folder))
    assert store.runs() == []
    store.close()


@pytest.mark.parametrize("place", [None, "results/deep"])
def test_a_run_that_is_refused_leaves_no_folder_behind(folder: Path, place: str | None) -> None:
    bench = write(folder)
    first = benchwright.run(bench)
    (folder / "rows.jsonl").write_text("{broken\n", encoding="utf-8")
    with pytest.raises(BenchwrightError, match=r"rows\.jsonl"):
        benchwright.run(bench, output_dir=None if place is None else folder / place)
    assert [*first.folder.parent.iterdir()] == [first.folder]
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "dmeo"}, "Did you mean 'demo'"),
        ({"model_url": "http://127.0.0.1:9"}, "no model is named.*Is the server running"),
        ({"model_id": "m"}, "model_url"),
        (
            {"model_url": "http://127.0.0.1:9", "model_id": "m", "demo_skill": 0.5},
            "demo_skill is for the demo model",
        ),
        ({"api_key_name": "KEY"}, "demo model has no key"),
        ({"limit": 0}, "expected 1 or more"),
        ({"paralelism": 3}, "Did you mean 'parallelism'"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_cure(
    folder: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises((UsageError, ConfigError), match=words):
        benchwright.run(write(folder), **options)


def test_a_sample_whose_judge_the_budget_cut_off_stays_open(folder: Path) -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:
        bench = write(folder, judged=True, url=server.url)
        stopped = benchwright.run(bench, max_requests=7, parallelism=1, demo_skill=1.0)
        assert stopped.summary.outcomes["scorer_failed"] == 0
        assert stopped.summary.evaluated == 3
        result = benchwright.resume(stopped.run_id)
    assert result.summary.outcomes["scored"] == 10
    assert result.requests_sent + stopped.requests_sent == 20


def test_unreadable_rows_stay_counted_when_failed_samples_are_asked_again(folder: Path) -> None:
    with (folder / "rows.jsonl").open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    failing = ScriptedEndpoint([RequestFailure("server_error", "no")] + ["x"] * 9)
    first = benchwright.run(write(folder), endpoint=failing, skip_bad_rows=True, parallelism=1)
    assert (first.summary.outcomes["skipped"], first.summary.failed) == (1, 2)
    again = benchwright.resume(first.run_id, endpoint=ScriptedEndpoint("x"), retry_failed=True)
    assert (again.summary.outcomes["skipped"], again.summary.failed, again.summary.partial) == (1, 1, False)


def test_ready_made_responses_are_no_models_and_may_be_empty(folder: Path) -> None:
    @benchmark(
        name="ready",
        dataset=[{"said": "a", "answer": "a"}, {"said": None, "answer": "a"}, {"said": "", "answer": "a"}],
        prompt="",
        target_field="answer",
        response_field="said",
    )
    @scorer
    def same(sample: ScorerInput) -> dict[str, Any]:
        return {"correct": sample.response == sample.target}

    result = benchwright.run(same)
    assert (result.summary.outcomes["scored"], result.summary.outcomes["empty"]) == (1, 2)
    assert (result.model, result.demo) == ("ready-made responses", False)


def test_check_takes_the_keywords_of_run(folder: Path) -> None:
    (report,) = benchwright.check(write(folder), limit=4)
    assert report.rows == 4


@pytest.mark.parametrize("body", [{"api_key": "sk-1"}, {"auth": {"Access-Token": "x"}}, {"PASSWORD": "y"}])
def test_a_secret_in_the_body_is_refused_because_bodies_are_recorded(body: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="looks like a secret") as caught:
        ChosenModel.of(RunOptions(model_url="http://h/v1", model_id="m", extra_body=body), None)
    assert "sk-1" not in str(caught.value)


def test_fields_that_only_sound_like_secrets_pass() -> None:
    body = {"max_tokens": 3, "tokenizer": "t", "return_token_ids": True, "keyword": "k"}
    chosen = ChosenModel.of(RunOptions(model_url="http://h/v1", model_id="m", extra_body=body), None)
    assert chosen.generation.extra_body == body
