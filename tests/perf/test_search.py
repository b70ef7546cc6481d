"""The search for the largest load: which level comes next, what the probes say together, and how a real search ends."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs
from tests.perf.loads import Loaded, plan_of
from tests.perf.made_records import queue, streamed
from tests.perf.stub_server import serving

from benchwright import compare, perf
from benchwright.perf import (
    LoadSearch,
    LoadSettings,
    LoadTest,
    Probe,
    Requests,
    SearchResult,
    StageRecord,
    arrivals,
    next_level,
    search_result,
    summarise,
)
from benchwright.perf._search import FILLING, probe_seconds, requests_needed
from benchwright.perf._slo import probe_evidence
from benchwright.perf._summary import probe_of
from benchwright.reports import LoadComparison
from benchwright.reports.views.load_comparison import SearchComparison


def searched(
    passes: Callable[[float], bool], search: LoadSearch | None = None, *, whole: bool = False, most: int = 60
) -> SearchResult:
    """A whole search on a server of which only the verdicts are known."""
    search = search or LoadSearch(lowest=1.0, highest=1e6)
    probes: list[Probe] = []
    while len(probes) < most and (level := next_level(probes, search, whole=whole)) is not None:
        passed = passes(level)
        probes.append(Probe(stage=len(probes), level=level, passed=passed, share=float(passed), requests=100))
    return search_result(probes, search, whole=whole)


@pytest.mark.parametrize("capacity", [1.0, 1.3, 7.0, 97.3, 5000.0])
def test_a_sharp_boundary_is_bracketed_within_five_percent(capacity: float) -> None:
    found = searched(lambda level: level <= capacity)
    assert found.status == "found"
    assert found.level is not None
    assert found.failing_level is not None
    assert found.ci95 is not None
    assert found.level <= capacity < found.failing_level <= found.level * 1.0501
    assert found.passed == found.failed == (3, 3)
    assert found.ci95[0] <= capacity <= found.ci95[1]
    assert len(found.probes) < 25


@pytest.mark.parametrize("capacity", [1, 2, 3, 6, 17, 100])
def test_levels_of_a_closed_loop_are_whole_numbers(capacity: int) -> None:
    found = searched(lambda level: level <= capacity, whole=True)
    assert all(probe.level == int(probe.level) for probe in found.probes)
    assert found.level is not None
    assert found.failing_level is not None
    assert found.level <= capacity < found.failing_level
    assert found.failing_level - found.level <= max(1, 0.05 * capacity)


def test_a_blurred_boundary_has_a_wider_interval_and_the_truth_is_in_it() -> None:
    """Probes near the boundary pass by chance; of 20 searches, the interval may miss the truth in a few."""

    def blurred(width: float, dice: random.Random) -> Callable[[float], bool]:
        return lambda level: dice.random() < 1 / (1 + math.exp((math.log(level) - math.log(50)) / width))

    hits, widths = 0, {0.01: 0.0, 0.15: 0.0}
    for width in widths:
        for seed in range(10):
            found = searched(blurred(width, random.Random(seed)))
            assert found.ci95 is not None
            hits += found.ci95[0] <= 50 <= found.ci95[1]
            widths[width] += math.log(found.ci95[1] / found.ci95[0]) / 10
    assert hits >= 17
    assert widths[0.15] > 1.2 * widths[0.01]


def test_ends_of_a_search_that_are_no_boundary() -> None:
    everything = searched(lambda level: True, LoadSearch(lowest=1.0, highest=48.0))
    assert (everything.status, everything.level, everything.ci95) == ("at_least", 48.0, None)
    assert everything.passed == (3, 3)
    nothing = searched(lambda level: False, LoadSearch(lowest=2.0, highest=48.0))
    assert (nothing.status, nothing.level, nothing.failing_level) == ("not_met", None, 2.0)
    assert [probe.level for probe in nothing.probes] == [2.0] * 3
    short = searched(lambda level: level < 100, most=4)
    assert (short.status, short.level) == ("unfinished", 8.0)
    limited = [
        Probe(0, 1.0, True, 1.0, 9),
        Probe(1, 2.0, False, 0.2, 9, client_limit=True),
    ]
    search = LoadSearch()
    assert next_level(limited, search, whole=False) == 2.0
    assert search_result(limited, search, whole=False).status == "unfinished"
    limited.append(Probe(2, 2.0, False, 0.2, 9, client_limit=True))
    assert next_level(limited, search, whole=False) is None
    found = search_result(limited, search, whole=False)
    assert (found.status, found.level, found.failing_level) == ("client_limit", 1.0, None)


def test_a_probe_that_was_unlucky_is_outvoted() -> None:
    """The first probe at 4 fails by chance: the repeats find out, and the search goes on above it."""
    seen: list[float] = []

    def passes(level: float) -> bool:
        seen.append(level)
        return level <= 20 and not (level == 4 and seen.count(4) == 1)

    found = searched(passes, whole=True)
    assert found.level in (19.0, 20.0)


def test_the_capacity_of_a_server_with_slots_is_found() -> None:
    """Three slots of 60 ms: a fourth request in flight waits for one of them."""
    settings = LoadSettings(
        levels=(1.0,), requests=16, slo=(("e2e", 0.1),), slo_share=0.7,
        search=LoadSearch(lowest=1.0, highest=64.0, repeats=1, most_probes=12),
    )  # fmt: skip

    async def work() -> Loaded:
        async with serving(first_s=0.06, slots=3, events=1) as stub:
            loaded = Loaded(stub.url, settings, plan_of(3))
            await loaded.run()
            return loaded

    loaded = asyncio.run(work())
    found = summarise(Requests.of(loaded.records), settings, loaded.test.stages).search
    assert found is not None
    if found.status == "client_limit":
        pytest.skip("this machine is too busy to measure anything now")
    # 8 in flight wait for 100 ms and longer on any machine; 3 need 60 ms, or more on a slow one.
    assert found.failing_level is not None
    assert found.failing_level <= 8
    assert found.level is None or found.level <= 4
    levels = list(dict.fromkeys(stage.level for stage in loaded.test.stages))  # a slow moment repeats a probe
    assert levels[:2] == [1.0, 2.0] or found.level is None
    assert len({record.number for record in loaded.records}) == len(loaded.records)


def test_a_probe_that_was_interrupted_counts_for_nothing() -> None:
    settings = LoadSettings(slo=(("e2e", 9.0),), search=LoadSearch())
    records = [streamed(number, float(number), stage=number // 3) for number in range(6)]
    stages = [StageRecord(0, level=1.0), StageRecord(1, level=2.0, stopped_by="interrupt")]
    found = summarise(Requests.of(records), settings, stages, partial=True).search
    assert found is not None
    assert (found.status, found.level, len(found.probes)) == ("unfinished", 1.0, 1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qa.csv").write_text("question,answer\n1+1=,2\n2+3=,5\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_search_is_a_test_like_any_other(folder: Path) -> None:
    """The demo model answers at once: limits of a minute hold everywhere, limits of a microsecond nowhere."""
    how: dict[str, Any] = {"find_max_load": True, "requests": 4, "probe_repeats": 2, "slo_share": 0.8}
    result = perf("qa.csv", **how, slo="e2e=60s", concurrency=[1, 4])
    search = result.summary.search
    assert (search.status, search.level, search.passed) == ("at_least", 4.0, (2, 2))
    assert [stage.counts.sent for stage in result.summary.stages] == [4, 8, 16, 16]
    assert (result.exit_code, result.summary.comparable) == (0, True)
    page = (folder / ".benchwright/runs/0001-qa/report.html").read_text(encoding="utf-8")
    assert "at least 4 in flight" in page
    never = perf("qa.csv", **how, slo="e2e=0.000001ms", concurrency=1)
    assert (never.summary.search.status, never.exit_code, never.status) == ("not_met", 1, "completed")
    ended = perf("qa.csv", **how, slo="e2e=60s", max_probes=2)
    assert (ended.summary.search.status, ended.exit_code) == ("unfinished", 3)
    few = perf("qa.csv", **{**how, "slo_share": 0.99}, slo="e2e=60s", concurrency=[1, 4])
    assert (few.summary.search.status, few.exit_code) == ("too_few", 3)


def test_two_searches_are_compared_at_the_loads_that_they_found(folder: Path) -> None:
    how: dict[str, Any] = {"find_max_load": True, "requests": 4, "probe_repeats": 2, "slo": "e2e=60s"}
    first, second = (perf("qa.csv", **how, concurrency=[1, most]) for most in (4, 2))
    found = compare(first, second)
    assert isinstance(found, LoadComparison)
    assert found.search is not None
    assert (found.search.label_a, found.search.label_b) == ("4 in flight", "2 in flight")
    assert found.search.worse
    assert not found.search.significant  # both servers may bear more
    (level,) = found.levels
    assert {each.name for each in level.differences} >= {"e2e", "request_throughput"}
    assert (found.only_a, found.only_b) == ((), ())
    printed = found.to_json()["search"]
    assert isinstance(printed, dict)
    assert (printed["a"], printed["b"], printed["worse"]) == (4.0, 2.0, True)


@pytest.mark.parametrize(
    ("ends", "significant"), [((2.0, 3.9), True), ((2.0, 4.5), False), ((9.0, 11.0), True), (None, False)]
)
def test_two_searches_differ_where_their_intervals_do(
    ends: tuple[float, float] | None, significant: bool
) -> None:
    found = SearchComparison(5.0, 3.0, (4.0, 6.0), ends, "5 in flight", "3 in flight")
    assert found.significant == significant


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"find_max_load": True}, "--slo"),
        ({"find_max_load": True, "slo": "e2e=1s", "profile": "throughput"}, "not throughput"),
        ({"find_max_load": True, "slo": "e2e=1s", "rate": [4, 2]}, "LOWEST,HIGHEST"),
        ({"max_probes": 3}, "--max-probes is for --find-max-load"),
    ],
)
def test_searches_that_cannot_be_are_refused(folder: Path, how: dict[str, Any], message: str) -> None:
    from benchwright.core import UsageError

    with pytest.raises(UsageError, match=message):
        perf("qa.csv", **how)


# -- a server on paper: so many slots, a fixed time of service, arrivals as the schedule plans them


def true_capacity(slots: int, service: float, limit: float, share: float) -> float:
    """The largest rate at which this share of requests keeps the limit in the long run."""
    low, high = 0.2 * slots / service, 1.1 * slots / service
    for _ in range(9):
        middle = math.sqrt(low * high)
        settings = LoadSettings(profile="poisson", levels=(middle,), requests=40_000, seed=99)
        times = list(arrivals(settings))
        kept = sum(
            done - came <= limit
            for came, (_, done) in zip(times, queue(times, slots, lambda _: service), strict=True)
        )
        low, high = (middle, high) if kept >= share * len(times) else (low, middle)
    return low


def search_on_paper(slots: int, service: float, limit: float, seed: int) -> tuple[SearchResult, float]:
    """A search by the product's own rules, and how many seconds it would have taken."""
    search = LoadSearch(lowest=1.0, highest=1e6, sized=True, share=0.99)
    settings = LoadSettings(
        profile="poisson", slo=(("e2e_planned", limit),), search=search, seconds=10.0, seed=seed
    )
    test = LoadTest(settings, None)  # type: ignore[arg-type]  # nobody sends
    probes: list[Probe] = []
    total = 0.0
    while len(probes) < 60 and (level := next_level(probes, search, whole=False)) is not None:
        seconds = test._probe_seconds(level)
        assert seconds is not None
        total += seconds
        times = list(arrivals(structs.replace(settings, seconds=seconds, levels=(level,) * 99), len(probes)))
        records = [
            streamed(n, came, planned=came, ttft=done - came, gaps=[], close=0.0)
            for n, (came, (_, done)) in enumerate(
                zip(times, queue(times, slots, lambda _: service), strict=True)
            )
        ]
        requests = Requests.of(records)
        seen = probe_evidence(settings.slo, requests, requests, open_loop=True)
        stage: Any = SimpleNamespace(
            stage=len(probes), level=level, probe=seen, notes=(), absent={}, health=None
        )
        probes.append(probe_of(stage, settings, probes))
        test._near = any(not probe.passed for probe in probes)
    return search_result(probes, search, whole=False), total


@pytest.mark.parametrize(("slots", "service", "limit"), [(4, 0.333, 0.6), (16, 1.0, 1.3), (8, 0.7, 5.0)])
def test_the_capacity_of_a_known_server_is_not_overrated(slots: int, service: float, limit: float) -> None:
    truth = true_capacity(slots, service, limit, 0.99)
    found = [search_on_paper(slots, service, limit, seed) for seed in range(7)]
    shares = sorted((result.level or 0.0) / truth for result, _ in found)
    assert {result.status for result, _ in found} == {"found"}
    assert shares[-1] < 1.05, shares
    assert 0.88 < shares[len(shares) // 2] < 1.03, shares
    assert shares[0] > 0.78, shares
    assert max(total for _, total in found) < LoadSearch().seconds


def test_a_search_keeps_its_time(folder: Path) -> None:
    """A probe that would end too late is not begun, and a search whose first probe is too long is refused."""
    from benchwright.core import UsageError

    how: dict[str, Any] = {"find_max_load": True, "slo": "e2e=60s", "slo_share": 0.5}
    found = perf("qa.csv", **how, rate=[20, 4000], seconds=0.2, search_seconds=0.3).summary.search
    assert (found.status, found.ended_by, len(found.probes)) == ("unfinished", "search_seconds", 1)
    assert (found.next_level, found.next_seconds) == (40.0, 0.2)
    with pytest.raises(UsageError, match="shorter than the first probe, which sends for 10 s at 20/s"):
        perf("qa.csv", **how, rate=[20, 40], search_seconds=5)
    with pytest.raises(UsageError, match="shorter than the first probe, which sends for 50 s at 1/s"):
        perf("qa.csv", find_max_load=True, slo="e2e=1s", rate=1, seconds=2, search_seconds=15)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999])
def test_probes_of_the_highest_level_last_until_they_can_show_the_share(share: float) -> None:
    search = LoadSearch(lowest=8.0, highest=8.0, sized=True, share=share)
    settings = LoadSettings(
        profile="constant", slo=(("e2e", 1.0),), slo_share=share, search=search, seconds=10.0
    )
    seconds = probe_seconds(settings, 8.0, near=False, answered=None)
    assert seconds is not None
    counted = int(8 * seconds * (1 - FILLING))
    probes = [Probe(n, 8.0, True, 1.0, counted) for n in range(3)]
    enough = search_result(probes, search, whole=False)
    assert (enough.status, enough.next_level) == ("at_least", None) or seconds == 300.0
    few = [Probe(n, 8.0, True, 1.0, 1) for n in range(3)]
    if requests_needed(share) > 3:
        assert search_result(few, search, whole=False).status == "too_few"
        assert next_level(few, search, whole=False) == 8.0, "more probes of the same level"
