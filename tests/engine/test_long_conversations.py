"""Conversations with more turns than `max_turns` are cut, and that is said."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScorerInput, ScriptedEndpoint, benchmark, scorer
from benchwright.runs import check

numbers = count()


def score(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": True}


@pytest.mark.parametrize(
    ("prompt", "turns", "told"),
    [
        (
            "{topic}",
            [2, 3, 5],
            "1 row has more user turns than max_turns=4 (of 3)",
        ),  # the prompt is a turn too
        ("{topic}", [4, 5, 7], "3 rows have more user turns than max_turns=4 (of 3)"),
        ("", [3, 4, 6], "1 row has more user turns than max_turns=4 (of 3)"),
        ("", [3, 4, 4], None),
    ],
)
def test_conversations_that_are_cut_are_counted_with_the_cure(
    prompt: str, turns: list[int], told: str | None, tmp_path: Path
) -> None:
    rows = [{"topic": "t", "target": "", "turns": [f"turn {n}" for n in range(length)]} for length in turns]
    name = f"talk {next(numbers)}"
    bench = benchmark(name=name, dataset=rows, prompt=prompt, turns_field="turns", max_turns=4)(scorer(score))
    (report,) = check(bench)
    result = benchwright.run(bench, endpoint=ScriptedEndpoint("x"), workspace=tmp_path)
    for notes in (report.warnings, result.summary.notes):
        found = [note for note in notes if "max_turns" in note]
        if told is None:
            assert found == []
            continue
        (note,) = found
        assert note.startswith(told)
        assert f"max_turns={max(turns) + bool(prompt)} in @benchmark" in note
    assert result.requests_sent == sum(min(length + bool(prompt), 4) for length in turns)
