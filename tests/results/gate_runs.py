"""Runs for gates: rows in five categories, of which a scripted model gets some wrong and fails at some."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from benchwright import RunResult, ScriptedEndpoint, benchmark, run
from benchwright.core import ModelReply, RequestFailure, TokenUsage

CATEGORIES = ("art", "law", "math", "med", "tax")
ROWS = [
    {"q": f"question {k}", "target": "yes", "category": CATEGORIES[k % 5], "about": {"tier": k % 2}}
    for k in range(200)
]


def _scores(sample: Any) -> dict[str, float]:
    right = sample.response == sample.target
    return {"correct": right, "wer": 0.0 if right else 0.5, f"acc_{sample.metadata['category']}": right}


@benchmark(name="graded rows", dataset=ROWS, prompt="{q}")
def graded_rows(sample: Any) -> dict[str, float]:
    return _scores(sample)


@benchmark(name="polite rows", dataset=ROWS, prompt="Please: {q}")
def politely(sample: Any) -> dict[str, float]:
    return _scores(sample)


@benchmark(name="fewer rows", dataset=list(reversed(ROWS[:150])), prompt="{q}")
def fewer_rows(sample: Any) -> dict[str, float]:
    return _scores(sample)


def answering(wrong: Collection[int] = (), failing: Collection[int] = ()) -> ScriptedEndpoint:
    def reply(request: Any) -> ModelReply:
        number = int(request.body["messages"][-1]["content"].split()[-1])
        if number in failing:
            return ModelReply("failed", failure=RequestFailure("bad_request", "refused"))
        return ModelReply("answered", "no" if number in wrong else "yes", usage=TokenUsage(10, 2))

    return ScriptedEndpoint(reply)


def gate_run(
    wrong: Collection[int] = (), failing: Collection[int] = (), *, spec: Any = graded_rows, **options: Any
) -> RunResult:
    return run(spec, endpoint=answering(wrong, failing), **options)
