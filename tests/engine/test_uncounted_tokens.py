"""A budget of tokens holds on servers that count none, and says how it was kept."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import benchwright
from benchwright import RunResult, ScorerInput, ScriptedEndpoint, benchmark, scorer
from benchwright.core import ModelReply, ModelRequest, TokenUsage

numbers = count()


def score(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": True}


def asked(tmp_path: Path, usage: TokenUsage | None, **options: Any) -> RunResult:
    rows = [{"question": f"{n:06d}", "target": "x"} for n in range(30)]
    bench = benchmark(name=f"tokens {next(numbers)}", dataset=rows, prompt="{question}")(scorer(score))

    def answer(request: ModelRequest) -> ModelReply:
        return ModelReply("ok", "abc", usage=usage)  # six and three characters: three tokens

    endpoint = ScriptedEndpoint(answer)
    return benchwright.run(bench, endpoint=endpoint, workspace=tmp_path, parallelism=1, **options)


def test_uncounted_tokens_are_estimated_for_the_budget(tmp_path: Path) -> None:
    result = asked(tmp_path, None, max_tokens_total=30)
    assert result.requests_sent == 10
    assert (result.exit_code, result.stopped_because) == (3, "stopped by --max-tokens-total 30")
    assert sum("does not count tokens" in note for note in result.summary.notes) == 1
    assert result.summary.prompt_tokens is None  # an estimate is for the budget, not for the table


def test_counted_tokens_are_taken_as_they_are(tmp_path: Path) -> None:
    result = asked(tmp_path, TokenUsage(5, 1), max_tokens_total=30)
    assert result.requests_sent == 5
    assert not any("does not count tokens" in note for note in result.summary.notes)


def test_without_a_budget_nothing_is_estimated(tmp_path: Path) -> None:
    result = asked(tmp_path, None)
    assert result.requests_sent == 30
    assert result.summary.notes == []
