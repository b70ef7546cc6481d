"""Gates of load tests: latency, throughput, errors and goodput, by the value and by the interval."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import LoadResult, Verdict
from benchwright.cli import main
from benchwright.perf import fewest_for

ROWS = [{"q": f"What is {k} + 1?", "target": str(k + 1)} for k in range(80)]


@benchwright.benchmark(name="loaded rows", dataset=ROWS, prompt="{q}")
def loaded_rows(sample: Any) -> dict[str, float]:
    return {"correct": sample.response == sample.target}


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LoadResult, LoadResult]:
    place = tmp_path_factory.mktemp("load")
    first, second = (
        benchwright.perf(loaded_rows, concurrency=[4], requests=150, slo="e2e=60s", workspace=place)
        for _ in range(2)
    )
    return place, first, second


def judged(place: Path, run: Any, baseline: Any = None, **tables: Any) -> Verdict:
    return benchwright.gate(run, policy=tables, baseline=baseline, workspace=place)


def words(verdict: Verdict) -> list[str]:
    return [row.verdict.value for row in verdict.rows[1:]]


def test_figures_are_held_by_value_or_interval(tests: tuple[Path, LoadResult, LoadResult]) -> None:
    place, first, _ = tests
    rules = [
        {"figure": "e2e.p99", "max": 60_000},
        {"figure": "e2e.mean", "max": 60_000, "bound": "upper"},
        {"figure": "e2e.p50", "max": 0.000001},
        {"figure": "e2e.p90", "max": 60_000, "bound": "upper"},
        {"figure": "request_throughput", "min": -1e6, "bound": "lower"},
        {"figure": "request_throughput", "max": 0.1},
        {"figure": "error_share", "max": 0.2, "bound": "upper"},
        {"figure": "good_share", "min": 0.5, "bound": "lower"},
        {"figure": "goodput", "min": -1e6, "bound": "lower"},
        {"figure": "cached_tokens.mean", "max": 60_000},
        {"figure": "e2e.min", "max": 60_000, "stage": "77 in flight"},
    ]
    found = judged(place, first, load=rules)
    assert words(found) == [
        "INCONCLUSIVE", "GO", "NO-GO", "GO", "GO", "NO-GO", "GO", "GO", "GO", "INCONCLUSIVE", "INCONCLUSIVE",
    ]  # fmt: skip
    assert "has no level '77 in flight'" in found.rows[-1].reason


def test_a_load_test_is_compared_with_a_run_and_with_a_portable_baseline(
    tests: tuple[Path, LoadResult, LoadResult], tmp_path: Path
) -> None:
    place, first, second = tests
    wide = {"metric": "e2e.mean", "bound": "upper", "margin": 60_000}
    rules = {"regression": [wide, {"metric": "request_throughput", "bound": "value", "margin_percent": 99.9}]}
    lost = {"metric": "goodput", "bound": "upper", "margin": 1e6}
    assert words(judged(place, second, first, regression=[lost])) == ["GO"]
    found = judged(place, second, first, **rules)
    assert words(found) == ["GO", "GO"]
    assert main(["export", "1", "--baseline", str(tmp_path / "b.jsonl"), "--workspace", str(place)]) == 0
    again = judged(place, second, tmp_path / "b.jsonl", **rules)
    assert [row.observed for row in again.rows] == [row.observed for row in found.rows]
    others = [{**wide, "metric": f"e2e.{statistic}"} for statistic in ("p50", "p90", "p95", "max")]
    found = judged(place, second, first, regression=others)
    assert words(found) == ["GO", "GO", "GO", "INCONCLUSIVE"]
    assert "by means and percentiles of latencies, not by max" in found.rows[-1].reason


def test_every_percentile_is_held_by_its_interval_where_there_are_enough_requests(
    tests: tuple[Path, LoadResult, LoadResult],
) -> None:
    place, first, _ = tests
    stage = first.summary.stages[0]
    measured = stage.metrics["e2e_ms"].percentiles
    names = ("p5", "p10", "p25", "p50", "p75", "p90", "p95")
    rules = [{"figure": f"e2e.{name}", "max": 60_000, "bound": "upper"} for name in names]
    found = judged(place, first, load=rules)
    assert set(words(found)) == {"GO"}
    for name, row in zip(names, found.rows[1:], strict=True):
        assert row.interval is not None
        assert row.interval[0] <= measured[name] <= row.interval[1]
    # The measured value as the limit is within every interval, however wide and skewed: only its lower end meets it, unless
    # so many requests took equally long that the interval ends there.
    middle = found.rows[1 + names.index("p50")].interval
    assert middle is not None
    for bound, word in (("upper", "GO" if middle[1] <= measured["p50"] else "INCONCLUSIVE"), ("lower", "GO")):
        between = {"figure": "e2e.p50", "max": measured["p50"], "bound": bound}
        assert words(judged(place, first, load=[between])) == [word]
    few = judged(place, first, load=[{"figure": "e2e.p99.9", "max": 60_000, "bound": "upper"}])
    assert words(few) == ["INCONCLUSIVE"]
    assert "it needs 4,009" in few.rows[-1].reason


@pytest.mark.parametrize("bound", ["value", "lower", "upper"])
def test_a_percentile_of_too_few_requests_is_never_met_but_may_be_missed(
    tests: tuple[Path, LoadResult, LoadResult], bound: str
) -> None:
    place, first, second = tests
    stage = first.summary.stages[0].metrics["e2e_ms"]
    limits = [
        {"max": 60_000},  # 150 requests, all below
        {"max": stage.percentiles["p50"] * 0.999},  # half of them above
        {"max": stage.min * 0.999},  # all above
        {"max": stage.percentiles["p99"]},  # one or two above
    ]
    rows = [
        judged(place, first, load=[{"figure": "e2e.p99", "bound": bound, **limit}]).rows[1]
        for limit in limits
    ]
    assert [row.verdict for row in rows] == ["INCONCLUSIVE", "NO-GO", "NO-GO", "INCONCLUSIVE"]
    assert "150 requests are too few for the 99th percentile: it needs 400" in rows[0].reason
    assert (rows[0].n_needed, rows[1].n_needed) == (400, None)
    worse = {"metric": "e2e.p99", "bound": bound, "margin": 60_000}
    assert words(judged(place, second, first, regression=[worse])) == ["INCONCLUSIVE"]


def test_rules_of_benchmarks_are_not_judged_on_load_tests(tests: tuple[Path, LoadResult, LoadResult]) -> None:
    place, first, second = tests
    found = judged(
        place, first, second,
        threshold=[{"metric": "correct", "min": 0.1, "bound": "value"}],
        regression=[{"metric": "correct", "bound": "value"}],
        failures=[{"max": 0.5}],
        usage=[{"figure": "total_tokens", "max": 1e9}],
    )  # fmt: skip
    assert words(found) == ["INCONCLUSIVE"] * 4
    assert not any(row.evaluated for row in found.rows[1:])


def test_compare_takes_a_load_test_by_its_blessed_name(tests: tuple[Path, LoadResult, LoadResult]) -> None:
    place, first, second = tests
    benchwright.bless(first, name="quick", workspace=place)
    plain = benchwright.compare(first, second, workspace=place).to_json()
    found = benchwright.compare("quick", second, workspace=place).to_json()
    assert found["levels"] == plain["levels"]
    assert found["input_comparison"]["same"] is True
    with pytest.raises(benchwright.UsageError, match=r"nothing in common"):
        benchwright.compare("quick", benchwright.run(loaded_rows, limit=5, workspace=place), workspace=place)


@pytest.mark.parametrize(
    ("key", "value"), [("level", 0.8), ("slices", "q"), ("min_rows", 5), ("failures_as_wrong", True)]
)
def test_keys_of_benchmarks_are_not_ignored_in_a_load_test(
    tests: tuple[Path, LoadResult, LoadResult], key: str, value: Any
) -> None:
    place, first, second = tests
    rule = {"metric": "e2e.mean", "bound": "upper", "margin": 60_000, key: value}
    (row,) = judged(place, second, first, regression=[rule]).rows[1:]
    assert (row.verdict, row.evaluated) == ("INCONCLUSIVE", False)
    assert f"a regression has no {key}" in row.reason


def test_the_load_test_of_the_manual_sends_enough_requests_for_its_percentiles() -> None:
    """The page does not run it, because whether the client keeps up depends on the machine."""
    page = (Path(__file__).parents[2] / "docs" / "ci.md").read_text("utf-8")
    sent = int(page.partition("perf bench.py ")[2].partition("--requests ")[2].split()[0])
    asked = [float(each) for each in re.findall(r'figure = "\w+\.p(\d+)"', page)]
    assert asked
    assert sent >= max(map(fewest_for, asked))
