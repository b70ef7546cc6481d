"""What a cached row costs: 2,000 batches of a hub dataset through a workflow, against bare reads of the same Parquet."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, series, shown
from benchmarks.rounds import Bench

BATCHES, BATCH_ROWS = 2_000, 100
HUB = Path(__file__).parents[1] / "tests" / "datasets" / "hub"


def workflow_batches(bench: Bench) -> list[Figure]:
    """Cost per cached row, in CPU time, both sides in turn: validated rows of a workflow, and raw batches."""
    sys.path.insert(0, str(HUB))
    from hub_content import parquet
    from hub_server import running_hub

    rows = BATCH_ROWS * (BATCHES // 5 if bench.quick else BATCHES)
    ours, bare, raw, bare_raw = [], [], [], []
    with tempfile.TemporaryDirectory(dir=bench.work) as folder, running_hub() as hub:
        place = Path(folder)
        content = parquet([_row(number) for number in range(rows)], row_group_size=10_000)
        (place / "bare.parquet").write_bytes(content)
        hub.repo("a/b").commit({"test.parquet": content})
        os.environ.update(
            HF_ENDPOINT=hub.url, HF_HOME=str(place / "home"), BENCHWRIGHT_CACHE=str(place / "cache")
        )
        _batches(rows)  # fetched once, cached from then on
        for _ in range(bench.rounds(5)):
            bare.append(_bare(place / "bare.parquet", rows, validate=True))
            ours.append(_workflow(place, rows))
            bare_raw.append(_bare(place / "bare.parquet", rows, validate=False))
            raw.append(_batches(rows))
    return [
        _figure("cost of a cached row, validated in a workflow", ours, bare, rows),
        _figure("cost of a cached row, as the dataset server reads it", raw, bare_raw, rows),
    ]


def _figure(name: str, ours: list[float], bare: list[float], rows: int) -> Figure:
    mine, floor = series(ours), series(bare)
    return Figure(
        name,
        f"{shown(mine.middle)} µs",
        f"bare Parquet reads {shown(floor.middle)} µs",
        mine.middle / floor.middle,
        "×",
        2,
        at_least=False,
        note=f"{rows // BATCH_ROWS:,} batches of {BATCH_ROWS} rows, {len(ours)} rounds; ours {mine.spread} µs, bare {floor.spread} µs",
    )


def _row(number: int) -> dict[str, Any]:
    answer = str(number * 7) if number % 3 else None
    return {"id": number, "text": f"question number {number} with some words in it", "answer": answer}


def _row_type() -> Any:
    from pydantic import create_model

    return create_model("Row", id=(int, ...), text=(str, ...), answer=(str | None, ...))


def _workflow(place: Path, rows: int) -> float:
    from benchwright import dataset, workflow

    async def handler(ctx: Any) -> int:
        found = await dataset(ctx, "hf://a/b", _row_type(), batch_size=BATCH_ROWS)
        seen = 0
        async for _ in found.iter_rows():
            seen += 1
        return seen

    with tempfile.TemporaryDirectory(dir=place) as workspace:
        began = time.process_time()
        assert asyncio.run(workflow("rows", handler).run(workspace=workspace)) == rows
        return 1e6 * (time.process_time() - began) / rows


def _batches(rows: int) -> float:
    from benchwright.datasets import HubDataset

    began = time.process_time()
    dataset = HubDataset("hf://a/b")
    assert sum(len(dataset.batch(at, BATCH_ROWS)) for at in range(0, rows, BATCH_ROWS)) == rows
    return 1e6 * (time.process_time() - began) / rows


def _bare(path: Path, rows: int, *, validate: bool) -> float:
    import pyarrow.parquet as pq

    row_type = _row_type()
    began = time.process_time()
    seen = 0
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            for row in batch.to_pylist():
                if validate:
                    row_type.model_validate(row)
                seen += 1
    assert seen == rows
    return 1e6 * (time.process_time() - began) / rows
