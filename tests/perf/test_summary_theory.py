"""Servers whose behaviour theory knows: slots, queues, stalls. The summary must say what theory says."""

from __future__ import annotations

from random import Random
from statistics import fmean

import pytest
from made_records import closed_loop, poisson, queue, streamed

from benchwright.perf import LoadSettings, RequestRecord, Requests, StageSummary, summarise


def served(
    arrivals: list[float], slots: int, seconds: float, *, cap: int | None = None
) -> list[RequestRecord]:
    """Requests of an open loop at a server with slots; with a cap, those above it wait in the client."""
    times = queue(arrivals, min(slots, cap or slots), lambda _: seconds)
    return [
        streamed(
            number, begun if cap else planned, planned=planned, ttft=begun - (begun if cap else planned) + 0.01,
            gaps=[(seconds - 0.01) / 4] * 4, close=0.0, delayed_s=begun - planned if cap else 0.0,
        )
        for number, (planned, (begun, _)) in enumerate(zip(arrivals, times, strict=True))
    ]  # fmt: skip


def stage(records: list[RequestRecord], **settings: object) -> StageSummary:
    return summarise(Requests.of(records), LoadSettings(**settings)).stages[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(("slots", "load"), [(1, 0.5), (1, 0.8), (4, 0.8)])
def test_waiting_at_a_server_with_slots_is_as_theory_says(slots: int, load: float) -> None:
    """M/D/c: Poisson arrivals, constant service. One slot: Pollaczek–Khinchine; several: half of the M/M/c wait, which
    is right to a few percent."""
    seconds = 0.1
    found = stage(
        served(poisson(load * slots / seconds, 20_000), slots, seconds), profile="poisson", levels=(1.0,)
    )
    wait = load * seconds / (2 * (1 - load)) if slots == 1 else 0.5 * erlang_wait(slots, load, seconds)
    latency = (wait + seconds) * 1000
    mean = found.metrics["e2e_ms"]
    assert mean.mean == pytest.approx(latency, rel=0.05)
    assert mean.mean_ci95 is not None
    assert mean.mean_ci95[0] < latency * 1.03
    assert mean.mean_ci95[1] > latency * 0.97
    # Little's law: requests in flight are rate times latency.
    in_flight = found.figures["request_throughput_per_s"] * mean.mean / 1000
    assert found.figures["mean_concurrency"] == pytest.approx(in_flight, rel=0.01)


def erlang_wait(slots: int, load: float, seconds: float) -> float:
    """Mean wait of M/M/c."""
    offered, term, total = load * slots, 1.0, 1.0
    for k in range(1, slots):
        term *= offered / k
        total += term
    last = term * offered / slots / (1 - load)
    return last / (total + last) * seconds / (slots * (1 - load))


def test_a_stall_shows_in_planned_latency_and_not_in_that_from_sending() -> None:
    """A constant rate, a cap of requests in flight, and a server that stands still for two seconds: what the client holds back
    is late by the plan, and every request that is sent at last is answered at once."""
    records, free = [], 0.0
    for number in range(1_000):
        planned = number * 0.01
        sent = max(planned, free)
        if 3.0 <= sent < 5.0:
            sent = 5.0 if number else sent
        free = sent + 0.004
        records.append(streamed(number, sent, planned=planned, ttft=0.002, gaps=[0.001], close=0.0, delayed_s=sent - planned))  # fmt: skip
    found = stage(records, profile="constant", levels=(100.0,), max_concurrency=1)
    sent, planned = found.metrics["e2e_ms"], found.metrics["e2e_planned_ms"]
    assert sent.max == pytest.approx(3.0, abs=0.01)
    assert planned.max > 1_900
    assert planned.percentiles["p90"] > 1_000
    assert planned.percentiles["p5"] == pytest.approx(3.0, abs=0.01)
    assert found.metrics["send_delay_ms"].max > 1_900
    assert "delayed" in [note.kind for note in found.notes]


def test_a_server_that_does_not_keep_up_is_called_so() -> None:
    found = stage(served(poisson(60, 3_000), 4, 0.1), profile="poisson", levels=(60.0,))
    (note,) = [note for note in found.notes if note.kind == "not_kept_up"]
    assert "61.63 requests per second were offered and 40.01 completed" in note.text
    assert found.steady.verdict == "not_steady"
    assert any("ttft rose" in reason for reason in found.steady.reasons)


def test_a_server_that_keeps_up_is_not() -> None:
    found = stage(served(poisson(30, 3_000), 4, 0.1), profile="poisson", levels=(30.0,))
    assert not {"not_kept_up", "offered_rate", "idle_gaps"} & {note.kind for note in found.notes}
    assert found.figures["offered_per_s"] == pytest.approx(30, rel=0.05)
    assert found.figures["attempted_per_s"] == found.figures["offered_per_s"]


@pytest.mark.parametrize(("size", "bursts"), [(1, 40), (5, 8), (20, 2)])
def test_bursts_have_the_rate_that_was_requested(size: int, bursts: int) -> None:
    times = [size * number / 20 for number in range(bursts) for _ in range(size)]
    records = [streamed(number, at + 0.001, planned=at) for number, at in enumerate(times)]
    found = stage(records, profile="burst", levels=(20.0,), burst_size=size)
    assert found.figures["offered_per_s"] == pytest.approx(20)
    assert found.figures["attempted_per_s"] == pytest.approx(20)
    alone = stage(records[:size], profile="burst", levels=(20.0,), burst_size=size)
    assert "offered_per_s" not in alone.figures


def test_a_closed_loop_has_the_throughput_of_its_slots() -> None:
    records = [
        streamed(number, sent, ttft=0.05, gaps=[0.05], close=0.0)
        for number, sent, _ in closed_loop(800, 8, lambda _: 0.1)
    ]
    found = stage(records, levels=(8.0,))
    assert found.figures["request_throughput_per_s"] == pytest.approx(80.0)
    assert found.figures["peak_concurrency"] == 8
    assert found.figures["mean_concurrency"] == pytest.approx(8.0)
    assert found.steady.verdict == "steady"
    assert found.steady.start_s == pytest.approx(0.1)
    assert found.steady.request_throughput_per_s == pytest.approx(80.0, rel=0.02)
    assert found.steady.mean_concurrency == pytest.approx(8.0, rel=0.02)


def test_the_steady_window_leaves_out_the_drain() -> None:
    """One straggler makes the run twice as long: its throughput halves, that of the window does not."""
    random = Random(2)
    records = [
        streamed(number, sent, ttft=seconds / 2, gaps=[seconds / 2], close=0.0)
        for number, sent, seconds in closed_loop(1_000, 10, lambda _: random.uniform(0.08, 0.12))
    ]
    last = records[-1]
    assert last.sent is not None
    records[-1] = streamed(999, last.sent, ttft=10.0, gaps=[0.1])
    found = stage(records, levels=(10.0,))
    assert found.figures["request_throughput_per_s"] < 55
    assert found.steady.request_throughput_per_s == pytest.approx(100, rel=0.05)


def test_a_server_that_slows_down_is_not_steady() -> None:
    records = [
        streamed(number, sent, ttft=seconds / 2, gaps=[seconds / 2], close=0.0)
        for number, sent, seconds in closed_loop(1_000, 10, lambda number: 0.1 + number * 0.0002)
    ]
    found = stage(records, levels=(10.0,)).steady
    assert found.verdict == "not_steady"
    assert found.thirds[0] > 1.1 > 0.95 > found.thirds[2]
    assert any("thirds" in reason for reason in found.reasons)


def test_a_ramp_has_no_steady_window() -> None:
    found = stage(served(poisson(30, 300), 4, 0.1), profile="ramp", levels=(1.0,))
    assert found.steady.verdict == "absent"
    assert "ramp" in found.steady.reasons[0]


def test_a_client_that_pauses_is_noticed_in_a_closed_loop() -> None:
    times = [number * 0.01 + (5.0 if number >= 500 else 0.0) for number in range(1_000)]
    found = stage([streamed(n, at, ttft=0.005, gaps=[0.005], close=0.0) for n, at in enumerate(times)])
    (note,) = [note for note in found.notes if note.kind == "idle_gaps"]
    assert "5 s" in note.text


def test_quiet_times_of_an_open_loop_are_no_pause() -> None:
    arrivals = poisson(2, 200)
    found = stage(served(arrivals, 4, 0.1), profile="poisson", levels=(2.0,))
    assert "idle_gaps" not in [note.kind for note in found.notes]
    assert fmean(arrivals) > 0
