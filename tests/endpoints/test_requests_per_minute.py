"""A promise of so many requests a minute is kept, evenly, by everybody who shares the limiter."""

from __future__ import annotations

import asyncio
import itertools
from time import monotonic

import pytest

from benchwright.core import ConfigError
from benchwright.endpoints import EndpointSettings, Limiter


def test_places_are_handed_out_one_interval_apart() -> None:
    async def scenario() -> list[float]:
        limiter = Limiter(8, per_minute=1200)
        times: list[float] = []

        async def worker() -> None:
            assert await limiter.acquire()
            times.append(monotonic())
            limiter.release()

        await asyncio.gather(*(worker() for _ in range(5)))
        limiter.close()
        return times

    times = asyncio.run(scenario())
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert min(pauses) > 0.045, "1200 a minute are 50 ms apart"


def test_whoever_leaves_the_queue_costs_no_time() -> None:
    async def scenario() -> float:
        limiter = Limiter(8, per_minute=600)
        assert limiter.try_acquire()
        assert not limiter.try_acquire(), "too soon"
        leaving = [asyncio.create_task(limiter.acquire()) for _ in range(5)]
        await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        started = monotonic()
        assert await limiter.acquire()
        limiter.close()
        return monotonic() - started

    assert asyncio.run(scenario()) < 0.25


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="requests_per_minute"):
        EndpointSettings(url="http://h/v1", model_id="m", requests_per_minute=0)
