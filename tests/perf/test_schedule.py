"""Schedules are what their names say: tested as statistics would test the arrivals of a real process."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st
from msgspec.structs import replace

from benchwright.core import LoadProfile, UsageError
from benchwright.perf import LoadSettings, arrivals, check_schedule
from benchwright.perf._schedule import schedule

N = 20_000


def gaps(times: list[float]) -> list[float]:
    return [after - before for before, after in pairwise([0.0, *times])]


def mean_and_cv(values: list[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance) / mean


def ks_distance_to_exponential(values: list[float], rate: float) -> float:
    """The largest distance between the values' distribution and the exponential one (Kolmogorov-Smirnov)."""
    ordered, n = sorted(values), len(values)
    return max(
        max((place + 1) / n - (1 - math.exp(-rate * value)), (1 - math.exp(-rate * value)) - place / n)
        for place, value in enumerate(ordered)
    )


@pytest.mark.parametrize("rate", [0.5, 20.0, 2000.0])
def test_gaps_of_poisson_are_exponential(rate: float) -> None:
    times = list(arrivals(LoadSettings(profile="poisson", levels=(rate,), requests=N)))
    assert len(times) == N
    # 1.63/√n is the critical value at 1 %; the seed is fixed, so this never fails by chance.
    assert ks_distance_to_exponential(gaps(times), rate) < 1.63 / math.sqrt(N)


def test_poisson_counts_in_equal_windows_vary_as_much_as_they_should() -> None:
    """A process with exponential gaps that depended on one another would pass the test of the gaps alone."""
    times = list(arrivals(LoadSettings(profile="poisson", levels=(10.0,), seconds=2000.0)))
    counts = [0] * 2000
    for at in times:
        counts[int(at)] += 1
    mean, cv = mean_and_cv([float(count) for count in counts])
    index_of_dispersion = mean * cv * cv
    assert 0.87 < index_of_dispersion < 1.13
    together = sum(a * b for a, b in pairwise([g - 0.1 for g in gaps(times)])) / len(times)
    assert abs(together) < 4 * 0.01 / math.sqrt(len(times))  # neighbours know nothing of each other


@pytest.mark.parametrize("burstiness", [0.25, 0.5, 1.0, 4.0])
def test_gaps_of_gamma_vary_by_the_burstiness(burstiness: float) -> None:
    times = list(arrivals(LoadSettings(profile="gamma", levels=(50.0,), burstiness=burstiness, requests=N)))
    mean, cv = mean_and_cv(gaps(times))
    assert mean == pytest.approx(1 / 50, rel=0.05)
    assert cv == pytest.approx(1 / math.sqrt(burstiness), rel=0.05)


def test_constant_does_not_drift() -> None:
    times = list(arrivals(LoadSettings(profile="constant", levels=(10.0,), requests=1_000_000)))
    assert times[-1] == 99999.9
    assert max(gaps(times[1:])[1:]) < 0.1 + 1e-9


def test_bursts_come_together_and_keep_the_rate() -> None:
    times = list(arrivals(LoadSettings(profile="burst", levels=(10.0,), burst_size=5, requests=12)))
    assert times == [0.0] * 5 + [0.5] * 5 + [1.0] * 2


def test_a_burst_of_no_given_size_holds_one_second_of_each_level() -> None:
    settings = LoadSettings(profile="burst", levels=(4.0, 8.0), requests=10)
    assert list(arrivals(settings)) == [0.0] * 4 + [1.0] * 4 + [2.0] * 2
    assert list(arrivals(settings, 1)) == [0.0] * 8 + [1.0] * 2


@given(
    st.floats(0.1, 100), st.floats(0.1, 100), st.integers(2, 500), st.sampled_from(["linear", "exponential"])
)
def test_a_ramp_sends_as_many_as_its_rates_add_up_to(
    start: float, end: float, requests: int, kind: str
) -> None:
    settings = LoadSettings(profile="ramp", ramp_start=start, ramp_end=end, requests=requests, ramp=kind)  # type: ignore[arg-type]
    times = list(arrivals(settings))
    assert len(times) == requests
    assert times[0] == 0.0
    assert all(before <= after for before, after in pairwise(times))
    if requests > 50 and 0.2 < start / end < 5:  # the first and last gap are the reciprocal rates, nearly
        assert times[1] - times[0] == pytest.approx(1 / start, rel=0.2)
        assert times[-1] - times[-2] == pytest.approx(1 / end, rel=0.2)


def test_a_linear_ramp_by_seconds() -> None:
    times = list(arrivals(LoadSettings(profile="ramp", ramp_start=10.0, ramp_end=30.0, seconds=10.0)))
    assert len(times) == 200
    assert sum(at < 5 for at in times) == pytest.approx(75, abs=1)  # 10 to 20 per second over 5 s


def test_an_exponential_ramp_grows_by_equal_factors() -> None:
    settings = LoadSettings(profile="ramp", ramp="exponential", ramp_start=1.0, ramp_end=100.0, seconds=20.0)
    times = list(arrivals(settings))
    first, second = (sum(a <= at < a + 10 for at in times) for a in (0, 10))
    assert second / first == pytest.approx(10, rel=0.05)


def test_the_seed_decides_and_stages_differ() -> None:
    settings = LoadSettings(profile="poisson", levels=(5.0, 5.0), requests=50, seed=7)
    assert list(arrivals(settings)) == list(arrivals(settings))
    assert list(arrivals(settings)) != list(arrivals(settings, 1))
    assert list(arrivals(settings)) != list(arrivals(replace(settings, seed=8)))


def test_seconds_and_requests_stop_whichever_comes_first() -> None:
    settings = LoadSettings(profile="constant", levels=(10.0,), requests=100, seconds=2.0)
    assert len(list(arrivals(settings))) == 20
    assert len(list(arrivals(replace(settings, requests=5)))) == 5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (LoadSettings(profile="constant", levels=(0.0,), requests=1), "rate is 0"),
        (LoadSettings(profile="concurrent", levels=(1.5,), requests=1), "whole number"),
        (LoadSettings(profile="ramp", requests=1), "--rate 1,20"),
    ],
)
def test_what_makes_no_schedule_is_refused(settings: LoadSettings, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_schedule(settings)


@pytest.mark.parametrize("profile", ["poisson", "gamma"])
@pytest.mark.parametrize(
    "size",
    [
        {"requests": 2},
        {"requests": 7},
        {"requests": 900},
        {"seconds": 22.5},
        {"seconds": 10.0, "requests": 50},
    ],
)
def test_random_arrivals_offer_exactly_the_requested_rate(profile: LoadProfile, size: dict[str, Any]) -> None:
    for seed in range(5):
        settings = LoadSettings(profile=profile, levels=(40.0,), seed=seed, burstiness=0.5, **size)
        times = list(arrivals(settings))
        count = min(size.get("requests", 10**9), int(size.get("seconds", 1e9) * 40))
        assert len(times) == count
        assert (count - 1) / (times[-1] - times[0]) == pytest.approx(40.0)
        assert 0 <= times[0] < 1 / 40
        assert times[-1] < size.get("seconds", math.inf)


def test_scaled_arrivals_are_still_those_of_a_poisson_process() -> None:
    """Counts in slices of a tenth: their variance over many seeds is that of the binomial law."""
    counts = []
    for seed in range(300):
        times = list(arrivals(LoadSettings(profile="poisson", levels=(40.0,), seed=seed, requests=200)))
        counts.append(sum(at < 0.5 for at in times))
    mean = sum(counts) / len(counts)
    spread = sum((each - mean) ** 2 for each in counts) / (len(counts) - 1)
    assert mean == pytest.approx(20, abs=1)
    assert spread == pytest.approx(18, rel=0.3)


def test_a_stage_too_short_for_one_request_may_send_one() -> None:
    times = [
        list(arrivals(LoadSettings(profile="poisson", levels=(1.0,), seed=seed, seconds=0.5)))
        for seed in range(200)
    ]
    assert {len(each) for each in times} == {0, 1}
    assert 70 < sum(map(len, times)) < 130


@given(
    profile=st.sampled_from(["poisson", "gamma", "constant", "burst"]),
    rate=st.sampled_from([0.3, 1.0, 2.5, 7.0, 40.0, 333.0]),
    requests=st.none() | st.integers(1, 200),
    seconds=st.none() | st.sampled_from([0.5, 1.0, 3.3, 10.0]),
    seed=st.integers(0, 99),
    burst=st.none() | st.integers(1, 9),
)
def test_every_schedule_offers_the_requested_rate_for_as_long_as_requested(
    profile: Any, rate: float, requests: int | None, seconds: float | None, seed: int, burst: int | None
) -> None:
    assume(requests is not None or seconds is not None)
    settings = LoadSettings(
        profile=profile, levels=(rate,), requests=requests, seconds=seconds, seed=seed, burstiness=0.4, burst_size=burst, cooldown=2
    )  # fmt: skip
    found = list(schedule(settings))
    assert [phase for _, phase in found[-2:]] == ["cooldown"] * 2
    assert all(before[0] <= after[0] for before, after in pairwise(found))
    times = [at for at, phase in found if phase == "measured"]
    wanted = min(10**9 if requests is None else requests, math.inf if seconds is None else rate * seconds)
    together = (burst or max(1, round(rate))) if profile == "burst" else 1
    assert len(times) == pytest.approx(wanted, abs=together)
    assert all(at < (seconds or math.inf) for at in times)
    if profile != "burst" and len(times) > 1:
        assert (len(times) - 1) / (times[-1] - times[0]) == pytest.approx(rate)
