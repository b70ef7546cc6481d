"""Replies of earlier runs are looked up together, and nobody gets another's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import benchwright
from benchwright.store._statements.steps import Steps

ROWS = 200
BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="qa", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return {"correct": sample.response == sample.target}
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    rows = [{"question": f"q{n}", "answer": f"a{n}"} for n in range(ROWS)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "bench.py").write_text(BENCH, encoding="utf-8")
    return tmp_path / "bench.py"


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the batches that are looked up."""
    seen: list[int] = []
    plain = Steps.reusable

    async def counted(
        self: Steps, run_id: int, input_hashes: Sequence[bytes], preferred: Sequence[int]
    ) -> dict[bytes, bytes]:
        seen.append(len(input_hashes))
        return await plain(self, run_id, input_hashes, preferred)

    monkeypatch.setattr(Steps, "reusable", counted)
    return seen


def samples(folder: Path) -> list[dict[str, Any]]:
    return pq.read_table(folder / "samples.parquet", columns=["prompt", "response", "scores"]).to_pylist()


def test_workers_share_look_ups_and_each_gets_its_own_reply(
    bench: Path, tmp_path: Path, batches: list[int]
) -> None:
    fresh = benchwright.run(bench, model="demo", workspace=tmp_path / "other")
    first = benchwright.run(bench, model="demo", workspace=tmp_path, limit=ROWS // 2)
    assert batches == [], "a workspace without replies is not searched"
    again = benchwright.run(bench, model="demo", workspace=tmp_path, parallelism=32)
    assert (first.from_cache, again.from_cache, again.requests_sent) == (0, ROWS // 2, ROWS // 2)
    assert sum(batches) == ROWS
    assert len(batches) <= ROWS // 4, batches
    assert samples(again.folder) == samples(fresh.folder)


def test_a_look_up_that_fails_ends_the_run_with_its_reason(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchwright.run(bench, model="demo", workspace=tmp_path, limit=5)

    async def broken(
        self: Steps, run_id: int, input_hashes: Sequence[bytes], preferred: Sequence[int]
    ) -> dict[bytes, bytes]:
        raise OSError("the disk is gone")

    monkeypatch.setattr(Steps, "reusable", broken)
    with pytest.raises(OSError, match="the disk is gone"):
        benchwright.run(bench, model="demo", workspace=tmp_path)
