"""The documented scorers on recorded cases: odd texts, odd targets, odd rows. None of these may ever move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.scorers import ScorerInput, find_scorer

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("golden_scores.jsonl").read_text(encoding="utf-8").splitlines()
]
DOCUMENTED = sorted({case["scorer"] for case in CASES})


def test_all_twelve_are_recorded() -> None:
    assert len(DOCUMENTED) == 12


@pytest.mark.parametrize("name", DOCUMENTED)
def test_recorded_scores_do_not_move(name: str) -> None:
    scorer = find_scorer(name)
    wrong = []
    for case in CASES:
        if case["scorer"] != name:
            continue
        sample = ScorerInput(case["response"], case["target"], case["metadata"])
        try:
            found: Any = scorer(sample)
        except Exception as error:
            found = type(error).__name__
        expected: Any = case.get("scores", case.get("raises"))
        same = found == (expected if isinstance(expected, str) else pytest.approx(expected, abs=1e-9))
        if not same or (isinstance(found, dict) and list(found) != list(expected)):
            wrong.append((case, found))
    assert not wrong
