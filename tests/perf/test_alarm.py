"""Waiting until an exact time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from importlib import import_module
from time import monotonic

import pytest
from tests.perf.loads import Loaded
from tests.perf.stub_server import serving

from benchwright.perf import LoadSettings
from benchwright.perf._alarm import Alarm, _FileAlarm, _LoopAlarm, open_alarm
from benchwright.perf._health import run_quickly

Run = Callable[..., object]


@pytest.mark.parametrize("run", [run_quickly, asyncio.run])
@pytest.mark.parametrize("ahead_s", [0.02, 0.0003, 0.0, -1.0, -1e9])
def test_it_wakes_at_the_time_and_not_before(run: Run, ahead_s: float) -> None:
    async def work() -> None:
        alarm = open_alarm()
        assert isinstance(alarm, _FileAlarm)
        for _ in range(5):
            due = monotonic() + ahead_s
            await alarm.at(due)
            assert monotonic() >= due
        alarm.close()

    run(work())


def test_a_wait_that_was_given_up_does_not_end_the_next() -> None:
    async def work() -> None:
        alarm = open_alarm()
        given_up = asyncio.create_task(alarm.at(monotonic() + 0.001))
        await asyncio.sleep(0)
        given_up.cancel()
        due = monotonic() + 0.05
        await alarm.at(due)
        assert monotonic() >= due
        alarm.close()

    run_quickly(work())


def test_a_time_that_is_set_again_calls_back_once() -> None:
    async def work() -> list[str]:
        alarm, called, done = open_alarm(), [], asyncio.Event()
        alarm.call_at(monotonic() + 0.001, lambda: called.append("first"))
        alarm.call_at(monotonic() + 0.002, lambda: (called.append("second"), done.set()))
        await done.wait()
        alarm.close()
        return called

    assert run_quickly(work()) == ["second"]


@pytest.mark.parametrize(("rate", "late_s", "sent_by_a_wait"), [(800.0, 0.0, 1), (3500.0, 0.001, 4)])
def test_a_schedule_waits_at_most_once_for_each_request(
    monkeypatch: pytest.MonkeyPatch, rate: float, late_s: float, sent_by_a_wait: int
) -> None:
    """Repeating a wait that ended too early keeps a core busy: it took fifty waits for each request. At a high rate, even one wait takes as much CPU time
    as the request, so several requests share it. None is sent before its time."""
    waits: list[float] = []
    call_at = _FileAlarm.call_at

    def counted(alarm: _FileAlarm, due: float, callback: Callable[[], None]) -> None:
        if callback.__name__ == "_send_due":
            waits.append(due)
        call_at(alarm, due, callback)

    monkeypatch.setattr(_FileAlarm, "call_at", counted)

    async def work() -> list[float]:
        async with serving(events=2) as stub:
            loaded = Loaded(stub.url, LoadSettings(profile="constant", levels=(rate,), requests=150))
            await loaded.run()
            times = [(record.planned, record.sent) for record in loaded.records]
            assert all(
                planned is not None and sent is not None and planned <= sent for planned, sent in times
            )
            return [loaded.test.zero + (planned or 0.0) + late_s for planned, _ in times]

    ends = run_quickly(work())
    assert len(waits) <= 150 / sent_by_a_wait + 1
    assert all(any(abs(due - end) < 1e-6 for end in ends) for due in waits)


def test_it_leaves_no_file_open() -> None:
    async def work() -> None:
        before = os.listdir("/proc/self/fd")
        for _ in range(3):
            open_alarm().close()
        assert os.listdir("/proc/self/fd") == before

    asyncio.run(work())


@pytest.mark.parametrize("missing", ["platform", "function"])
def test_other_systems_use_the_timers_of_the_loop(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    module = import_module("benchwright.perf._alarm")

    async def work() -> Alarm:
        if missing == "platform":
            monkeypatch.setattr(module.sys, "platform", "darwin")
        else:
            monkeypatch.setattr(module.ctypes, "PyDLL", lambda *_, **__: object())
        alarm = open_alarm()
        await alarm.at(monotonic() + 0.001)
        await alarm.at(monotonic() - 1)
        alarm.close()
        return alarm

    assert isinstance(asyncio.run(work()), _LoopAlarm)
