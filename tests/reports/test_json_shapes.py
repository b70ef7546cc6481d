"""--json: shapes that scripts rely on."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from benchwright.results._benchmarks import benchmark_details, benchmark_view
from benchwright.results._samples import find_samples
from benchwright.store import RunRecord, Store

Record = Callable[..., RunRecord]


def test_a_run_in_a_list(record: Record) -> None:
    shape = orjson.loads(orjson.dumps(benchmark_view(record()).to_json()))
    assert list(shape) == [
        "id", "kind", "name", "workflow_name", "target", "model", "model_name", "suite", "dataset_name", "rescored_from", "demo", "status", "error",
        "folder", "created_at", "started_at", "finished_at", "duration_s", "evaluated", "failed", "outcomes", "comparable",
        "partial", "metrics", "headline", "progress", "cost", "reused", "data", "input", "output", "tags", "starts",
    ]  # fmt: skip
    assert shape["metrics"] == {"correct": 0.6, "words_[bold]": 1 / 3}
    assert (shape["evaluated"], shape["failed"], shape["comparable"]) == (7, 2, False)
    assert shape["headline"].keys() == {"text", "name", "value", "ci_low", "ci_high", "n"}
    assert (shape["headline"]["name"], shape["headline"]["value"], shape["headline"]["n"]) == (
        "correct",
        0.6,
        5,
    )


def test_a_run_without_result_has_nulls(record: Record) -> None:
    shape = benchmark_view(record([], summary=None)).to_json()
    assert (shape["status"], shape["metrics"], shape["finished_at"], shape["duration_s"]) == (
        "running",
        None,
        None,
        None,
    )


def test_one_run_in_full(store: Store, record: Record) -> None:
    run = record()
    shape = orjson.loads(orjson.dumps(benchmark_details(run, store.events(run.id)).to_json()))
    assert list(shape) == [
        "run",
        "summary",
        "sentence",
        "notes",
        "recorded",
        "ttft_s",
        "labels",
        "judged",
        "distributions",
        "command",
        "params",
        "origins",
        "endpoint",
        "manifest",
        "events",
    ]
    assert shape["summary"]["metrics"]["correct"]["with_failures_count"] == 7
    assert [event["kind"] for event in shape["events"]] == ["run.started", "run.finished"]
    assert b"sk-in" not in orjson.dumps(shape)


def test_one_sample_in_full(store: Store, record: Record) -> None:
    run = record()
    [shape] = orjson.loads(orjson.dumps(find_samples(store, run.id, "2").to_json()))["samples"]
    assert shape["messages"][1]["content"] == "question 2"
    assert shape["metadata"] == {"question": "question 2", "answer": 2}
    assert shape["judges"] == [{"number": 0, "status": "answered", "text": "GRADE: C", "error": None}]
