"""What the comparison of two load tests claims: no more than was tested, and no percentile that the tests do not show."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from benchwright import compare, perf
from benchwright.reports import LoadComparison, load_comparison_table


def compared(folder: Path, *loads: tuple[int, int]) -> LoadComparison:
    (folder / "qa.csv").write_text("question,answer\n1+1=,2\n2+3=,5\n", encoding="utf-8")
    first, second = (perf("qa.csv", concurrency=level, requests=count) for level, count in loads)
    found = compare(first, second)
    assert isinstance(found, LoadComparison)
    return found


def printed(comparison: LoadComparison) -> str:
    console = Console(width=400, color_system=None)
    with console.capture() as shown:
        console.print(load_comparison_table(comparison))
    return shown.get()


def test_few_requests_at_other_loads_are_not_called_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = compared(tmp_path, (1, 12), (3, 12))
    assert found.tested == ("error_share",)
    assert {"request_throughput", "e2e"} <= set(found.untested)
    text = printed(found)
    claim = "the loads differ; no difference beyond chance in error_share; others were not tested"
    assert claim in text.splitlines()[1]
    assert "not tested, too few requests: request_throughput" in text
    untested = found.to_json()["untested"]
    assert isinstance(untested, list)
    assert "e2e" in untested
    statistics = {each.statistic for level in found.levels for each in level.differences}
    assert statistics == {"value", "mean", "p50"}, "tests of 12 requests show no 99th percentile"
    assert "p99" not in text


def test_percentiles_are_compared_where_both_tests_show_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = compared(tmp_path, (4, 101), (4, 101))
    assert "p99" in {each.statistic for level in found.levels for each in level.differences}
    assert "the loads differ" not in printed(found)
