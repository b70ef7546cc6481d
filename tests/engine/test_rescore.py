"""Scoring recorded replies again: other rules, other gold, another benchmark, and never a request to the model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

import benchwright
import warm
from benchwright import ScriptedEndpoint
from benchwright.config import RunOptions
from benchwright.core import ModelRequest, RequestFailure, UsageError
from benchwright.demo import DemoServer, DemoSettings, demo_server
from benchwright.engine import _perform
from benchwright.runs import rescore
from benchwright.store import Workspace, open_store

HEAD = """
from benchwright import ScorerInput, benchmark, scorer

"""
BENCH = (
    HEAD
    + """
@benchmark(name="qa", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return {"correct": sample.response == sample.target}
"""
)
LENIENT = BENCH.replace("sample.response ==", "sample.response.lower() ==")


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "rows.jsonl").write_text(text, encoding="utf-8")


def row(number: int) -> dict[str, Any]:
    return {"question": f"q{number}", "answer": f"a{number}"}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path, [row(n) for n in range(30)])
    path = tmp_path / "bench.py"
    path.write_text(BENCH, encoding="utf-8")
    return path


@pytest.fixture
def no_requests(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on, whoever opens a model's endpoint fails the test."""

    def refuse(*arguments: Any, **keywords: Any) -> Any:
        raise AssertionError("the model's endpoint was opened")

    def begin() -> None:
        monkeypatch.setattr(_perform, "open_endpoint", refuse)
        monkeypatch.setattr("benchwright.endpoints.EchoProfile.learned", refuse)

    return begin


def asked_of(server: DemoServer) -> int:
    """Requests that a server has seen."""
    return int(server.stats()["requests"])  # type: ignore[arg-type]


def last_content(request: ModelRequest) -> str:
    messages: Any = request.body["messages"]
    return str(messages[-1]["content"])


def shout(request: ModelRequest) -> Any:
    return last_content(request).replace("q", "A")


def samples(folder: Path, run_id: int) -> list[dict[str, Any]]:
    store = open_store(Workspace(folder))
    try:
        return [orjson.loads(output) for *_, output in store.scored(run_id)]
    finally:
        store.close()


def test_other_rules_are_applied_to_the_recorded_replies(
    bench: Path, tmp_path: Path, no_requests: Callable[[], None]
) -> None:
    first = benchwright.run(bench)
    assert first.requests_sent == 30
    no_requests()
    bench.write_text(
        BENCH.replace("sample.response == sample.target", "bool(sample.response)"), encoding="utf-8"
    )
    again = rescore(first.run_id)
    assert (again["correct"], first["correct"]) == (1.0, 0.0)
    assert (again.requests_sent, again.from_cache, again.exit_code) == (0, 30, 0)
    assert again.run_id == first.run_id + 1
    assert again.folder != first.folder
    assert (again.folder / "results.yml").is_file()
    assert "rescored from run 1: no model was called" in again.summary.notes
    assert "the benchmark or its rules have changed since run 1" in again.summary.notes


def test_nothing_reaches_a_server(bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over HTTP, and without the key: what is not asked needs none."""
    with demo_server(DemoSettings()) as server:
        monkeypatch.setenv("BENCH_TEST_KEY", "sk-1")
        first = benchwright.run(
            bench, model_url=server.url, model_id="demo", api_key_name="BENCH_TEST_KEY", limit=5
        )
        monkeypatch.delenv("BENCH_TEST_KEY")
        served = asked_of(server)
        again = rescore(first.run_id)
        assert asked_of(server) == served
    assert again.metrics == first.metrics
    assert again.summary.outcomes == first.summary.outcomes


def test_scripted_replies_are_those_of_the_run_itself(bench: Path, tmp_path: Path) -> None:
    first = benchwright.run(bench, endpoint=ScriptedEndpoint(shout))
    benchwright.run(bench, endpoint=ScriptedEndpoint("never mind"))
    bench.write_text(LENIENT, encoding="utf-8")
    again = rescore(first.run_id)
    assert again["correct"] == 1.0


def test_gold_that_was_put_right_counts_and_is_said(bench: Path, tmp_path: Path) -> None:
    first = benchwright.run(bench, endpoint=ScriptedEndpoint(shout))
    write_rows(tmp_path, [{**row(n), "answer": f"A{n}"} for n in range(30)])
    again = rescore(first.run_id)
    assert (first["correct"], again["correct"]) == (0.0, 1.0)
    assert "the data has changed since run 1" in again.summary.notes
    assert again.exit_code == 0


def test_rows_that_moved_are_found_and_new_ones_are_skipped(bench: Path, tmp_path: Path) -> None:
    first = benchwright.run(bench, endpoint=ScriptedEndpoint(shout))
    bench.write_text(LENIENT, encoding="utf-8")
    write_rows(tmp_path, [*(row(n) for n in range(100, 103)), *(row(n) for n in range(10, 30))])
    again = rescore(first.run_id)
    assert again["correct"] == 1.0
    assert again.summary.outcomes["scored"] == 20
    assert again.summary.outcomes["skipped"] == again.summary.failed == 3
    assert again.exit_code == 3
    first_record = samples(tmp_path, again.run_id)[0]
    assert first_record["o"] == "skipped"
    assert first_record["e"].startswith(
        "rows.jsonl:1: no reply in run 1: it sent another request for this row"
    )


def test_many_new_rows_at_the_top_do_not_end_the_scoring(bench: Path, tmp_path: Path) -> None:
    first = benchwright.run(bench, endpoint=ScriptedEndpoint(shout))
    write_rows(tmp_path, [row(n) for n in (*range(100, 150), *range(30))])
    again = rescore(first.run_id)
    assert again.summary.evaluated == 80
    assert (again.summary.outcomes["skipped"], again.summary.outcomes["scored"]) == (50, 30)


def test_a_changed_prompt_has_no_replies(
    bench: Path, tmp_path: Path, no_requests: Callable[[], None]
) -> None:
    first = benchwright.run(bench)
    no_requests()
    bench.write_text(BENCH.replace('"{question}"', '"Please: {question}"'), encoding="utf-8")
    again = rescore(first.run_id)
    assert again.summary.outcomes["skipped"] == 30
    assert (again.status, again.exit_code) == ("failed", 1)
    assert again.first_failure.startswith(
        "rows.jsonl:1: no reply in run 1: it sent another request for this row"
    )


def test_a_partial_run_leaves_the_rest_skipped(bench: Path, tmp_path: Path) -> None:
    first = benchwright.run(bench, endpoint=ScriptedEndpoint(shout), max_requests=10)
    again = rescore(first.run_id)
    assert (again.summary.outcomes["scored"], again.summary.outcomes["skipped"]) == (10, 20)
    reasons = {record["e"] for record in samples(tmp_path, again.run_id) if record["o"] == "skipped"}
    unanswered = "no reply in run 1: it has no reply to this row, which was added since or not reached"
    assert reasons == {f"rows.jsonl:{line}: {unanswered}" for line in range(11, 31)}


def test_failed_requests_stay_failed(bench: Path, tmp_path: Path) -> None:
    def flaky(request: ModelRequest) -> Any:
        text = shout(request)
        return RequestFailure("server_error", "HTTP 500: no memory", 500) if text.endswith("7") else text

    first = benchwright.run(bench, endpoint=ScriptedEndpoint(flaky))
    again = rescore(first.run_id)
    assert again.summary.outcomes == first.summary.outcomes
    assert again.summary.outcomes["request_failed"] == 3
    retried = benchwright.resume(again.run_id, retry_failed=True)
    assert retried.summary.outcomes["request_failed"] == 3
    assert samples(tmp_path, again.run_id)[7]["e"] == "HTTP 500: no memory"


def test_another_benchmark_scores_the_same_replies(bench: Path, tmp_path: Path) -> None:
    first = benchwright.run(bench, endpoint=ScriptedEndpoint(shout))
    other = tmp_path / "other.py"
    other.write_text(LENIENT.replace('name="qa"', 'name="lenient"'), encoding="utf-8")
    again = rescore(first.run_id, target="other.py:lenient")
    assert (again.name, again["correct"]) == ("lenient", 1.0)
    assert "run 1 was of another benchmark, qa" in again.summary.notes


def test_repeats_and_limit_are_those_of_the_run(bench: Path, tmp_path: Path) -> None:
    said = iter(range(1000))
    first = benchwright.run(
        bench, endpoint=ScriptedEndpoint(lambda request: str(next(said))), repeats=3, limit=4
    )
    again = rescore(first.run_id)
    assert again.summary.evaluated == 12
    replies = [record.get("r") for record in samples(tmp_path, again.run_id)]
    assert replies == [record.get("r") for record in samples(tmp_path, first.run_id)]
    fewer = rescore(first.run_id, options=RunOptions(limit=2))
    assert fewer.summary.evaluated == 6


def test_what_was_asked_cannot_be_changed(bench: Path, tmp_path: Path) -> None:
    first = benchwright.run(bench, limit=2)
    with pytest.raises(UsageError, match=r"^model, temperature: .*run 1"):
        rescore(first.run_id, options=RunOptions(temperature=1.0, model="demo"))
    with pytest.raises(UsageError, match="repeats"):
        rescore(first.run_id, options=RunOptions(repeats=2))
    store = open_store(Workspace(tmp_path))
    assert [run.id for run in store.runs()] == [first.run_id]
    store.close()


def test_a_rescored_run_can_be_scored_again(bench: Path, tmp_path: Path) -> None:
    first = benchwright.run(bench, endpoint=ScriptedEndpoint(shout))
    second = rescore(first.run_id)
    bench.write_text(LENIENT, encoding="utf-8")
    third = rescore(second.run_id)
    assert third["correct"] == 1.0
    assert f"rescored from run {second.run_id}: no model was called" in third.summary.notes


def test_conversations_are_replayed_turn_by_turn(bench: Path, tmp_path: Path) -> None:
    bench.write_text(
        HEAD
        + """
@benchmark(name="talk", dataset="rows.jsonl", prompt="{question}", turns_field="turns")
@scorer
def check(sample: ScorerInput) -> dict:
    return {"turns": len(sample.conversation), "right": sample.response == "3"}
""",
        encoding="utf-8",
    )
    write_rows(tmp_path, [{**row(n), "turns": ["and then?", "and last?"]} for n in range(4)])
    first = benchwright.run(
        bench,
        endpoint=ScriptedEndpoint(lambda request: str((len(request.body["messages"]) + 1) // 2)),  # type: ignore[arg-type]
    )
    again = rescore(first.run_id)
    assert again.metrics == first.metrics
    assert again["right"] == 1.0
    assert again.from_cache == 12


def test_ranked_choices_need_no_probe(bench: Path, tmp_path: Path, no_requests: Callable[[], None]) -> None:
    bench.write_text(
        HEAD
        + """
from benchwright import multiple_choice_acc

@benchmark(name="rank", dataset="rows.jsonl", prompt="{question} =", endpoint_type="completions_logprob",
           choices=[" 4", " 5"])
@scorer
def check(sample: ScorerInput) -> dict:
    return multiple_choice_acc(sample)
""",
        encoding="utf-8",
    )
    write_rows(tmp_path, [{"question": f"{n} + 2", "target": 0} for n in range(3)])
    first = benchwright.run(bench)
    no_requests()
    again = rescore(first.run_id)
    assert again.metrics == first.metrics
    assert (again.requests_sent, again.from_cache) == (0, 6)
    store = open_store(Workspace(tmp_path))
    assert store.run(again.run_id).manifest["echo"] == store.run(first.run_id).manifest["echo"]
    store.close()


def test_ready_made_responses_are_scored_again(bench: Path, tmp_path: Path) -> None:
    text = BENCH.replace('target_field="answer"', 'target_field="answer", response_field="said"')
    bench.write_text(text, encoding="utf-8")
    write_rows(tmp_path, [{**row(n), "said": f"A{n}"} for n in range(3)])
    first = benchwright.run(bench)
    bench.write_text(text.replace("sample.response ==", "sample.response.lower() =="), encoding="utf-8")
    again = rescore(first.run_id)
    assert (first["correct"], again["correct"]) == (0.0, 1.0)


def test_a_scorer_that_would_ask_the_model_fails_with_the_reason(bench: Path, tmp_path: Path) -> None:
    asking = BENCH.replace(
        "sample.response == sample.target", 'sample.model_call_fn("Is it right? " + sample.response) == "yes"'
    )
    first = benchwright.run(bench, endpoint=ScriptedEndpoint(shout), limit=3)
    bench.write_text(asking, encoding="utf-8")
    again = rescore(first.run_id)
    assert again.summary.outcomes["scorer_failed"] == 3
    assert "no reply in run 1" in samples(tmp_path, again.run_id)[0]["e"]

    def obliging(request: ModelRequest) -> Any:
        return "yes" if last_content(request).startswith("Is it right?") else shout(request)

    asked = benchwright.run(bench, endpoint=ScriptedEndpoint(obliging), limit=3)
    assert rescore(asked.run_id)["correct"] == 1.0


def test_a_killed_rescoring_goes_on_without_the_model(
    bench: Path, tmp_path: Path, no_requests: Callable[[], None]
) -> None:
    """The scorer stops the process in the middle; the resume must neither open an endpoint nor lose a row."""
    first = benchwright.run(bench, demo_skill=0.5)
    no_requests()
    bench.write_text(
        BENCH.replace(
            "def check(sample: ScorerInput) -> dict:\n",
            "def check(sample: ScorerInput) -> dict:\n"
            "    import os, signal\n"
            "    if sample.target == 'a12' and not os.path.exists('on'):\n"
            "        open('on', 'w').close()\n"
            "        os.kill(os.getpid(), signal.SIGKILL)\n",
        ),
        encoding="utf-8",
    )
    killed = warm.run(
        [sys.executable, "-c", f"from benchwright.runs import rescore; rescore({first.run_id})"], check=False
    )
    assert killed.returncode == -9
    again = benchwright.resume("last")
    assert again.run_id == first.run_id + 1
    assert again.metrics == first.metrics
    assert (again.status, again.requests_sent) == ("completed", 0)


def test_judges_are_asked_and_their_recorded_answers_taken(bench: Path, tmp_path: Path) -> None:
    with demo_server(DemoSettings()) as judge:
        bench.write_text(
            HEAD
            + f"""
from benchwright import judge_score

@benchmark(name="judged", dataset="rows.jsonl", prompt="{{question}}", target_field="answer",
           judge={{"url": "{judge.url}", "model_id": "demo"}})
@scorer
def check(sample: ScorerInput) -> dict:
    return judge_score(sample)
""",
            encoding="utf-8",
        )
        first = benchwright.run(bench, endpoint=ScriptedEndpoint(shout), limit=4)
        asked = asked_of(judge)
        again = rescore(first.run_id)
        assert asked_of(judge) == asked, "equal questions were asked of the judge before"
        assert again.metrics == first.metrics
        assert "rescored from run 1: no model was called except the judge" in again.summary.notes
        fresh = rescore(first.run_id, options=RunOptions(cache=False))
        assert asked_of(judge) == asked + 4
        assert fresh.metrics == first.metrics


def test_unknown_runs_are_not_found(bench: Path, tmp_path: Path) -> None:
    with pytest.raises(benchwright.BenchwrightError, match="no runs in") as refused:
        rescore(7)
    assert refused.value.exit_code == 4
    assert not (tmp_path / ".benchwright").exists()


def test_inference_only_asks_and_scores_nothing(bench: Path, tmp_path: Path) -> None:
    """The scorer would raise, and the judge has no key; neither is needed yet."""
    bench.write_text(
        HEAD
        + """
from benchwright import judge_score

@benchmark(name="qa", dataset="rows.jsonl", prompt="{question}", target_field="answer",
           judge={"url": "http://127.0.0.1:9/v1", "model_id": "j", "api_key": "NO_SUCH_KEY_HERE"})
@scorer
def check(sample: ScorerInput) -> dict:
    return judge_score(sample)
""",
        encoding="utf-8",
    )
    result = benchwright.run(bench, infer_only=True, limit=6)
    assert (result.exit_code, result.status, result.metrics) == (0, "completed", {})
    assert result.summary.unscored == "inference only; score it with: benchwright rescore RUN"
    assert result.requests_sent == 6
    bench.write_text(LENIENT, encoding="utf-8")
    scored = rescore(result.run_id)
    assert list(scored) == ["correct"]
    assert scored.summary.unscored == ""
    assert scored.requests_sent == 0


def test_an_interrupted_inference_goes_on_as_inference(bench: Path, tmp_path: Path) -> None:
    stopped = benchwright.run(bench, infer_only=True, max_requests=4)
    assert stopped.exit_code == 3
    result = benchwright.resume(stopped.run_id)
    assert (result.exit_code, result.metrics, result.requests_sent) == (0, {}, 26)
