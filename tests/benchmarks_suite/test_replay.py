"""The shipped rows against a server that knows their ground truth, errs on known rows and refuses known others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks/ stands beside the package and is not installed

from benchmarks.replay import LONG, differences, replayed, three_of_ten, verdicts  # noqa: E402

from benchwright.bfcl._categories import GROUPS  # noqa: E402

TASK = ",".join(name for name in (*GROUPS["ast"], *GROUPS["multi_turn"]) if name != LONG)


@pytest.mark.parametrize("native", [True, False])
def test_scores_and_outcomes_are_exactly_those_of_the_faults(
    native: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    result = replayed(TASK, tmp_path, native=native, fault=three_of_ten)
    found = verdicts(result)
    assert differences(found, frozenset(), three_of_ten) == []
    fates = [three_of_ten({"id": identity}) for identity in found]
    refused = sum(fate in ("429", "500") for fate in fates)
    assert refused == 3
    assert result.summary.outcomes["request_failed"] == refused
    metric = result.metrics["correct"]
    assert (metric.count, metric.value) == (
        len(fates) - refused,
        pytest.approx(fates.count(None) / metric.count),
    )
