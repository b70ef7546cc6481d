"""A client that was the limit says so; one that was not, or that nobody can judge, does not."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest

from benchwright.perf._health import HealthMeter, WorkerHealth, judged, rare_collections

pytestmark = pytest.mark.usefixtures("bounds_of_the_client")
QUICK = tuple([0.0005] * 100)


def test_a_quick_client_is_ok() -> None:
    health = judged([WorkerHealth(QUICK, QUICK, cpu_s=1.0, wall_s=5.0)], open_loop=True)
    assert (health.verdict, health.reasons) == ("ok", ())
    assert health.cpu_shares == (0.2,)


def test_each_sign_makes_a_verdict_with_what_to_do() -> None:
    busy = WorkerHealth(QUICK, QUICK, cpu_s=4.9, wall_s=5.0)
    lagging = WorkerHealth(tuple([0.05] * 100), QUICK, cpu_s=3.0, wall_s=5.0)
    late = WorkerHealth(QUICK, tuple([0.2] * 100), cpu_s=3.0, wall_s=5.0)
    for worker, word in (
        (busy, "98 % of a core"),
        (lagging, "event-loop delay"),
        (late, "200 ms late at p99"),
    ):
        health = judged([worker], open_loop=True)
        assert health.verdict == "limit"
        (reason,) = health.reasons
        assert word in reason
        assert "--workers 2" in reason or "more than these" in reason
    assert judged([late], open_loop=False).verdict == "ok"  # a closed loop has no times to be late for


def test_more_processes_are_not_advised_to_a_client_that_did_not_use_its_own_core() -> None:
    lags = tuple([0.05] * 100)
    for fields, words in (
        ({"others": 1.9}, "other processes used 1.9 cores"),
        ({"stolen": 0.3, "others": 1.5}, "the host gave 30 % of this machine's CPU time to others"),
        ({}, "something else held it up"),
    ):
        (reason,) = judged(
            [WorkerHealth(lags, QUICK, cpu_s=0.25, wall_s=5.0, **fields)], open_loop=True
        ).reasons
        assert "used only 5 % of a core" in reason
        assert words in reason
        assert "--workers" not in reason


def test_one_worker_at_its_limit_is_enough() -> None:
    idle, busy = (WorkerHealth(QUICK, QUICK, cpu_s=cpu, wall_s=5.0) for cpu in (0.5, 4.9))
    assert judged([idle, busy], open_loop=True).verdict == "limit"


def test_a_short_stage_and_a_model_in_the_same_process_are_not_judged() -> None:
    short = WorkerHealth((0.5,), (0.5,), cpu_s=0.1, wall_s=0.1)
    assert judged([short], open_loop=True).verdict == "not_judged"
    busy = WorkerHealth(QUICK, QUICK, cpu_s=4.9, wall_s=5.0)
    inside = judged([busy], open_loop=True, inside=True)
    assert inside.verdict == "not_judged"
    assert "own process" in inside.reasons[0]


def test_ok_is_said_only_where_the_rule_was_applied() -> None:
    late = WorkerHealth(tuple([0.035] * 10), QUICK, cpu_s=0.1, wall_s=0.3)  # too few looks at the event loop
    assert judged([late], open_loop=False).verdict == "not_judged"
    longer = WorkerHealth(tuple([0.035] * 100), QUICK, cpu_s=0.1, wall_s=0.3)
    found = judged([longer], open_loop=False)
    assert found.verdict == "limit"
    assert "limit 20 ms" in found.reasons[0]


def test_the_meter_sees_a_blocked_loop_and_collections() -> None:
    async def work() -> WorkerHealth:
        meter = HealthMeter()
        meter.start()
        await asyncio.sleep(0.05)
        time.sleep(0.2)  # blocks on purpose
        gc.collect()
        await asyncio.sleep(0.05)
        return meter.stop()

    health = asyncio.run(work())
    assert max(health.lags) > 0.1
    assert health.gc_s > 0
    assert health.wall_s > 0.3


def test_collections_are_as_before_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen = [False]
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    monkeypatch.setattr(gc, "unfreeze", lambda: frozen.append(False))
    before = gc.get_threshold()
    with rare_collections():
        assert gc.get_threshold() != before
        assert frozen[-1]
    assert gc.get_threshold() == before
    assert not frozen[-1]


def test_several_reasons_have_one_cure_and_show_that_a_bound_is_passed() -> None:
    slow = WorkerHealth(tuple([0.0083] * 100), tuple([0.0151] * 100), cpu_s=0.15, wall_s=5.0)
    health = judged([slow], open_loop=True)
    told = "; ".join(health.reasons)
    assert health.verdict == "strained"
    assert "event-loop delay was 8.3 ms at p99 (warning above 8 ms" in told
    assert "sent 15.1 ms late" in told
    assert told.count("The client used only 3 % of a core") == 1
