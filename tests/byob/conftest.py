"""A folder of its own for each test, with rows and a benchmark over them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset="rows.jsonl", prompt={prompt!r}, target_field="a"{more})
@scorer
def check(sample: ScorerInput) -> dict:
    return {score}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, which is the current one, with four rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    rows = [{"q": f"question {number}", "a": f"answer {number}"} for number in range(4)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.fixture
def bench(here: Path) -> Callable[..., Path]:
    """Write a benchmark over the rows, which `run sums` and `run_eval --eval_type byob_sums.sums` find."""

    def write(
        prompt: str = "{q}", score: str = "{'correct': sample.response == sample.target}", **more: Any
    ) -> Path:
        path = here / "bench.py"
        further = "".join(f", {name}={value!r}" for name, value in more.items())
        path.write_text(BENCH.format(prompt=prompt, score=score, more=further))
        (here / "benchwright.toml").write_text('[benchmarks.sums]\nfile = "bench.py"\n')
        return path

    return write
