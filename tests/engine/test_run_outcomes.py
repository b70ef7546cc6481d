"""Every way a sample can end, seen through `run` and a scripted endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import RunResult, ScorerInput, ScriptedEndpoint, benchmark, scorer
from benchwright.core import DatasetError, ModelReply, ModelRequest, RequestFailure, TokenUsage
from benchwright.scorers import exact_match, gsm8k_answer
from benchwright.stats import wilson_interval
from benchwright.store import Workspace, open_store

Rows = list[dict[str, Any]]
NUMBERS = count()  # a file may define a name once
QA: Rows = [{"question": f"q{n}", "answer": f"a{n}"} for n in range(20)]


def make(rows: Rows, score: Callable[..., Any] = exact_match, **options: Any) -> Callable[..., Any]:
    settings = {
        "name": f"bench {next(NUMBERS)}",
        "dataset": rows,
        "prompt": "{question}",
        "target_field": "answer",
        **options,
    }
    return benchmark(**settings)(scorer(lambda sample: score(sample)))


def right_answer(request: ModelRequest) -> str:
    messages: Any = request.body["messages"]
    return str(messages[-1]["content"]).replace("q", "a")


@pytest.fixture
def run_in(tmp_path: Path) -> Callable[..., RunResult]:
    def run_it(bench: Callable[..., Any], script: Any, **options: Any) -> RunResult:
        return benchwright.run(bench, endpoint=ScriptedEndpoint(script), workspace=tmp_path, **options)

    return run_it


def test_a_perfect_model_scores_one(run_in: Callable[..., RunResult]) -> None:
    result = run_in(make(QA), right_answer)
    assert result["correct"] == 1.0
    assert result.exit_code == 0
    assert result.summary.outcomes["scored"] == 20
    assert result.summary.comparable


def test_a_model_that_says_nothing_scores_zero_with_every_sample_empty(
    run_in: Callable[..., RunResult],
) -> None:
    result = run_in(make(QA), "")
    assert result.summary.outcomes["empty"] == 20
    assert result["correct"] == 0.0


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (ModelReply("truncated", text="", reasoning="so…", finish_reason="length"), "truncated"),
        (ModelReply("refused", text="I cannot", finish_reason="content_filter"), "refused"),
        (RequestFailure("timeout", "no answer within 1 s"), "request_failed"),
        (TimeoutError("slow"), "request_failed"),
        ({"unexpected": True}, "request_failed"),
    ],
)
def test_each_kind_of_reply_has_its_outcome(
    run_in: Callable[..., RunResult], answer: Any, outcome: str
) -> None:
    script = [answer] + ["a"] * 19
    result = run_in(make(QA), script, parallelism=1)
    assert result.summary.outcomes[outcome] == 1
    assert sum(result.summary.outcomes.values()) == 20


def test_unparsed_is_counted_apart(run_in: Callable[..., RunResult]) -> None:
    rows = [{"question": "q", "answer": "4"}] * 4
    result = run_in(make(rows, gsm8k_answer), ["4", "no idea", "4", "five"], parallelism=1)
    assert result.summary.outcomes == {
        "scored": 2, "unparsed": 2, "empty": 0, "truncated": 0, "refused": 0, "request_failed": 0,
        "scorer_failed": 0, "skipped": 0,
    }  # fmt: skip


def test_ten_percent_failing_is_not_comparable_and_both_conventions_are_given(
    run_in: Callable[..., RunResult],
) -> None:
    def flaky(request: ModelRequest) -> Any:
        text = right_answer(request)
        return RequestFailure("server_error", "HTTP 500: oops", 500) if text in ("a3", "a11") else text

    result = run_in(make(QA), flaky)
    assert result.exit_code == 3
    assert not result.summary.comparable
    metric = result.metrics["correct"]
    assert (metric.value, metric.count) == (1.0, 18)
    assert (metric.with_failures, metric.with_failures_count) == (0.9, 20)
    assert "10.0 % of the samples failed" in result.summary.notes[-1]
    assert result.first_failure == "HTTP 500: oops"


def test_every_request_failing_is_a_failed_run_that_stops_early(run_in: Callable[..., RunResult]) -> None:
    rows = [{"question": f"q{n}", "answer": "x"} for n in range(500)]
    result = run_in(make(rows), lambda request: RequestFailure("rejected", "HTTP 401: bad key", 401))
    assert result.exit_code == 1
    assert result.status == "failed"
    assert result.first_failure == "HTTP 401: bad key"
    assert result.requests_sent < 100, "hopeless runs are stopped before they cost more"


def test_a_scorer_that_raises_fails_the_sample_not_the_run(run_in: Callable[..., RunResult]) -> None:
    def picky(sample: ScorerInput) -> dict[str, Any]:
        if sample.target == "a5":
            raise ZeroDivisionError("division by zero")
        return {"correct": True}

    result = run_in(make(QA, picky), right_answer)
    assert result.summary.outcomes["scorer_failed"] == 1
    assert re.fullmatch(
        r"scorer failed at test_run_outcomes.py:\d+: ZeroDivisionError: division by zero",
        result.first_failure,
    )
    assert result.metrics["correct"].count == 19


@pytest.mark.parametrize("returned", [None, 0.5, [1], {"correct": float("nan")}, {1: True}])
def test_what_is_no_score_is_a_failed_scorer(run_in: Callable[..., RunResult], returned: Any) -> None:
    result = run_in(make(QA[:1], lambda sample: returned), right_answer)
    assert result.summary.outcomes["scorer_failed"] == 1
    assert result.exit_code == 1


def test_two_argument_scorers_get_the_config(run_in: Callable[..., RunResult]) -> None:
    @benchmark(name="two", dataset=QA, prompt="{question}", target_field="answer", extra={"bonus": 3})
    @scorer
    def two(sample: ScorerInput, config: dict[str, Any]) -> dict[str, Any]:
        return {"bonus": config["bonus"] + 0 * len(sample.response)}

    assert run_in(two, "x")["bonus"] == 3


def test_async_scorers_are_awaited(run_in: Callable[..., RunResult]) -> None:
    @benchmark(name="later", dataset=QA, prompt="{question}", target_field="answer")
    @scorer
    async def later(sample: ScorerInput) -> dict[str, Any]:
        return {"correct": sample.response == sample.target}

    assert run_in(later, right_answer)["correct"] == 1.0


def test_dynamic_keys_have_their_own_means(run_in: Callable[..., RunResult]) -> None:
    def by_kind(sample: ScorerInput) -> dict[str, Any]:
        return {
            f"correct_{sample.metadata['kind']}": sample.metadata["kind"] == "easy",
            "note": "text is kept",
        }

    rows = [{"question": "q", "kind": "easy" if n < 3 else "hard"} for n in range(12)]
    result = run_in(make(rows, by_kind, target_field="target"), "x")
    assert {name: (m.value, m.count) for name, m in result.metrics.items()} == {
        "correct_easy": (1.0, 3),
        "correct_hard": (0.0, 9),
    }


def test_rows_that_cannot_be_asked_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    rows = [{"question": "q"}, {"qestion": "typo"}, {"question": "q"}, {}]
    endpoint = ScriptedEndpoint("x")
    with pytest.raises(DatasetError, match=r'(?s)2 bad rows.*"question"'):
        benchwright.run(make(rows), endpoint=endpoint, workspace=tmp_path)
    assert endpoint.requests == []


def test_bad_rows_can_be_skipped_and_are_counted(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    good = [json.dumps(row) for row in QA]
    data.write_text(
        "\n".join([*good[:10], "{broken", '{"answer": "no question"}', *good[10:]]), encoding="utf-8"
    )
    result = benchwright.run(
        make(QA, dataset=str(data)),
        endpoint=ScriptedEndpoint(right_answer),
        workspace=tmp_path,
        skip_bad_rows=True,
    )
    assert result.summary.outcomes["skipped"] == 2
    assert result.summary.outcomes["scored"] == 20
    assert (result.summary.rows, result.summary.evaluated, result.summary.partial) == (22, 22, False)


def test_score_only_makes_no_request(tmp_path: Path) -> None:
    rows = [{"reply": "a", "answer": "a"}, {"reply": "b", "answer": "a"}]
    endpoint = ScriptedEndpoint("never")
    bench = make(rows, response_field="reply", prompt="{question}")
    result = benchwright.run(bench, endpoint=endpoint, workspace=tmp_path)
    assert result["correct"] == 0.5
    assert endpoint.requests == []


def test_multi_turn_fills_conversation_and_turn_index(run_in: Callable[..., RunResult]) -> None:
    seen: list[tuple[int | None, list[str]]] = []

    def look(sample: ScorerInput) -> dict[str, Any]:
        assert sample.conversation is not None
        seen.append((sample.turn_index, [str(m["role"])[0] + str(m["content"]) for m in sample.conversation]))
        return {"correct": sample.response == "a3"}

    rows = [{"question": "q1", "turns": ["q2", "q3"]}]
    result = run_in(make(rows, look, turns_field="turns", target_field="target"), right_answer)
    assert seen == [(2, ["uq1", "aa1", "uq2", "aa2", "uq3", "aa3"])]
    assert result["correct"] == 1.0


def test_a_function_supplies_turns_and_its_error_is_the_samples(run_in: Callable[..., RunResult]) -> None:
    def ask_again(conversation: list[dict[str, str]], row: dict[str, Any]) -> str | None:
        if row["question"] == "q2":
            raise RuntimeError("no more words")
        return None if len(conversation) > 3 else "q9"

    result = run_in(make(QA[:4], next_turn=ask_again, max_turns=5), right_answer)
    assert result.summary.outcomes["scorer_failed"] == 1
    assert "no more words" in result.first_failure
    assert result.metrics["correct"].count == 3


def test_model_call_fn_asks_the_model_and_is_recorded(tmp_path: Path) -> None:
    def double_check(sample: ScorerInput) -> dict[str, Any]:
        assert sample.model_call_fn is not None
        again = sample.model_call_fn("q7", max_tokens=5)
        return {"agrees": again == "a7"}

    endpoint = ScriptedEndpoint(right_answer)
    result = benchwright.run(make(QA[:3], double_check), endpoint=endpoint, workspace=tmp_path)
    assert result["agrees"] == 1.0
    assert len(endpoint.requests) == 6
    assert [request.body["max_tokens"] for request in endpoint.requests].count(5) == 3
    store = open_store(Workspace(tmp_path))
    assert store.count_steps(result.run_id, "call") == 6
    store.close()


def test_repeats_are_asked_each_on_its_own_and_cluster(tmp_path: Path) -> None:
    endpoint = ScriptedEndpoint(lambda request: right_answer(request) if request.repeat < 2 else "a1")
    result = benchwright.run(make(QA[:5]), endpoint=endpoint, workspace=tmp_path, repeats=3)
    assert len(endpoint.requests) == 15
    assert {request.repeat for request in endpoint.requests} == {0, 1, 2}
    assert result.metrics["correct"].count == 15
    found = result.metrics["correct"]
    assert (found.ci_low, found.ci_high) == pytest.approx(wilson_interval(found.value * 5, 5)), "five rows"


def test_budget_of_requests_stops_cleanly_with_a_valid_partial_result(tmp_path: Path) -> None:
    endpoint = ScriptedEndpoint(right_answer)
    result = benchwright.run(make(QA), endpoint=endpoint, workspace=tmp_path, max_requests=7, parallelism=2)
    assert len(endpoint.requests) == 7
    assert (result.exit_code, result.status) == (3, "interrupted")
    assert result.summary.partial
    assert result.summary.evaluated == 7
    assert result["correct"] == 1.0
    assert any("--max-requests 7" in note for note in result.summary.notes)


def test_budget_of_tokens_stops_cleanly(tmp_path: Path) -> None:
    reply = ModelReply("answered", text="x", usage=TokenUsage(60, 40))
    result = benchwright.run(
        make(QA),
        endpoint=ScriptedEndpoint([reply] * 20),
        workspace=tmp_path,
        max_tokens_total=500,
        parallelism=1,
    )
    assert result.summary.evaluated == 5
    assert (result.summary.prompt_tokens, result.summary.completion_tokens) == (300, 200)


def test_a_deadline_stops_the_run(tmp_path: Path) -> None:
    endpoint = ScriptedEndpoint(right_answer, latency_s=0.05)
    result = benchwright.run(
        make(QA * 20), endpoint=endpoint, workspace=tmp_path, max_minutes=0.3 / 60, parallelism=1
    )
    assert result.summary.evaluated < 20  # a busy machine may not even have begun
    assert "--max-minutes" in result.stopped_because


def test_a_slow_scorer_does_not_hold_up_the_loop(run_in: Callable[..., RunResult]) -> None:
    import threading
    import time

    threads: set[str] = set()

    def slow(sample: ScorerInput) -> dict[str, Any]:
        threads.add(threading.current_thread().name.partition("_")[0])
        time.sleep(0.005)
        return {"correct": True}

    run_in(make(QA, slow), "x")
    assert any(name.startswith("benchwright-scorer") for name in threads)
