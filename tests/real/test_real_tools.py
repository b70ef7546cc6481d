"""A real model is asked for calls, natively and by prompting: the run ends, and every reply has an outcome of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llama_server
import pytest

import benchwright

PATIENT = {"parallelism": 1, "request_timeout": 3600}


@pytest.fixture(autouse=True)
def shipped_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def plain() -> Iterator[str]:
    with llama_server.serving() as at:
        yield at


@pytest.fixture(scope="module")
def calling() -> Iterator[str]:
    with llama_server.serving(calls=True) as at:
        yield at


def checked(result: benchwright.RunResult, rows: int) -> list[dict[str, Any]]:
    """The scores of every sample, of which the metrics are the means."""
    assert result.status == "completed"
    samples = list(result.samples())
    assert len(samples) == result.summary.rows == rows
    assert {sample["outcome"] for sample in samples} <= {"scored", "unparsed"}, result.summary.outcomes
    for sample in samples:
        assert isinstance(sample["scores"]["correct"], bool)
        assert sample["scores"]["correct"] or sample["scores"]["error_type"]
    right = sum(sample["scores"]["correct"] for sample in samples)
    assert result.metrics["correct"].value == pytest.approx(right / rows)
    return [sample["scores"] for sample in samples]


@pytest.mark.parametrize("name", ["bfcl_simple", "bfcl_simple_prompting"])
def test_a_category_runs_to_its_end_without_one_call(name: str, plain: str, tmp_path: Path) -> None:
    """Its chat template has no place for tools: the server leaves them out, and says nothing."""
    result = benchwright.run(
        name, model_url=plain, model_id="smollm2-135m", workspace=tmp_path, max_tokens=48, **PATIENT
    )
    assert not any(score["correct"] for score in checked(result, 5))
    native = name == "bfcl_simple"
    assert any("no reply calls a function" in note for note in result.summary.notes) is native


def test_calls_are_the_same_whole_and_streamed(calling: str, tmp_path: Path) -> None:
    found = []
    for stream in (False, True):
        result = benchwright.run(
            "bfcl_simple", model_url=calling, model_id="smollm2-135m", workspace=tmp_path, cache=False,
            max_tokens=96, stream=stream, **PATIENT,
        )  # fmt: skip
        scores = checked(result, 5)
        assert [score["call_error"] for score in scores] == [None] * 5
        assert any(score["correct"] for score in scores)
        assert not any("no reply calls a function" in note for note in result.summary.notes)
        found.append([(sample["response"], sample["finish_reason"]) for sample in result.samples()])
    assert found[0] == found[1]
    assert {reason for _, reason in found[0]} == {"tool_calls"}
