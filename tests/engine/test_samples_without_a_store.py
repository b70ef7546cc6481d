"""A sample is asked and scored without a store: what comes back is what a run stores, and travels between processes."""

from __future__ import annotations

import asyncio
import json
import pickle
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.store.backends import forget_samples

import benchwright
from benchwright.benchmarks import load_benchmarks
from benchwright.core import ModelReply, SampleRecord, step_key
from benchwright.core._sample_record import decode_sample
from benchwright.endpoints import open_endpoint
from benchwright.engine import Budget, Prepared, RunSettings, SampleWorker, WorkItem
from benchwright.engine._worker import OpenSample
from benchwright.store import Workspace, named_run, open_store
from stored_records import steps_in_order

BENCH = """
from benchwright import benchmark, scorer

COMMON = dict(dataset="rows.jsonl", target_field="answer")

@benchmark(name="generate", prompt="{question}", **COMMON)
@scorer
def generate(sample):
    return {"right": sample.target in sample.response}

@benchmark(name="fails", prompt="{question}", **COMMON)
@scorer
def fails(sample):
    raise ValueError("no")

@benchmark(name="rank", prompt="{question}", choices=[" 1", " 2"], endpoint_type="completions_logprob", **COMMON)
@scorer
def rank(sample):
    return {"right": sample.target in sample.response}

@benchmark(name="converse", prompt="{question}", turns_field="turns", **COMMON)
@scorer
def converse(sample):
    return {"turns": len(sample.conversation)}

@benchmark(name="asks_back", prompt="{question}", **COMMON)
@scorer
def asks_back(sample):
    return {"sure": "1" in sample.model_call_fn("Are you sure?")}

@benchmark(name="ready", prompt="{question}", response_field="answer", **COMMON)
@scorer
def ready(sample):
    return {"right": sample.target in sample.response}
"""
NAMES = ["generate", "fails", "rank", "converse", "asks_back", "ready"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"What is {n} plus 1?", "answer": str(n + 1), "turns": ["Sure?"]} for n in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "bench.py").write_text(BENCH)
    return tmp_path


def stored(folder: Path, name: str) -> tuple[RunSettings, list[SampleRecord]]:
    """What a run with a workspace stores."""
    benchwright.run(f"bench.py:{name}", workspace=folder, model="demo", repeats=2)
    workspace = Workspace(folder)
    with open_store(workspace) as store:
        settings = RunSettings.from_json(named_run(store, "last").settings)
    steps = steps_in_order(folder)
    samples: dict[str, list[Any]] = {}
    for step in sorted(steps, key=lambda step: step[0].startswith("score/")):
        samples.setdefault(step[0].split("/", 1)[1][:14], []).append(step)
    return settings, [decode_sample(samples[sample]) for sample in sorted(samples)]


async def work(prepared: Prepared, items: list[WorkItem]) -> list[SampleRecord | OpenSample]:
    """What a worker does that has nothing but its settings and a model: no store, no workspace."""
    async with (
        aclosing(open_endpoint(prepared.settings.endpoint)) as endpoint,  # type: ignore[arg-type]
        SampleWorker(prepared.rows, prepared.settings, endpoint) as worker,
    ):
        return list(await asyncio.gather(*(worker.do(item) for item in items)))


def items_of(prepared: Prepared) -> list[WorkItem]:
    return [WorkItem(index, repeat, row) for index, repeat, row in prepared.rows]


def over_a_wire(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def without_times(record: SampleRecord) -> SampleRecord:
    """The record without what differs between two runs: times, and whether a call shares the row of its score."""
    calls = sorted(
        (
            (call.key if call.key.count("/") > 2 else "", call.input_hash, call.input, call.reusable,
             replace(ModelReply.from_json(json.loads(call.output)), started_at=0.0, times=None))
            for call in record.calls
        ),
        key=lambda call: (call[0], call[1]),
    )  # fmt: skip
    usage = None if record.usage is None else tuple(record.usage)
    return replace(record, started_at=0.0, finished_at=0.0, calls=tuple(calls), usage=usage)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_the_record_is_what_a_run_stores(folder: Path, name: str) -> None:
    settings, expected = stored(folder, name)
    assert len(expected) == 6
    (spec,) = load_benchmarks(f"bench.py:{name}", cwd=folder)
    prepared = Prepared.of(spec, settings)
    before = sorted(folder.rglob("*"))
    items = [over_a_wire(item) for item in items_of(prepared)]
    records = [over_a_wire(record) for record in asyncio.run(work(prepared, items))]
    assert [without_times(record) for record in records] == [without_times(record) for record in expected]
    assert sorted(folder.rglob("*")) == before


def test_a_sample_that_the_budget_cuts_off_stays_open_with_the_calls_that_were_paid_for(folder: Path) -> None:
    settings, _ = stored(folder, "converse")
    (spec,) = load_benchmarks("bench.py:converse", cwd=folder)
    prepared = Prepared.of(spec, replace(settings, budget=Budget(max_requests=1)))
    (item, *_) = items_of(prepared)
    (opened,) = asyncio.run(work(prepared, [item]))
    assert not isinstance(opened, SampleRecord)
    (call,) = opened
    assert call.key.endswith("/t000")
    assert over_a_wire(opened) == opened


def test_work_items_are_frozen_and_carry_only_the_calls_of_their_own_sample(folder: Path) -> None:
    stored(folder, "converse")
    with open_store(Workspace(folder)) as store:
        run = named_run(store, "last")
        forget_samples(store, run.id, [(0, 0), (2, 1)], kinds=("score",))
    seen: list[WorkItem] = []

    async def do(self: SampleWorker, item: WorkItem) -> Any:
        seen.append(item)
        return await real(self, item)

    real, patch = SampleWorker.do, pytest.MonkeyPatch()
    with patch.context() as patched:
        patched.setattr(SampleWorker, "do", do)
        benchwright.resume(str(run.id))
    assert [(item.sample_id, item.repeat) for item in seen] == [(0, 0), (2, 1)]
    for item in seen:
        assert item.recorded
        assert all(step_key("score", item.sample_id, item.repeat)[6:] in key for key in item.recorded)
        with pytest.raises(AttributeError):
            item.repeat = 3  # type: ignore[misc]
