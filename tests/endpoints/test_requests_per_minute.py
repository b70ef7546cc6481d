"""A promise of so many requests a minute is kept, evenly, by everybody who shares the limiter."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from fake_clock import FakeClock

from benchwright.core import ConfigError
from benchwright.endpoints import EndpointSettings, Limiter
from waiting import PATIENCE_S


def test_places_are_handed_out_one_interval_apart() -> None:
    async def scenario() -> list[float]:
        clock = FakeClock()
        limiter = Limiter(8, per_minute=1200, clock=clock)
        times: list[float] = []

        async def worker() -> None:
            assert await limiter.acquire()
            times.append(clock.time)
            limiter.release()

        workers = [asyncio.create_task(worker()) for _ in range(5)]
        while not all(each.done() for each in workers):
            await asyncio.sleep(0)
            clock.advance_to(clock.time + 0.001)
        limiter.close()
        return times

    times = asyncio.run(scenario())
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert pauses == pytest.approx([0.05] * 4, abs=0.0021), "1200 a minute are 50 ms apart"


def test_whoever_leaves_the_queue_costs_no_time() -> None:
    async def scenario() -> bool:
        clock = FakeClock()
        limiter = Limiter(8, per_minute=600, clock=clock)
        assert limiter.try_acquire()
        assert not limiter.try_acquire(), "too soon"
        leaving = [asyncio.create_task(limiter.acquire()) for _ in range(5)]
        await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        staying = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        assert not staying.done()
        clock.advance_to(1000.101)
        taken = await asyncio.wait_for(staying, PATIENCE_S)
        limiter.close()
        return taken

    assert asyncio.run(scenario())


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="requests_per_minute"):
        EndpointSettings(url="http://h/v1", model_id="m", requests_per_minute=0)
