"""Thousands of recorded replies are looked up in blocks: the statements that reach the database are counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import benchwright
from counted_statements import count_selects

ROWS = 2000
BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="qa", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return {"correct": sample.response == sample.target}
"""


def make(folder: Path) -> Path:
    rows = [{"question": f"q{n}", "answer": f"a{n}"} for n in range(ROWS)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "bench.py").write_text(BENCH, encoding="utf-8")
    return folder / "bench.py"


def test_rescore_and_resume_look_up_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = make(tmp_path)
    selects = count_selects(monkeypatch)
    first = benchwright.run(bench, model="demo", workspace=tmp_path, max_requests=ROWS // 2)
    before = selects()
    whole = benchwright.resume(first.run_id, workspace=tmp_path, max_requests=ROWS)
    resumed = selects() - before
    assert whole.summary.evaluated == ROWS
    before = selects()
    again = benchwright.rescore(whole.run_id, workspace=tmp_path)
    rescored = selects() - before
    assert (again.summary.evaluated, again.requests_sent) == (ROWS, 0)
    # One look-up a row would be half of the rows at least; commits and beats, of which a slow machine has more, are few.
    assert resumed < ROWS / 4, resumed
    assert rescored < ROWS / 4, rescored
