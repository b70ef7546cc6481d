"""What the comparison of two load tests claims: no more than was tested, and no percentile that the tests do not show."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from benchwright import compare, perf
from benchwright.perf import Difference, ScoreDifference, StageComparison
from benchwright.reports import drawn
from benchwright.results import LoadComparison


def compared(folder: Path, *loads: tuple[int, int]) -> LoadComparison:
    (folder / "qa.csv").write_text("question,answer\n1+1=,2\n2+3=,5\n", encoding="utf-8")
    first, second = (perf("qa.csv", concurrency=level, requests=count) for level, count in loads)
    found = compare(first, second)
    assert isinstance(found, LoadComparison)
    return found


def printed(comparison: LoadComparison) -> str:
    console = Console(width=400, color_system=None)
    with console.capture() as shown:
        console.print(drawn(comparison))
    return shown.get()


def test_few_requests_at_other_loads_are_not_called_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = compared(tmp_path, (1, 12), (3, 12))
    assert found.tested == ("error_share",)
    assert {"request_throughput", "e2e"} <= set(found.untested)
    text = printed(found)
    claim = "the loads differ; no significant difference in error_share; too few requests to test the others"
    assert text.splitlines()[1] == f"Run 2 vs. run 1: {claim}"
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


def figure(name: str, a: float, b: float, p_value: float = 0.001, statistic: str = "p50") -> Difference:
    half = abs(b - a) / 4
    return Difference(name, statistic, a, b, b - a, (b - a - half, b - a + half), True, p_value)


SLOWER = figure("ttft", 100.0, 120.0)
SCORE = ScoreDifference("correct", 0.9, 0.7, -0.2, (-0.3, -0.1), 0.01, 40)


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ([[SLOWER]], "ttft p50 is significantly worse (up 20.0 ms, 95 % interval 15.0 to 25.0 ms)"),
        (
            [[figure("request_throughput", 8.0, 12.0, statistic="value")]],
            "request_throughput is significantly better (up 4.00 per s, 95 % interval 3.00 to 5.00 per s)",
        ),
        (
            [[SLOWER, figure("ttft", 300.0, 500.0, statistic="p99"), figure("e2e", 900.0, 700.0)]],
            "ttft p50 is significantly worse (up 20.0 ms, 95 % interval 15.0 to 25.0 ms); "
            "e2e p50 is significantly better (down 200.0 ms, 95 % interval 150.0 to 250.0 ms)",
        ),
        (
            [[SLOWER], [figure("e2e", 1.0, 3.0)]],
            "ttft p50 at level 0 is significantly worse (up 20.0 ms, 95 % interval 15.0 to 25.0 ms), and so is e2e",
        ),
        ([[SCORE]], "score correct is significantly worse (down 0.2000, 95 % interval 0.1000 to 0.3000)"),
        ([[figure("ttft", 100.0, 120.0, 0.4)]], "no significant difference"),
        ([[]], "too few requests to test any figure"),
    ],
)
def test_the_first_sentence_names_what_changed_by_how_much(
    levels: list[list[Difference | ScoreDifference]],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    beyond = [(f"level {at}", each) for at, level in enumerate(levels) for each in level if each.significant]
    found = replace(
        compared(tmp_path, (1, 4), (1, 4)),
        levels=tuple(
            StageComparison(
                f"level {at}",
                9,
                tuple(each for each in level if isinstance(each, Difference)),
                tuple(each for each in level if isinstance(each, ScoreDifference)),
            )
            for at, level in enumerate(levels)
        ),
        beyond=tuple(beyond),
        differs=bool(beyond),
        regressed=any(each.worse for _, each in beyond),
    )
    assert found.sentence == sentence
    assert printed(found).splitlines()[1] == f"Run 2 vs. run 1: {sentence}"
    assert repr(found) == f"<LoadComparison run 2 vs. run 1: {sentence}>"
