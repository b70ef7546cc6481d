"""Typed rows in workflows: batches as steps, resume, bad rows, several datasets, sources of every kind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from benchwright import RowError, WorkflowContext, collect_async_iter, dataset, map_dataset, workflow
from benchwright.core import DatasetError
from benchwright.store import find_workspace, open_store


class Row(BaseModel):
    id: int
    text: str | None


class Numbers:
    """A source of the user's own, which counts what is asked of it."""

    def __init__(self, count: int, bad: tuple[int, ...] = ()) -> None:
        self.calls: list[tuple[int, int]] = []
        self.initialized = 0
        self.restored: list[Any] = []
        self._rows = [
            {"id": f"x{k}" if k in bad else k, "text": None if k % 2 else f"t{k}"} for k in range(count)
        ]

    @property
    def source_id(self) -> str:
        return "numbers:v1"

    async def initialize(self) -> Any:
        self.initialized += 1
        return {"version": 1}

    def restore(self, metadata: Any) -> None:
        self.restored.append(metadata)

    async def load_batch(self, offset: int, batch_size: int) -> list[dict[str, Any]]:
        self.calls.append((offset, batch_size))
        return self._rows[offset : offset + batch_size]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def perform(handler: Callable[[WorkflowContext], Awaitable[Any]], **keywords: Any) -> Any:
    return asyncio.run(workflow("rows", handler).run(**keywords))


def steps(run_id: int = 1) -> dict[str, str]:
    store = open_store(find_workspace(Path.cwd()))
    try:
        return {step.key: step.status for step in store.page_steps(run_id, limit=100).items}
    finally:
        store.close()


def test_rows_of_an_object_are_recorded_batch_by_batch() -> None:
    source = Numbers(10)

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, source, Row, batch_size=4)
        return [row.model_dump() async for row in rows.iter_rows()]

    output = perform(handler)
    assert [row["id"] for row in output] == list(range(10))
    assert output[1] == {"id": 1, "text": None}
    assert source.calls == [(0, 4), (4, 4), (8, 4), (10, 4)]
    assert set(steps()) == {
        "dataset-init",
        "dataset-batch-0",
        "dataset-batch-4",
        "dataset-batch-8",
        "dataset-batch-10",
    }


def test_a_resumed_run_reads_recorded_batches_and_keeps_nulls() -> None:
    source = Numbers(6)
    fail = True

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, source, Row, batch_size=2)
        seen = []
        async for row in rows.iter_rows():
            seen.append(row.model_dump())
            if fail and len(seen) == 3:
                raise RuntimeError("killed here")
        return seen

    with pytest.raises(RuntimeError, match="killed here"):
        perform(handler)
    assert source.calls == [(0, 2), (2, 2)]
    fail = False
    output = perform(handler, resume=1)
    assert [row["id"] for row in output] == list(range(6))
    assert output[1]["text"] is None
    assert source.initialized == 1
    assert source.restored == [{"version": 1}]
    assert source.calls == [(0, 2), (2, 2), (4, 2), (6, 2)]


def test_max_rows_counts_good_rows_and_asks_for_no_more() -> None:
    source = Numbers(20, bad=(1, 4))

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, source, Row, batch_size=3, max_rows=5, on_error="skip")
        found = [row.id async for row in rows.iter_rows()]
        return {
            "ids": found,
            "read": rows.stats.read,
            "skipped": rows.stats.skipped,
            "reasons": rows.stats.reasons,
        }

    output = perform(handler)
    assert output["ids"] == [0, 2, 3, 5, 6]
    assert (output["read"], output["skipped"]) == (7, 2)
    assert output["reasons"][0].startswith("row 1: column id:")
    assert source.calls == [(0, 3), (3, 3), (6, 1)]
    store = open_store(find_workspace(Path.cwd()))
    kinds = [event.kind for event in store.events(1)]
    store.close()
    assert "dataset.rows_skipped" in kinds


def test_a_source_without_rows_is_noted_and_one_that_nobody_wants_rows_of_is_not() -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, Numbers(0), Row)
        none = await dataset(ctx, Numbers(3), Row, name="unread", max_rows=0)
        return [row.id async for row in rows] + [row.id async for row in none]

    assert perform(handler) == []
    store = open_store(find_workspace(Path.cwd()))
    notes = [event.message for event in store.events(1) if event.kind == "dataset.note"]
    store.close()
    assert notes == ["the dataset has no rows"]


def test_zero_rows_are_none_at_all() -> None:
    source = Numbers(5)

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, source, Row, max_rows=0)
        return [row.id async for row in rows.iter_rows()]

    assert perform(handler) == []
    assert source.calls == []


def test_a_bad_row_fails_with_its_number_and_column() -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, Numbers(5, bad=(3,)), Row, batch_size=2)
        return [row.id async for row in rows.iter_rows()]

    with pytest.raises(RowError, match=r"row 3: column id: .*\n.*on_error"):
        perform(handler)


def test_whatever_a_transform_raises_is_a_row_error() -> None:
    def transform(raw: dict[str, Any]) -> Row:
        if raw["id"] == 1:
            raise KeyError("nothing")
        if raw["id"] == 2:
            return "no row"  # type: ignore[return-value]
        return Row(id=raw["id"] * 10, text="x")

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, Numbers(4), Row, transform=transform, on_error="skip")
        found = [row.id async for row in rows.iter_rows()]
        return {"ids": found, "reasons": rows.stats.reasons}

    output = perform(handler)
    assert output["ids"] == [0, 30]
    assert "KeyError" in output["reasons"][0]
    assert "not Row" in output["reasons"][1]


def test_each_pass_starts_at_the_first_row() -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, Numbers(5), Row, batch_size=2)
        async for _ in rows.iter_rows():
            break
        return [[row.id async for row in rows] for _ in range(2)]

    assert perform(handler) == [list(range(5))] * 2


def test_several_datasets_in_one_run_resume() -> None:
    stop = True

    async def handler(ctx: WorkflowContext) -> Any:
        first = await dataset(ctx, Numbers(3), Row, batch_size=2)
        second = await dataset(ctx, Numbers(4), Row, batch_size=2)
        third = await dataset(ctx, Numbers(5), Row, batch_size=2, name="gold")
        if stop:
            raise RuntimeError("stop")
        return [len([row async for row in rows]) for rows in (first, second, third)]

    with pytest.raises(RuntimeError, match="stop"):
        perform(handler)
    stop = False
    assert perform(handler, resume=1) == [3, 4, 5]
    assert {
        "dataset-init",
        "dataset:2:init",
        "dataset:gold:init",
        "dataset:2:batch-0",
        "dataset:gold:batch-4",
    } <= set(steps())


def test_a_file_is_a_source_and_its_batches_are_references(here: Path) -> None:
    (here / "rows.jsonl").write_text(
        "".join(json.dumps({"id": k, "text": "ä" * 50}) + "\n" for k in range(30))
    )

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, "rows.jsonl", Row, batch_size=8)
        return [row.id async for row in map_dataset_ids(rows)]

    def map_dataset_ids(rows: Any) -> Any:
        async def same(row: Row) -> Row:
            return row

        return map_dataset(rows, same, max_concurrency=3)

    assert perform(handler) == list(range(30))
    store = open_store(find_workspace(here))
    outputs = {step.key: step.output for step in store.page_steps(1, limit=100).items}
    store.close()
    assert json.loads(outputs["dataset-batch-8"]) == {"rows": 8}


def test_a_file_that_changed_is_not_gone_on_with(here: Path) -> None:
    path = here / "rows.jsonl"
    path.write_text('{"id": 1, "text": "a"}\n{"id": 2, "text": "b"}\n')
    stop = True

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, str(path), Row, batch_size=1)
        found = []
        async for row in rows:
            found.append(row.id)
            if stop:
                raise RuntimeError("stop")
        return found

    with pytest.raises(RuntimeError, match="stop"):
        perform(handler)
    path.write_text('{"id": 7, "text": "a"}\n{"id": 8, "text": "b"}\n')
    stop = False
    with pytest.raises(DatasetError, match="has changed since the run began"):
        perform(handler, resume=1)


def test_a_consumer_that_leaves_early_leaves_nothing_running() -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, Numbers(50), Row, batch_size=10)

        async def slow(row: Row) -> int:
            await asyncio.sleep(0 if row.id == 0 else 30)
            return row.id

        before = asyncio.all_tasks()
        results = map_dataset(rows, slow, max_concurrency=4)
        assert await anext(results) == 0
        await results.aclose()  # type: ignore[attr-defined]
        return len(asyncio.all_tasks() - before)

    assert perform(handler) == 0


def test_all_results_in_input_order() -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, Numbers(25), Row, batch_size=4)

        async def evaluate(row: Row) -> dict[str, Any]:
            await asyncio.sleep(0.001 * (row.id % 3))
            return {"id": row.id, "has_text": row.text is not None}

        return await collect_async_iter(map_dataset(rows, evaluate, max_concurrency=8, yield_order="input"))

    assert [found["id"] for found in perform(handler)] == list(range(25))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"row_type": dict}, TypeError, "row_type is"),
        ({"batch_size": 0}, ValueError, "batch_size is 0"),
        ({"batch_size": 10_001}, ValueError, "batch_size is 10001"),
        ({"max_rows": -1}, ValueError, "max_rows is -1"),
        ({"on_error": "ignore"}, ValueError, "on_error is 'ignore'"),
        ({"transform": "x"}, TypeError, "transform is str"),
        ({"split": "test"}, ValueError, "split applies to hub datasets only"),
        ({"config": "a", "revision": "b"}, ValueError, "config, revision apply to hub"),
        ({"source": object()}, TypeError, "lacks source_id, initialize, load_batch"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_recorded(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    async def handler(ctx: WorkflowContext) -> Any:
        await dataset(ctx, **{"source": Numbers(1), "row_type": Row, **arguments})

    with pytest.raises(error, match=words):
        perform(handler)
    assert steps() == {}
