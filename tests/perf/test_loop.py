"""The loop sends what its profile says, when it says, and records what the server did; seen from the server's side."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from threading import get_ident
from time import monotonic
from typing import Any

import pytest
from tests.perf.loads import Loaded, load, plan_of
from tests.perf.stub_server import Stub, serving
from tests.perf.test_schedule import ks_distance_to_exponential, mean_and_cv

from benchwright.core import CallTimes, ModelReply, ModelRequest, RequestFailure, RunFailedError
from benchwright.perf import LoadSearch, LoadSettings, LoadTest, RequestOutcome
from benchwright.perf._loop import PhaseLoop, PhaseResult, PhaseTask
from waiting import PATIENCE_S


def run(settings: LoadSettings, rows: int = 3, **how: Any) -> tuple[list[Any], list[Any], Stub]:
    async def work() -> tuple[list[Any], list[Any], Stub]:
        async with serving(**how) as stub:
            records, stages = await load(stub.url, settings, plan_of(rows, stream=settings.stream))
            return records, stages, stub

    return asyncio.run(work())


def test_a_closed_loop_keeps_its_concurrency_and_sends_rows_in_a_circle() -> None:
    records, (stage,), stub = run(LoadSettings(levels=(4.0,), requests=22), rows=5, together={1: 4})
    assert [record.number for record in records] == list(range(22))
    assert [record.row for record in records] == [number % 5 for number in range(22)]
    assert len(stub.log) == 22
    assert stub.most_open == 4
    assert stage.stopped_by == "requests"
    assert stage.offered == 22
    assert all(record.ok and record.planned is None for record in records)


def test_a_sweep_has_a_stage_for_each_level() -> None:
    records, stages, stub = run(LoadSettings(levels=(1.0, 6.0), requests=12), together={13: 6})
    assert [stage.level for stage in stages] == [1.0, 6.0]
    assert [record.number for record in records] == list(range(24))
    assert [sum(record.stage == stage for record in records) for stage in (0, 1)] == [12, 12]
    assert stub.most_open == 6
    first, second = stages
    assert first.ended <= second.started


def test_synchronous_sends_one_after_the_other() -> None:
    _, _, stub = run(LoadSettings(profile="synchronous", requests=6))
    assert stub.most_open == 1


def test_throughput_fills_the_cap() -> None:
    _, _, stub = run(LoadSettings(profile="throughput", requests=30, max_concurrency=10), together={1: 10})
    assert stub.most_open == 10


def test_seconds_end_a_closed_loop_and_requests_in_flight_still_end() -> None:
    records, (stage,), stub = run(LoadSettings(levels=(2.0,), seconds=0.3), first_s=0.05)
    assert stage.stopped_by == "seconds"
    assert all(record.ok for record in records)
    assert all(record.sent < stage.started + 5 for record in records)
    assert len(records) == stub.served


def test_times_are_those_of_the_server() -> None:
    records, (stage,), stub = run(LoadSettings(levels=(1.0,), requests=5), first_s=0.05, gap_s=0.02, events=4)
    for record, truth in zip(records, stub.log, strict=True):
        assert truth.first is not None
        ttft = record.first_token - record.sent
        # The client sends before the server reads, and reads after it; how much later, the machine decides.
        assert truth.first - truth.came <= ttft < PATIENCE_S
        assert truth.last - truth.came <= record.last_content - record.sent < PATIENCE_S
        assert len(record.arrivals) == 4
        assert record.arrivals[0] == pytest.approx(ttft, abs=1e-9)
        assert record.output_tokens == 4
        assert record.token_source == "usage"
        assert record.last_content <= record.ended <= stage.ended + 1e-6


@pytest.mark.parametrize("stream", [True, False])
def test_tokens_from_the_cache_and_of_reasoning_are_those_of_the_server(stream: bool) -> None:
    records, _, _ = run(LoadSettings(levels=(1.0,), requests=2, stream=stream))
    counts = [(r.input_tokens, r.output_tokens, r.cached_tokens, r.reasoning_tokens) for r in records]
    assert counts == [(7, 4, 3, 1)] * 2


def test_without_usage_events_are_counted() -> None:
    records, _, _ = run(LoadSettings(levels=(1.0,), requests=2), usage=False, events=6)
    assert [(r.output_tokens, r.token_source, r.input_tokens) for r in records] == [(6, "counted", None)] * 2


def test_replies_that_are_not_streamed_have_no_first_token() -> None:
    records, _, _ = run(LoadSettings(levels=(2.0,), requests=4, stream=False), usage=False)
    assert all(record.ok and record.first_token is None and record.arrivals == () for record in records)
    assert {record.token_source for record in records} == {"estimated"}


@pytest.mark.slow
def test_poisson_gamma_and_constant_send_by_their_laws() -> None:
    rate = 400.0
    poisson = gaps_kept(LoadSettings(profile="poisson", levels=(rate,), requests=200, seed=3, stream=False))
    assert ks_distance_to_exponential(poisson, rate) < 1.95 / math.sqrt(
        199
    )  # critical value at 0.1 %; even gaps: 0.63
    bursty = LoadSettings(profile="gamma", levels=(rate,), burstiness=0.25, requests=300, stream=False)
    assert mean_and_cv(gaps_kept(bursty))[1] > 1.5  # 2 by law
    even = LoadSettings(profile="constant", levels=(100.0,), requests=50, stream=False)
    assert gaps_kept(even) == pytest.approx([0.01] * 49)


def gaps_kept(settings: LoadSettings) -> list[float]:
    """The planned gaps between requests, of which none is sent before its time: the machine may only be late."""
    records, _, stub = run(settings, events=1)
    assert len(stub.log) == settings.requests
    assert all(record.planned <= record.sent for record in records)
    return [after.planned - before.planned for before, after in pairwise(records)]


def test_a_request_is_never_sent_before_its_time() -> None:
    records, (stage,), _ = run(LoadSettings(profile="constant", levels=(200.0,), requests=60), events=1)
    assert all(record.sent >= record.planned for record in records)
    assert [r.planned - stage.started for r in records] == pytest.approx([n / 200 for n in range(60)])


def test_a_burst_arrives_together() -> None:
    _, _, stub = run(
        LoadSettings(profile="burst", levels=(40.0,), burst_size=10, requests=20), together={1: 10}
    )
    assert stub.most_open >= 10


def test_the_cap_delays_and_says_how_many() -> None:
    settings = LoadSettings(profile="constant", levels=(1e6,), requests=20, max_concurrency=2)
    records, (stage,), stub = run(settings, first_s=0.02, together={1: 2})
    assert stub.most_open == 2
    delayed = [record for record in records if record.delayed_s > 0]
    assert stage.delayed == len(delayed) == 18
    assert stage.delayed_s == pytest.approx(sum(record.delayed_s for record in delayed))
    assert all(record.sent - record.planned >= record.delayed_s for record in delayed)


def test_what_the_cap_held_back_until_the_end_is_on_record_as_not_sent() -> None:
    settings = LoadSettings(profile="constant", levels=(100.0,), seconds=0.4, max_concurrency=1)
    records, (stage,), stub = run(settings, first_s=0.2)
    assert stage.stopped_by == "seconds"
    assert stage.offered == len(records) == 40
    unsent = [record for record in records if record.outcome is RequestOutcome.NOT_SENT]
    assert len(unsent) == 40 - len(stub.log)
    assert all(record.sent is None for record in unsent)


def test_seconds_win_over_more_requests_than_there_is_time_for() -> None:
    settings = LoadSettings(profile="constant", levels=(100.0,), seconds=0.3, requests=500, max_concurrency=1)
    records, (stage,), stub = run(settings, first_s=0.2)
    assert stage.stopped_by == "seconds"
    assert stage.offered == len(records) == 30
    assert len(stub.log) < 10


def test_a_stall_shows_in_latency_from_the_planned_time() -> None:
    """Requests that would have been sent during a stall are sent: an open loop does not wait for the server."""
    settings = LoadSettings(profile="constant", levels=(50.0,), requests=50, max_concurrency=5)
    records, _, _ = run(settings, events=1, stall_from=10, stall_s=0.6)
    behind = [record for record in records if record.ended - record.planned > 0.3]
    assert len(behind) >= 10
    late = [record for record in records if record.ended - record.sent > 0.3]
    assert len(late) < len(
        behind
    )  # seen from the actual send, only those in flight: the cap held the others back


def test_warm_up_and_cool_down_are_recorded_and_marked() -> None:
    settings = LoadSettings(levels=(3.0,), requests=9, warmup=4, cooldown=5)
    records, (stage,), stub = run(settings)
    phases = [record.phase for record in records]
    assert phases == ["warmup"] * 4 + ["measured"] * 9 + ["cooldown"] * 5
    assert stage.offered == 9
    assert len(stub.log) == 18
    warm = max(record.ended for record in records if record.phase == "warmup")
    assert warm <= stage.started


def test_nothing_is_measured_where_every_warm_up_request_fails() -> None:
    with pytest.raises(RunFailedError, match=r"all 2 warm-up requests failed.*told to fail"):
        run(LoadSettings(levels=(2.0,), requests=5, warmup=2), fail_every=1, fail_status=400)


def test_errors_have_classes_and_the_servers_words() -> None:
    records, _, _ = run(LoadSettings(levels=(1.0,), requests=10), fail_every=5, break_every=2)
    outcomes = [record.outcome for record in records]
    assert outcomes.count(RequestOutcome.HTTP_5XX) == 2
    assert outcomes.count(RequestOutcome.BROKEN_STREAM) == 4
    failed = next(record for record in records if record.outcome is RequestOutcome.HTTP_5XX)
    assert failed.error is not None
    assert "the stub was told to fail" in failed.error
    assert failed.http_status == 500
    assert failed.ended is not None


@pytest.mark.parametrize(
    ("status", "outcome"), [(429, RequestOutcome.HTTP_429), (404, RequestOutcome.HTTP_4XX)]
)
def test_statuses_have_classes(status: int, outcome: RequestOutcome) -> None:
    records, _, _ = run(LoadSettings(levels=(1.0,), requests=2), fail_every=1, fail_status=status)
    assert {record.outcome for record in records} == {outcome}
    assert {record.attempts for record in records} == {1}  # sent once, whatever the server says


def test_a_server_that_is_not_there_stops_the_test_early() -> None:
    async def work() -> tuple[list[Any], list[Any]]:
        return await load("http://127.0.0.1:9/v1", LoadSettings(levels=(4.0,), requests=500))

    records, (stage,) = asyncio.run(work())
    assert stage.stopped_by == "errors"
    assert 32 <= len(records) < 60
    assert {record.outcome for record in records} == {RequestOutcome.CONNECT}
    assert {record.sent for record in records} == {None}


def test_the_share_of_errors_stops_a_test() -> None:
    settings = LoadSettings(levels=(2.0,), requests=500, stop_error_share=0.2)
    records, (stage,), _ = run(settings, fail_every=3)
    assert stage.stopped_by == "errors"
    assert 20 <= len(records) < 100


def test_a_server_that_never_answers_times_out() -> None:
    records, (stage,), _ = run(LoadSettings(levels=(3.0,), requests=3, request_timeout_s=0.2), hang=True)
    assert [record.outcome for record in records] == [RequestOutcome.TIMEOUT] * 3
    assert stage.ended < 30


def test_an_interrupt_lets_requests_in_flight_end() -> None:
    async def work() -> tuple[Loaded, list[Any], Stub]:
        async with serving(first_s=0.2) as stub:
            loaded = Loaded(stub.url, LoadSettings(levels=(4.0,), requests=1000))
            running = asyncio.create_task(loaded.run())
            await stub.until_came(6)
            loaded.test.stop()
            return loaded, await running, stub

    loaded, (stage,), stub = asyncio.run(work())
    assert stage.stopped_by == "interrupt"
    assert len(loaded.records) == len(stub.log) < 20
    assert all(record.ok for record in loaded.records)
    assert loaded.test.cause == "interrupt"


def test_a_second_interrupt_ends_at_once_and_records_what_was_in_flight() -> None:
    async def work() -> tuple[Loaded, list[Any]]:
        async with serving(hang=True) as stub:
            loaded = Loaded(stub.url, LoadSettings(levels=(4.0,), requests=1000))
            running = asyncio.create_task(loaded.run())
            await stub.until_came(4)
            loaded.test.stop()
            loaded.test.abort()
            return loaded, await running

    loaded, (stage,) = asyncio.run(work())
    assert stage.stopped_by == "interrupt"
    assert [record.outcome for record in loaded.records] == [RequestOutcome.CANCELLED] * 4


def test_an_interrupt_waits_no_longer_than_it_may() -> None:
    async def work() -> Loaded:
        async with serving(hang=True) as stub:
            loaded = Loaded(stub.url, LoadSettings(levels=(2.0,), requests=10, drain_s=0.1))
            running = asyncio.create_task(loaded.run())
            await stub.until_came(2)
            loaded.test.stop()
            await running
            return loaded

    assert [record.outcome for record in asyncio.run(work()).records] == [RequestOutcome.CANCELLED] * 2


def test_a_server_with_slots_queues_as_theory_says() -> None:
    """8 requests in flight at a server that serves 2 at a time: each waits for 3 rounds, and the rate is that of 2. A slow machine
    makes rounds longer."""
    records, (stage,), _ = run(LoadSettings(levels=(8.0,), requests=48), first_s=0.04, slots=2, events=1)
    seconds = stage.ended - stage.started
    assert len(records) / seconds <= 2 / 0.04
    # As one is sent, seven are at the server: five wait, one is just begun, and one may be almost done.
    assert all(record.first_token - record.sent > 2.9 * 0.04 for record in records if record.number >= 8)
    # Little's law: requests in flight = rate × time in the system.
    assert sum(record.ended - record.sent for record in records) / seconds <= 8


class HangingServer:
    """Counts nothing, and never answers at the end of a stage."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def begin(self) -> None:
        """Nothing to read."""

    async def end(self) -> None:
        self.asked.set()
        await asyncio.Event().wait()


class EmptyCrew:
    """Ends every phase at once."""

    in_flight = 0

    async def phase(self, tasks: Sequence[PhaseTask]) -> list[PhaseResult]:
        return [PhaseResult(stopped_by="requests")]

    def stop(self, cause: str) -> None:
        """Nothing is under way."""

    def abort(self) -> None:
        """Nothing is under way."""

    async def close(self) -> None:
        """Nothing is open."""


def test_nobody_waits_for_the_counters_of_a_server_after_ctrl_c_twice() -> None:
    async def work() -> None:
        server: Any = HangingServer()
        test = LoadTest(LoadSettings(requests=1), EmptyCrew(), server=server)
        doing = asyncio.create_task(test.run())
        await server.asked.wait()
        test.stop()
        test.abort()
        (stage,) = await doing
        assert stage.server is None
        assert test.cause == "interrupt"

    asyncio.run(work())


class InstantEndpoint:
    """Answers every request at once, and logs when it was asked."""

    def __init__(self, log: list[str], failing: frozenset[int]) -> None:
        self._log, self._failing, self._sent = log, failing, 0

    async def send(self, request: ModelRequest) -> ModelReply:
        number = self._sent
        self._sent += 1
        self._log.append(f"sent {number}")
        await asyncio.sleep(0)
        now = monotonic()
        times = CallTimes(planned=now, sent=now, first_byte=now, last_byte=now)
        if number in self._failing:
            return ModelReply("failed", failure=RequestFailure("server_error", "busy", 503), times=times)
        return ModelReply("answered", text="4", times=times)


@pytest.mark.parametrize("stop_share", [None, 0.5])
@pytest.mark.parametrize("failing", [(), (0,), (2,), (0, 1, 2, 3)])
def test_the_next_request_is_sent_before_the_ended_one_is_booked(
    failing: tuple[int, ...], stop_share: float | None
) -> None:
    """Unless the reply may stop the test: then it is judged first, and nothing is sent that would not have been."""
    log: list[str] = []
    settings = LoadSettings(requests=6, stream=False, stop_error_share=stop_share)

    async def work() -> None:
        start = monotonic()
        task = PhaseTask(
            stage=0, phase="measured", zero=start, wall=0.0, start_at=start, base=0, closed=1, requests=6
        )
        endpoint: Any = InstantEndpoint(log, frozenset(failing))
        loop = PhaseLoop(
            settings, task, plan_of(6), [endpoint], lambda record: log.append(f"booked {record.number}")
        )
        await loop.run()

    asyncio.run(work())
    assert sorted(log) == sorted(f"{what} {number}" for what in ("sent", "booked") for number in range(6))
    answered = next(number for number in range(6) if number not in failing)
    for number in range(5):
        early = log.index(f"sent {number + 1}") < log.index(f"booked {number}")
        assert early == (stop_share is None and number > answered)


def test_tasks_of_a_schedule_send_one_request_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more tasks than requests were in flight at once: a task for each request costs as much as sending it."""
    carriers: list[None] = []
    carry = PhaseLoop._carry

    async def counted(loop: PhaseLoop, sending: Any) -> None:
        carriers.append(None)
        await carry(loop, sending)

    monkeypatch.setattr(PhaseLoop, "_carry", counted)
    settings = LoadSettings(profile="constant", levels=(300.0,), requests=60, max_concurrency=3, stream=False)
    records, (stage,), stub = run(settings, events=1)
    assert len(records) == len(stub.log) == stage.offered == 60
    assert len(carriers) <= 3


def test_a_defect_in_the_plan_ends_an_open_loop_with_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    sending = PhaseLoop._sending

    def broken(loop: PhaseLoop, place: int, *rest: Any) -> Any:
        if place == 3:
            raise LookupError("no such row")
        return sending(loop, place, *rest)

    monkeypatch.setattr(PhaseLoop, "_sending", broken)
    with pytest.raises(LookupError, match="no such row"):
        run(LoadSettings(profile="constant", levels=(200.0,), requests=10), events=1)


@pytest.mark.parametrize("profile", ["constant", "concurrent"])
def test_an_abort_records_each_request_that_was_launched(profile: Any) -> None:
    """Even those that were launched in the same turn of the event loop, and have not been started."""

    class Silent:
        def __init__(self) -> None:
            self.asked = 0

        async def send(self, request: ModelRequest) -> ModelReply:
            self.asked += 1
            if self.asked == 1:
                loop.abort()
            await asyncio.Event().wait()
            raise AssertionError

    records: list[Any] = []

    async def work() -> None:
        nonlocal loop
        start = monotonic()
        closed = 4 if profile == "concurrent" else None
        settings = LoadSettings(profile=profile, levels=(1000.0,), requests=8)
        task = PhaseTask(
            stage=0, phase="measured", zero=start, wall=0.0, start_at=start - 1, base=0, closed=closed, requests=8
        )  # fmt: skip
        endpoint: Any = Silent()
        loop = PhaseLoop(settings, task, plan_of(8), [endpoint], records.append)
        async with asyncio.timeout(60):
            await loop.run()
        assert loop.in_flight == 0
        assert endpoint.asked == len(records) >= (8 if closed is None else 1)

    loop: PhaseLoop = None  # type: ignore[assignment]  # made above
    asyncio.run(work())
    assert {record.outcome for record in records} == {RequestOutcome.CANCELLED}


def test_a_phase_that_is_cancelled_before_it_begins_leaves_no_timer_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[Any] = []
    closed: list[Any] = []

    class Watched:
        def __init__(self) -> None:
            opened.append(self)
            self.waits = asyncio.Event()

        async def at(self, due: float) -> None:
            self.waits.set()
            await asyncio.Event().wait()

        def close(self) -> None:
            closed.append(self)

    monkeypatch.setattr(import_module("benchwright.perf._loop"), "open_alarm", Watched)

    async def work() -> None:
        start = monotonic() + 3600
        task = PhaseTask(
            stage=0, phase="measured", zero=start, wall=0.0, start_at=start, base=0, closed=1, requests=1
        )
        endpoint: Any = InstantEndpoint([], frozenset())
        loop = PhaseLoop(LoadSettings(requests=1), task, plan_of(1), [endpoint], lambda record: None)
        running = asyncio.create_task(loop.run())
        while not opened:
            await asyncio.sleep(0)
        await opened[0].waits.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(work())
    assert len(opened) == 1
    assert closed == opened


def test_the_next_probe_is_chosen_outside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may compute for seconds, and the live view, the heartbeat and Ctrl-C must not wait for it."""
    threads: list[int] = []

    def chosen(*_: Any) -> None:
        threads.append(get_ident())

    monkeypatch.setattr(import_module("benchwright.perf._search"), "next_probe", chosen)
    settings = LoadSettings(
        levels=(1.0,), requests=2, slo=(("e2e", 1.0),), search=LoadSearch(lowest=1.0, highest=4.0)
    )
    _, stages, _ = run(settings, events=1)
    assert not stages
    assert len(threads) == 1
    assert threads != [get_ident()]
