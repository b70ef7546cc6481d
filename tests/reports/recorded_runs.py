"""Steps of a run with every kind of sample, made by hand: no engine needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchwright import reports, results
from benchwright.core import (
    CallTimes,
    JsonObject,
    MetricSummary,
    ModelReply,
    Outcome,
    RequestFailure,
    RunSummary,
    StepValues,
    TokenUsage,
    encode_json,
    step_key,
)
from benchwright.store import RunRecord, Store
from stored_steps import stored_step

SETTINGS: JsonObject = {
    "target": "bench.py:my_qa",
    "cwd": ".",
    "benchmark": "my_qa",
    "eval_type": "byob_my_qa.my_qa",
    "model": {
        "kind": "http",
        "url": "http://me:pw@host:8000/v1?api_key=sk-in-url",
        "model_id": "my-model",
        "model_type": "chat",
        "api_key_name": "MY_KEY",
        "headers": {"X-Team": "search", "api-key": "sk-in-header"},
        "request_timeout_s": 120.0,
        "max_retries": 3,
    },
    "generation": {
        "model": "my-model", "temperature": 0.0, "max_tokens": 4096, "top_p": 1.0, "stop": ["Q:"], "seed": None,
        "stream": False, "extra_body": {},
    },
    "model_type": None,
    "dataset": None,
    "limit": 7,
    "repeats": 1,
    "parallelism": 16,
    "num_fewshot": 2,
    "fewshot_seed": 42,
    "fewshot_strict": False,
    "budget": {"max_requests": 100, "max_tokens_total": None, "max_minutes": None},
    "failure_threshold": 0.05,
    "cache": True,
    "skip_bad_rows": False,
}  # fmt: skip

MANIFEST: JsonObject = {
    "dataset": {"name": "qa.jsonl", "fingerprint": "sha256:abc", "rows": 7},
    "benchmark": {"name": "My QA", "source": "bench.py", "hash": "sha256:def"},
    "endpoint": {"fingerprint": "http://host:8000/v1 my-model"},
    "fewshot": {"source": "outside_rows", "overlapping": False, "count": 2},
    "seed": 42,
    "versions": {"benchwright": "0.1.0", "python": "3.11.9"},
}

SUMMARY = RunSummary(
    rows=7,
    repeats=1,
    evaluated=7,
    outcomes={**dict.fromkeys((o.value for o in Outcome), 0), "scored": 4, "unparsed": 1, "request_failed": 1,
              "skipped": 1},
    metrics={
        "correct": MetricSummary(0.6, 5, 0.4898979485566356, 0.21908902300206642, 0.2449489742783178,
                                 0.2307, 0.8823, "wilson", 0.0, 1.0, 0.42857142857142855, 7),
        "words_[bold]": MetricSummary(1 / 3, 3, 0.1, 0.05773502691896258, 0.07071067811865475, 0.2, 0.4666,
                                      "normal", 0.2, 0.4, None, None),
    },
    failed=2,
    comparable=False,
    partial=False,
    notes=["28.6 % of the samples failed (limit 5.0 %): not comparable with other runs"],
    prompt_tokens=70,
    completion_tokens=14,
)  # fmt: skip


def chat_call(index: int, repeat: int, reply: ModelReply, prompt: str | None = None) -> StepValues:
    body = {
        "model": "my-model",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": prompt or f"question {index}"},
        ],
    }
    output = encode_json(reply.to_json())
    return stored_step(step_key("call", index, repeat), b"h", encode_json(body), output, True, 1.0, 2.0)


def score(index: int, repeat: int, record: dict[str, Any], row: dict[str, Any] | None = None) -> StepValues:
    content = encode_json(row if row is not None else {"question": f"question {index}", "answer": index})
    return stored_step(step_key("score", index, repeat), b"h", content, encode_json(record), False, 1.0, 2.0)


def every_kind_of_sample() -> list[StepValues]:
    answered = ModelReply(
        "answered", "yes", usage=TokenUsage(10, 2), started_at=1700000000.5, times=CallTimes.lasting(0.25)
    )
    thinking = ModelReply(
        "answered",
        "no \x1b[2J",
        "first I thought",
        "stop",
        TokenUsage(10, 2),
        attempts=3,
        times=CallTimes.lasting(1.5, 0.1),
    )
    failed = ModelReply("failed", failure=RequestFailure("timeout", "no answer within 120 s"), attempts=4)
    judge = encode_json(ModelReply("answered", "GRADE: C").to_json())
    return [
        chat_call(0, 0, answered),
        score(0, 0, {"o": "scored", "s": {"correct": True, "label": "x"}, "t": "yes"}),
        chat_call(1, 0, thinking),
        score(1, 0, {"o": "scored", "s": {"correct": False, "words_[bold]": 0.2}, "t": 1}),
        chat_call(2, 0, answered),
        stored_step(step_key("judge", 2, 0, "000"), b"h", b"{}", judge, True, 1.0, 2.0),
        score(2, 0, {"o": "scored", "s": {"correct": 1.0}, "t": ["a", "b"]}),
        chat_call(3, 0, failed),
        score(3, 0, {"o": "request_failed", "t": "x", "e": "no answer within 120 s"}),
        score(4, 0, {"o": "skipped", "t": None, "e": 'field "question" is missing', "r": ""}, {}),
        chat_call(5, 0, answered),
        score(5, 0, {"o": "unparsed", "s": {"correct": False, "parsed": False}, "t": "x"}),
        score(6, 0, {"o": "scored", "s": {"correct": True}, "t": "x", "r": "given", "p": "rendered"}),
    ]


def write_run_files(store: Store, run: RunRecord, summary: RunSummary) -> list[str]:
    return reports.write_run_files(results.benchmark_details(run), results.RunSamples(store, run), summary)


def write_work_folder(
    store: Store, folder: Path, tasks: Sequence[results.WorkTask], **options: Any
) -> list[Path]:
    runs = [results.WorkRun.of(store, task) for task in tasks]
    return reports.WorkFolder(folder).write(store.workspace.root, runs, **options)
