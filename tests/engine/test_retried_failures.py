"""Sending failed samples again: each failure stays on record until its new outcome replaces it."""

from __future__ import annotations

import signal
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import RunResult, ScorerInput, ScriptedEndpoint, benchmark, judge_score, scorer
from benchwright.core import ModelReply, ModelRequest, RequestFailure
from benchwright.demo import DemoSettings, demo_server
from benchwright.scorers import exact_match
from benchwright.store import Workspace, open_store

ROWS = [{"question": f"q{n}", "answer": "x"} for n in range(12)]
FAILED = RequestFailure("server_error", "HTTP 500", 500)
names = count()


def questions() -> Any:
    @benchmark(name=f"retried{next(names)}", dataset=ROWS, prompt="{question}", target_field="answer")
    @scorer
    def check(sample: ScorerInput) -> dict[str, Any]:
        return exact_match(sample)

    return check


def half_failed(target: Any, folder: Path) -> RunResult:
    half = ScriptedEndpoint(["x", FAILED] * 6)
    result: RunResult = benchwright.run(target, endpoint=half, workspace=folder, parallelism=1)
    return result


def recorded(folder: Path, run_id: int) -> dict[str, int]:
    """How many steps of each kind are recorded."""
    with open_store(Workspace(folder), read_only=True) as store:
        return {kind: store.count_steps(run_id, kind) for kind in ("call", "judge", "score")}


@pytest.mark.parametrize("at_once", [1, 4])
def test_failures_that_were_not_sent_again_stay(tmp_path: Path, at_once: int) -> None:
    target = questions()
    first = half_failed(target, tmp_path)
    result = benchwright.resume(
        first.run_id, endpoint=ScriptedEndpoint(["x", FAILED, "x"]), workspace=tmp_path, target=target,
        retry_failed=True, max_requests=3, parallelism=at_once,
    )  # fmt: skip
    assert (result.summary.outcomes["scored"], result.summary.outcomes["request_failed"]) == (8, 4)
    assert (result.summary.evaluated, result.summary.partial, result.status) == (12, False, "completed")
    assert recorded(tmp_path, first.run_id) == {"call": 12, "judge": 0, "score": 12}
    last = ScriptedEndpoint("x")
    result = benchwright.resume(
        first.run_id, endpoint=last, workspace=tmp_path, target=target, retry_failed=True
    )
    assert (result.summary.outcomes["scored"], len(last.requests)) == (12, 4)


def test_the_record_is_whole_at_every_moment_and_after_an_interrupt(tmp_path: Path) -> None:
    target = questions()
    first = half_failed(target, tmp_path)
    seen: list[dict[str, int]] = []

    def answer(request: ModelRequest) -> str:
        seen.append(recorded(tmp_path, first.run_id))  # what a killed process would leave
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)
        return "x"

    result = benchwright.resume(
        first.run_id, endpoint=ScriptedEndpoint(answer), workspace=tmp_path, target=target,
        retry_failed=True, parallelism=1,
    )  # fmt: skip
    assert seen == [{"call": 12, "judge": 0, "score": 12}] * 3
    assert (result.summary.outcomes["scored"], result.summary.outcomes["request_failed"]) == (9, 3)


def test_a_failed_judge_keeps_its_failure_until_it_has_answered(tmp_path: Path) -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:

        def judged(url: str) -> Any:
            @benchmark(
                name=f"retried{next(names)}",
                dataset=ROWS,
                prompt="{question}",
                target_field="answer",
                judge={"url": url, "model_id": "demo", "max_retries": 0},
            )
            @scorer
            def graded(sample: ScorerInput) -> dict[str, Any]:
                return judge_score(sample)

            return graded

        dead, alive = judged("http://127.0.0.1:9/v1"), judged(server.url)
        first = benchwright.run(dead, endpoint=ScriptedEndpoint("x"), workspace=tmp_path, max_failures=99)
        assert first.summary.outcomes["scorer_failed"] == 12
        silent = ScriptedEndpoint("must not be asked")
        for limit, left in ((3, 9), (None, 0)):
            result = benchwright.resume(
                first.run_id, endpoint=silent, workspace=tmp_path, target=alive, retry_failed=True,
                allow_changed=True, max_requests=limit,
            )  # fmt: skip
            assert (result.summary.outcomes["scorer_failed"], result.summary.evaluated) == (left, 12)
            assert recorded(tmp_path, first.run_id) == {"call": 12, "judge": 12, "score": 12}
    assert silent.requests == []


def dialogue() -> Any:
    @benchmark(
        name=f"retried{next(names)}",
        dataset=[{"turns": ["first", "second", "third"], "answer": "x"}],
        prompt="",
        turns_field="turns",
        target_field="answer",
    )
    @scorer
    def check(sample: ScorerInput) -> dict[str, Any]:
        return exact_match(sample)

    return check


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_dialogue_goes_on_with_the_turn_that_failed(tmp_path: Path, failing: int) -> None:
    target = dialogue()
    replies = [f"reply {number}" for number in range(3)]
    first = benchwright.run(
        target, endpoint=ScriptedEndpoint([*replies[:failing], FAILED]), workspace=tmp_path, max_failures=9
    )
    assert first.summary.outcomes["request_failed"] == 1
    again = ScriptedEndpoint([*replies[failing:-1], "x"])
    result = benchwright.resume(
        first.run_id, endpoint=again, workspace=tmp_path, target=target, retry_failed=True
    )
    assert result.summary.outcomes["scored"] == 1
    assert result.summary.metrics["correct"].value == 1.0
    assert len(again.requests) == 3 - failing, "replies that were paid for are not requested again"
    assert recorded(tmp_path, first.run_id) == {"call": 3, "judge": 0, "score": 1}
    whole = benchwright.run(target, endpoint=ScriptedEndpoint([*replies[:-1], "x"]), workspace=tmp_path)
    assert [sample["messages"] for sample in result.samples()] == [s["messages"] for s in whole.samples()]


UNUSABLE = {
    "empty": ModelReply(status="empty"),
    "truncated": ModelReply(status="truncated", finish_reason="length"),
    "refused": ModelReply(status="refused", finish_reason="content_filter"),
}
"""Replies that are no answers, by the outcome of their sample."""


@pytest.mark.parametrize("outcome", UNUSABLE)
def test_a_reply_that_is_no_answer_is_requested_again(tmp_path: Path, outcome: str) -> None:
    @benchmark(name=f"retried{next(names)}", dataset=ROWS[:2], prompt="{question}", target_field="answer")
    @scorer
    def strict(sample: ScorerInput) -> dict[str, Any]:
        return {"correct": sample.response[0] == sample.target}  # fails on an empty text

    first = benchwright.run(
        strict, endpoint=ScriptedEndpoint(UNUSABLE[outcome]), workspace=tmp_path, max_failures=9
    )
    assert first.summary.outcomes[outcome] == 2
    again = ScriptedEndpoint("x")
    result = benchwright.resume(
        first.run_id, endpoint=again, workspace=tmp_path, target=strict, retry_failed=True
    )
    assert (result.summary.outcomes["scored"], len(again.requests)) == (2, 2)


def test_a_request_of_the_scorer_that_failed_is_sent_again(tmp_path: Path) -> None:
    @benchmark(name="asks back", dataset=ROWS[:2], prompt="{question}", target_field="answer")
    @scorer
    def asks(sample: ScorerInput) -> dict[str, Any]:
        assert sample.model_call_fn is not None
        return {"correct": sample.model_call_fn("sure?") == "yes"}

    def answer(request: ModelRequest) -> Any:
        return FAILED if "sure" in str(request.body) else "x"

    first = benchwright.run(asks, endpoint=ScriptedEndpoint(answer), workspace=tmp_path)
    assert first.summary.outcomes["scorer_failed"] == 2
    again = ScriptedEndpoint("yes")
    result = benchwright.resume(
        first.run_id, endpoint=again, workspace=tmp_path, target=asks, retry_failed=True
    )
    assert (result.summary.outcomes["scored"], len(again.requests)) == (2, 2)
    assert recorded(tmp_path, first.run_id) == {"call": 4, "judge": 0, "score": 2}
