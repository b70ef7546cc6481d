"""A real model is asked for calls, natively and by prompting: the run ends, and every reply has an outcome of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import llama_server
import pytest

import benchwright

OUTCOMES = {"scored", "unparsed"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with llama_server.serving() as at:
        yield at


@pytest.mark.parametrize("name", ["bfcl_simple", "bfcl_simple_prompting"])
def test_a_category_runs_to_its_end(
    name: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))  # the rows that ship
    result = benchwright.run(
        name, model_url=url, model_id="smollm2-135m", workspace=tmp_path, max_tokens=48, parallelism=1,
        request_timeout=3600,
    )  # fmt: skip
    assert result.status == "completed"
    samples = list(result.samples())
    assert len(samples) == result.summary.rows == 5
    assert {sample["outcome"] for sample in samples} <= OUTCOMES, result.summary.outcomes
    for sample in samples:
        scores = sample["scores"]
        assert isinstance(scores["correct"], bool)
        assert scores["correct"] or scores["error_type"]
    right = sum(sample["scores"]["correct"] for sample in samples)
    assert result.metrics["simple"].value == pytest.approx(right / len(samples))
    print(name, right, result.summary.outcomes)
