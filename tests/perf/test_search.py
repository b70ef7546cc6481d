"""The search for the largest load: which level comes next, what the probes say together, and how a real search ends."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs
from tests.perf.loads import Loaded, plan_of
from tests.perf.made_records import streamed
from tests.perf.simulated_servers import (
    HELD_OUT,
    SERVERS,
    UNSEEN,
    SimulatedServer,
    disturbed_server,
    misses_in_the_long_run,
    random_server,
)
from tests.perf.stub_server import serving

from benchwright import compare, perf
from benchwright.core import LoadProfile
from benchwright.perf import LoadSearch, LoadSettings, Requests, SearchResult, next_probe, summarise
from benchwright.perf._backlog import Trace
from benchwright.perf._boundary import Probe, not_refuted, passed, shown
from benchwright.perf._schedule import schedule
from benchwright.perf._search import FILLING, requests_needed, search_result
from benchwright.perf._slo import evidence_of
from benchwright.perf._summary import probe_of
from benchwright.perf._values import ClientHealth, DurationSpread, StageRecord
from benchwright.results import LoadComparison
from benchwright.results._load_comparison import SearchComparison
from benchwright.results._load_verdicts import search_words


def settings_of(search: LoadSearch, *, whole: bool = False) -> LoadSettings:
    profile = LoadProfile.CONCURRENT if whole else LoadProfile.CONSTANT
    return LoadSettings(profile=profile, slo=(("e2e", 1.0),), search=search, requests=1000)


def searched(
    passes: Callable[[float], bool], search: LoadSearch | None = None, *, whole: bool = False, most: int = 60
) -> SearchResult:
    """A whole search on a server of which only the verdicts are known."""
    settings = settings_of(search or LoadSearch(lowest=1.0, highest=1e6, share=0.99), whole=whole)
    probes: list[Probe] = []
    while len(probes) < most and (following := next_probe(probes, settings)) is not None:
        passed = passes(following.level)
        probes.append(Probe(len(probes), following.level, passed, float(passed), 1000))
    return search_result(probes, settings)


@pytest.mark.parametrize("capacity", [1.0, 1.3, 7.0, 97.3, 5000.0])
def test_a_sharp_boundary_is_found_from_below(capacity: float) -> None:
    found = searched(lambda level: level <= capacity)
    assert found.status == "found"
    assert found.level is not None
    assert found.failing_level is not None
    assert found.ci95 is not None
    assert 0.9 * capacity <= found.level <= capacity < found.failing_level
    assert found.passed[0] == found.passed[1] >= 3
    assert found.ci95[0] <= 1.01 * capacity
    assert 0.99 * capacity <= found.ci95[1] <= 1.1501 * found.ci95[0]
    assert len(found.probes) < 35


@pytest.mark.parametrize("capacity", [1, 2, 3, 6, 17, 100])
def test_levels_of_a_closed_loop_are_whole_numbers(capacity: int) -> None:
    found = searched(lambda level: level <= capacity, whole=True)
    assert all(probe.level == int(probe.level) for probe in found.probes)
    assert found.level is not None
    assert found.failing_level is not None
    assert found.level <= capacity < found.failing_level
    assert found.failing_level - found.level <= max(1, 0.12 * capacity)


def test_ends_of_a_search_that_are_no_boundary() -> None:
    everything = searched(lambda level: True, LoadSearch(lowest=1.0, highest=48.0, share=0.99))
    assert (everything.status, everything.level, everything.ci95) == ("at_least", 48.0, None)
    assert everything.passed == (3, 3)
    nothing = searched(lambda level: False, LoadSearch(lowest=2.0, highest=48.0, share=0.99))
    assert (nothing.status, nothing.level, nothing.failing_level) == ("not_met", None, 2.0)
    assert [probe.level for probe in nothing.probes] == [2.0] * 3
    short = searched(lambda level: level < 100, most=4)
    assert (short.status, short.level, short.held, short.failing_level) == ("unfinished", None, 8.0, None)
    assert (short.passed, short.requests) == ((1, 1), short.probes[-1].requests)
    limited = [
        Probe(0, 1.0, True, 1.0, 9),
        Probe(1, 2.0, False, 0.2, 9, client_limit=True),
    ]
    settings = settings_of(LoadSearch())
    again = next_probe(limited, settings)
    assert again is not None
    assert again.level == 2.0
    assert search_result(limited, settings).status == "unfinished"
    limited.append(Probe(2, 2.0, False, 0.2, 9, client_limit=True))
    assert next_probe(limited, settings) is None
    found = search_result(limited, settings)
    assert (found.status, found.level, found.held, found.failing_level) == ("client_limit", None, 1.0, None)


def test_a_probe_that_was_unlucky_is_outvoted() -> None:
    """The first probe at 4 fails by chance: the repeats find out, and the search goes on above it."""
    seen: list[float] = []

    def passes(level: float) -> bool:
        seen.append(level)
        return level <= 20 and not (level == 4 and seen.count(4) == 1)

    found = searched(passes, whole=True)
    assert found.level in (18.0, 19.0, 20.0)


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
    assert (found.status, found.level, found.held, len(found.probes)) == ("unfinished", None, 1.0, 1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qa.csv").write_text("question,answer\n1+1=,2\n2+3=,5\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_search_is_a_test_like_any_other(folder: Path) -> None:
    """The demo model answers at once: limits of a minute hold everywhere, limits of a microsecond nowhere."""
    how: dict[str, Any] = {"find_max_load": True, "requests": 10, "probe_repeats": 2, "slo_share": 0.8}
    result = perf("qa.csv", **how, slo="e2e=60s", rate=[20, 80])
    search = result.summary.search
    assert (search.status, search.level, search.passed) == ("at_least", 80.0, (2, 2))
    assert [stage.counts.sent for stage in result.summary.stages] == [10] * 4
    assert (result.exit_code, result.summary.comparable) == (0, True)
    page = (folder / ".benchwright/runs/0001-qa/report.html").read_text(encoding="utf-8")
    assert "at least 80/s" in page
    assert "at least 80/s" in " ".join(result._repr_html_().split())
    never = perf("qa.csv", **how, slo="e2e=0.000001ms", concurrency=1)
    assert (never.summary.search.status, never.exit_code, never.status) == ("not_met", 1, "completed")
    ended = perf("qa.csv", **how, slo="e2e=60s", rate=20, max_probes=2)
    assert (ended.summary.search.status, ended.exit_code) == ("unfinished", 3)
    few = perf("qa.csv", **{**how, "slo_share": 0.99}, slo="e2e=60s", rate=[20, 80])
    assert (few.summary.search.status, few.exit_code) == ("too_few", 3)


def test_a_number_in_flight_that_was_never_reached_is_no_answer(folder: Path) -> None:
    """The demo model answers before the next request is sent, so one is in flight at any time, however many are asked for."""
    how: dict[str, Any] = {"find_max_load": True, "requests": 4, "probe_repeats": 2, "slo_share": 0.8}
    result = perf("qa.csv", **how, slo="e2e=60s")
    search = result.summary.search
    assert (search.status, search.level, search.held, result.exit_code) == ("client_limit", None, 1.0, 3)
    assert [probe.level for probe in search.probes] == [1.0, 2.0, 2.0]
    assert search.probes[-1].why == "no more than 1 was in flight at once"


def test_two_searches_are_compared_at_the_loads_that_they_found(folder: Path) -> None:
    how: dict[str, Any] = {"find_max_load": True, "requests": 4, "probe_repeats": 2, "slo": "e2e=60s"}
    first, second = (perf("qa.csv", **how, rate=[20, most]) for most in (80, 40))
    found = compare(first, second)
    assert isinstance(found, LoadComparison)
    assert found.search is not None
    assert (found.search.label_a, found.search.label_b) == ("80/s", "40/s")
    assert found.search.worse
    assert not found.search.significant  # both servers may bear more
    (level,) = found.levels
    assert {each.name for each in level.differences} >= {"e2e", "request_throughput"}
    assert (found.only_a, found.only_b) == ((), ())
    printed = found.to_json()["search"]
    assert isinstance(printed, dict)
    assert (printed["a"], printed["b"], printed["worse"]) == (80.0, 40.0, True)


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


# -- chance


def _met(requests: int, misses: int) -> tuple[bool, float]:
    return misses <= 0.01 * requests, round(1 - misses / requests, 6)


def sized(seconds: float = 600.0) -> LoadSettings:
    return LoadSettings(
        profile=LoadProfile.CONSTANT, slo=(("e2e", 1.0),), seconds=10.0,
        search=LoadSearch(lowest=1.0, highest=1e6, share=0.99, sized=True, seconds=seconds),
    )  # fmt: skip


def test_a_climbing_probe_that_failed_by_one_miss_is_repeated() -> None:
    """One miss among 60 requests is more than 1 %, but says nothing: 45 of 100 such probes have one at a share of exactly 0.99."""
    settings = sized()
    probes = [Probe(n, 2.0**n, *_met(60, n == 3), 60, seconds=10.0) for n in range(4)]
    assert not probes[-1].passed
    again = next_probe(probes, settings)
    assert again == (8.0, pytest.approx(300 / 8)), "so many requests that one miss does not decide"
    assert search_result(probes, settings).held == 4.0
    shown = Probe(4, 8.0, *_met(225, 1), 225, seconds=37.5)
    further = next_probe([*probes, shown], settings)
    assert further is not None
    assert further.level == 16.0, "2 of 285 are few enough"
    assert search_result([*probes, shown], settings).held == 8.0
    refuting = Probe(4, 8.0, *_met(225, 8), 225, seconds=37.5)
    between = next_probe([*probes, refuting], settings)
    assert between is not None
    assert between.level < 8.0


def test_a_level_that_fails_is_dropped_if_a_higher_one_passes_with_more_requests() -> None:
    settings = sized()
    probes = [
        Probe(0, 4.0, *_met(60, 0), 60, seconds=10.0),
        Probe(1, 8.0, *_met(60, 4), 60, seconds=10.0),
        Probe(2, 12.0, *_met(400, 1), 400, seconds=40.0),
    ]
    further = next_probe(probes, settings)
    assert further is not None
    assert further.level == 24.0


def test_every_search_that_ends_early_keeps_what_no_probe_refuted() -> None:
    """A server that misses half of what it may, by chance, up to its capacity, and all limits beyond: wherever a search
    ends, its interval contains the capacity, and its answer is neither above it nor below what was shown."""
    capacity, inside, ended = 90.0, 0, 0
    for seed in range(8):
        dice, settings = random.Random(seed), sized()
        probes: list[Probe] = []
        while (following := next_probe(probes, settings)) is not None and len(probes) < 20:
            level, seconds = following
            assert seconds is not None
            requests = round((1 - FILLING) * level * seconds) or 1
            missed = sum(dice.random() < (0.005 if level <= capacity else 1) for _ in range(requests))
            probes.append(Probe(len(probes), level, *_met(requests, missed), requests, seconds=seconds))
            found = search_result(probes, settings)
            if found.status in ("bounded", "found"):
                assert found.ci95 is not None
                assert found.level is not None
                assert found.ci95[0] <= found.level
                assert found.level >= 0.93 * 32.0, "no chance on the way up is an answer"
                ended += 1
                inside += found.ci95[0] <= capacity <= found.ci95[1]
    assert ended > 20
    assert inside >= 0.95 * ended


# -- searches on simulated servers, in virtual time


def search_on_paper(
    server: SimulatedServer, seed: int, *, seconds: float, most: int = 40, lowest: float | None = None
) -> tuple[SearchResult, float, int]:
    """A search by the product's own rules, and how many seconds and requests it would have taken."""
    search = LoadSearch(
        lowest=lowest or (1.0 if server.closed or server.capacity > 2 else 0.25),
        highest=1e6, sized=True, share=server.share, seconds=seconds, most_probes=most,
    )  # fmt: skip
    settings = LoadSettings(
        profile=server.profile,  # type: ignore[arg-type]
        slo=(("e2e_planned", server.limit),), slo_share=server.share, search=search, seconds=10.0, seed=seed,
    )  # fmt: skip
    probes: list[Probe] = []
    total, sent, dice = 0.0, 0, random.Random(seed)
    while len(probes) < most and (following := next_probe(probes, settings)) is not None:
        level, length = following
        assert length is not None
        if total + length > seconds:
            break
        probe, took = _probe_on_paper(
            server, structs.replace(settings, seconds=length), len(probes), level, dice
        )
        total, sent = total + took, sent + round(probe.requests / (1 - FILLING))
        probes.append(probe)
    return search_result(probes, settings), total, sent


def _probe_on_paper(
    server: SimulatedServer, settings: LoadSettings, number: int, level: float, dice: random.Random
) -> tuple[Probe, float]:
    """A probe, and how long it took."""
    assert settings.seconds is not None
    times: list[float] = []
    replies: list[float | None] = []
    if server.closed is not None:
        replies += server.closed(int(level), settings.seconds, dice)
        took = settings.seconds + max(each or 0.0 for each in replies)
    else:
        times = [at for at, _ in schedule(settings, number, level=level)]
        replies = server.serve(times, dice)
        ends = [at + (each or 0.0) for at, each in zip(times, replies, strict=True)]
        took = max([settings.seconds, *ends])
    later = replies[round(FILLING * len(replies)) :]
    taken = sorted(each for each in later if each is not None)
    used = [None if each is None else each / server.limit for each in later]
    in_time = [each for each in later if each is not None] if times else []
    room = server.limit - taken[len(taken) // 2] if taken else None
    answered = sum(each is not None for each in replies) / took
    stage: Any = SimpleNamespace(
        stage=number,
        level=level,
        probe=evidence_of(used, in_time, room, share=server.share),
        notes=(),
        absent={},
        client_was_limit=False,
        counts=SimpleNamespace(sent=len(replies)),
        figures={"duration_s": took, "request_throughput_per_s": answered, "peak_concurrency": level},
    )
    probe = probe_of(stage, settings)
    if times:
        trace = Trace(
            times,
            [inf if each is None else each / server.limit for each in replies],
            [None if each is None else at + each for at, each in zip(times, replies, strict=True)]
            if server.whole
            else (),
            [-inf if each is None else server.limit - each for each in replies],
        )
        probe = structs.replace(probe, trace=trace)
    return probe, took


REGULAR = [name for name, server in SERVERS.items() if name.endswith("slots, constant")]


@pytest.mark.parametrize("name", ["one slot, constant", "batches of 16, constant", *REGULAR])
def test_the_capacity_of_a_regular_server_is_found_in_the_default_time(name: str) -> None:
    server = SERVERS[name]
    found, seconds, _ = search_on_paper(server, 0, seconds=600)
    assert (found.status, seconds <= 600) == ("found", True)
    assert found.level is not None
    assert 0.9 <= found.level / server.capacity <= 1.0
    assert found.passed[1] >= 3, "the answer itself was probed"
    assert 2 * found.passed[0] > found.passed[1]


@pytest.mark.parametrize("name", ["4 slots", "refuses beyond 2 waiting, constant", "5 slots"])
def test_the_answer_of_an_irregular_server_is_a_lower_bound(name: str) -> None:
    """`benchmarks/search.py` says how often, over many seeds; here one search of each server."""
    server = SERVERS[name]
    found, *_ = search_on_paper(server, 500, seconds=600)
    assert found.status in ("found", "bounded")
    assert found.level is not None
    assert 0.8 <= found.level / server.capacity <= 1.02


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("12 slots, closed", 11),
        ("one slot, 95 %", 12),
        ("10 slots with pauses", 13),
        ("7 slots, heavy tail, closed", 14),
    ],
)
def test_answers_on_servers_that_no_constant_was_chosen_on(name: str, seed: int) -> None:
    """A sample; `python -m benchmarks.search` tries all of them."""
    server = {**HELD_OUT, **UNSEEN}[name]
    found, *_ = search_on_paper(server, seed, seconds=600)
    assert found.status in ("found", "bounded")
    assert found.level is not None
    assert found.ci95 is not None
    assert 0.8 <= found.level / server.capacity <= 1.02
    assert found.ci95[0] <= 1.02 * server.capacity
    assert found.ci95[1] >= server.capacity


@pytest.mark.parametrize("seed", [6, 8, 12, 15, 17])
def test_no_answer_on_a_random_server_is_too_high(seed: int) -> None:
    """Heavy tails, below one request per second, hundreds per second. `python -m benchmarks.search random` tries many."""
    name, server = random_server(seed)
    lowest = float(f"{server.capacity / 10:.3g}")
    found, *_ = search_on_paper(server, seed, seconds=600, lowest=lowest)
    allowed = 1 - server.share
    if found.status == "unfinished":
        assert found.ended_by == "search_seconds", name
        return
    assert found.level is not None
    assert misses_in_the_long_run(server, found.level / 1.003) <= 1.1 * allowed, name
    if found.status == "found":
        assert misses_in_the_long_run(server, found.level / 0.9) >= allowed, name
    else:
        assert found.status == "bounded", name
        assert found.ci95 is not None, "what is not known is a range"


@pytest.mark.parametrize(
    ("server", "seconds", "lowest", "seed"),
    [
        (30002, 60, 5.62, 3000260),  # a probe below the truth passed, and a queue on paper estimated more
        (30004, 120, 2.75, 3000520),  # the queue grew, but ten seconds did not fill it
        *((50000 + number, (20, 45, 90)[number % 3], None, number) for number in range(6)),
    ],
)
def test_a_search_with_little_time_answers_nothing_that_it_did_not_show(
    server: int, seconds: float, lowest: float | None, seed: int
) -> None:
    """`python -m benchmarks.search random` tries hundreds, with up to five minutes."""
    name, simulated = disturbed_server(server)
    start = 1.0 if simulated.closed else lowest or float(f"{simulated.capacity / 20:.3g}")
    found, *_ = search_on_paper(simulated, seed, seconds=seconds, lowest=start)
    if found.level is None:
        assert not found.answered, name
        assert found.held is None or found.held in {probe.level for probe in found.probes}, name
        return
    own = [probe for probe in found.probes if probe.level >= found.level and probe.passed]
    assert own or found.status == "found", f"{name}: no probe at the answer or above passed"
    assert found.failing_level is None or found.level < found.failing_level, name
    most = found.level if simulated.closed else found.level / 1.003
    assert misses_in_the_long_run(simulated, most) <= 1.1 * (1 - simulated.share), name


@pytest.mark.parametrize("seconds", [30, 60])
@pytest.mark.parametrize(
    "name",
    [
        "growing batches, 95 %",
        "batches of 20, replies of 5 to 200",
        "one slot, newest first",
        "7 slots, heavy tail, closed",
    ],
)
def test_a_search_without_an_answer_says_what_held_and_what_failed(name: str, seconds: float) -> None:
    """A climb doubles the load with a few requests in ten seconds: a level above the truth may pass. It is named, but not as an answer."""
    server = {**HELD_OUT, **UNSEEN}[name]
    found, *_ = search_on_paper(server, 7101, seconds=seconds)
    below = [
        probe.level
        for probe in found.probes
        if found.failing_level is None or probe.level < found.failing_level
    ]
    assert found.held is None or found.held in below
    if found.status in ("found", "bounded", "at_least"):
        return
    assert found.level is None
    assert found.passed[1] == sum(probe.level == found.held for probe in found.probes)
    settings = LoadSettings(
        profile=server.profile,  # type: ignore[arg-type]
        slo=(("e2e_planned", server.limit),), slo_share=server.share, search=LoadSearch(seconds=seconds),
    )  # fmt: skip
    words = search_words(found, settings)
    assert "no level is known to meet" in words
    assert "at least" not in words
    for level in (found.held, found.failing_level):
        assert level is None or f"{settings.label_of(level)}" in words


@pytest.mark.parametrize("power", [4, 6, 10, 40])
@pytest.mark.parametrize("capacity", [3.7, 60.0])
def test_a_load_just_above_the_answer_failed_before_it_is_found(power: int, capacity: float) -> None:
    """A server whose share of misses is a power of the load: a curve through levels far apart fits it, but only a probe shows where it ends."""
    settings = settings_of(LoadSearch(lowest=1.0, highest=1e6, share=0.99))
    probes: list[Probe] = []
    while len(probes) < 60 and (following := next_probe(probes, settings)) is not None:
        missed = round(min(0.6, 0.01 * (following.level / capacity) ** power) * 20_000)
        probes.append(
            Probe(len(probes), following.level, missed <= 200, 1 - missed / 20_000, 20_000, seconds=1.0)
        )
    found = search_result(probes, settings)
    assert found.status == "found"
    assert found.level is not None
    assert found.ci95 is not None
    assert found.failing_level is not None
    assert 0.9 * capacity <= found.level <= capacity
    assert found.ci95[1] <= 1.25 * found.level
    assert found.failing_level <= 1.25 * found.level


def test_requests_of_other_levels_count_where_more_load_cannot_mean_fewer_misses() -> None:
    """No level alone has enough requests to show the share or to refute it."""
    settings = sized()
    low = [Probe(n, 4.0 + n / 10, True, 1.0, 400, seconds=10.0) for n in range(5)]
    high = [Probe(5 + n, 6.0 + n / 10, *_met(100, 5), 100, seconds=10.0) for n in range(5)]
    assert shown([*low, *high], settings) in (4.1, 4.2, 4.3), "several levels have enough together"
    assert not_refuted([*low, *high], 4.4, settings) < 6.4
    assert shown([low[0], *high], settings) is None
    assert not_refuted([*low, high[0], high[4]], 4.4, settings) == 6.4


def test_no_level_above_one_that_fails_is_shown_and_none_by_a_short_probe() -> None:
    """With heavy tails, a probe between two that failed may pass."""
    settings = sized()
    probes = [
        Probe(0, 300.0, *_met(4000, 3), 4000, seconds=12.0),
        Probe(1, 370.0, *_met(6000, 700), 6000, seconds=20.0),
        Probe(2, 380.0, *_met(4000, 3), 4000, seconds=12.0),
    ]
    assert shown(probes, settings) == passed(probes, settings) == 300.0
    slow = structs.replace(settings, slo=(("e2e", 4.0),))
    assert shown(probes, slow) is passed(probes, slow) is None, "a queue needs time to reach the limit"


@pytest.mark.parametrize(
    ("lag_ms", "cpu", "latency", "counts"),
    [
        (30.0, 0.1, 0.5, True),  # a small part of the limit
        (300.0, 0.1, 0.5, True),  # it passed all the same
        (300.0, 0.1, 1.2, False),  # it failed by less than the client was late
        (300.0, 0.1, 3.0, True),  # it failed by far more
        (300.0, 0.99, 0.5, False),
    ],
)
def test_a_busy_machine_ends_no_search_that_it_cannot_decide(
    monkeypatch: pytest.MonkeyPatch, lag_ms: float, cpu: float, latency: float, counts: bool
) -> None:
    monkeypatch.setattr(
        sys.modules["benchwright.perf._summary"], "LIMIT_CPU", 0.92
    )  # the suite keeps calm otherwise
    settings = structs.replace(sized(), slo=(("e2e", 1.0),))
    lag = DurationSpread(100, lag_ms / 2000, lag_ms / 1000, lag_ms / 1000)
    health = ClientHealth(lag=lag, cpu_shares=(cpu,), verdict="limit")
    records = [
        streamed(n, n * 0.25, planned=n * 0.25, ttft=latency, gaps=[], output_tokens=1) for n in range(80)
    ]
    stage = StageRecord(0, 4.0, health=health)
    (summary,) = summarise(Requests.of(records), settings, [stage]).stages
    probe = probe_of(summary, settings)
    assert probe.passed == (latency < 1)
    assert probe.client_limit != counts


def test_a_search_without_time_has_a_lower_bound() -> None:
    server = SERVERS["7 slots, constant"]
    result, seconds, _ = search_on_paper(server, 0, seconds=100)
    assert seconds <= 115, "no probe begins that would send beyond the end; its replies may come later"
    assert (result.status, result.ended_by) == ("bounded", "search_seconds")
    assert result.level is not None
    assert result.ci95 is not None
    assert result.ci95[0] <= server.capacity <= result.ci95[1]
    assert result.level <= server.capacity
    assert result.sure is not None
    assert result.sure >= 0.95
    assert result.next_seconds is not None


def test_a_search_keeps_its_time(folder: Path) -> None:
    """A probe that would end too late is not begun, and a search whose first probe is too long is refused."""
    from benchwright.core import UsageError

    how: dict[str, Any] = {"find_max_load": True, "slo": "e2e=60s", "slo_share": 0.5}
    found = perf("qa.csv", **how, rate=[20, 4000], seconds=0.2, search_seconds=0.3).summary.search
    assert (found.status, found.ended_by, len(found.probes)) == ("unfinished", "search_seconds", 1)
    assert (found.next_level, found.next_seconds) == (40.0, 0.2)
    with pytest.raises(UsageError, match="shorter than the first probe, which sends for 10 s at 20/s"):
        perf("qa.csv", **how, rate=[20, 40], search_seconds=5)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999])
def test_probes_of_the_highest_level_last_until_they_can_show_the_share(share: float) -> None:
    search = LoadSearch(lowest=8.0, highest=8.0, sized=True, share=share)
    settings = LoadSettings(
        profile="constant", slo=(("e2e", 1.0),), slo_share=share, search=search, seconds=10.0
    )
    first = next_probe((), settings)
    assert first is not None
    seconds = first.seconds
    assert seconds is not None
    counted = int(8 * seconds * (1 - FILLING))
    probes = [Probe(n, 8.0, True, 1.0, counted) for n in range(3)]
    enough = search_result(probes, settings)
    assert (enough.status, enough.next_level) == (
        "at_least",
        None,
    ) or seconds == 150.0  # a quarter of the time
    few = [Probe(n, 8.0, True, 1.0, 1) for n in range(3)]
    if requests_needed(share) > 3:
        assert search_result(few, settings).status == "too_few"
        assert search_result(few, settings).next_level == 8.0, "more probes of the same level"
