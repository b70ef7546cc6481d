"""How the number of requests under way follows what the server can take."""

from __future__ import annotations

import asyncio
from time import monotonic

import pytest
from fake_clock import FakeClock
from loopback_server import Call, chat, endpoint_at, in_loop, serving

from benchwright.endpoints._limiter import Limiter


def test_at_full_limit_places_are_given_without_waiting() -> None:
    limiter = Limiter(2)
    assert [limiter.try_acquire() for _ in range(3)] == [True, True, False]
    limiter.release()
    assert limiter.try_acquire()
    assert limiter.limit == 2


def test_a_refusal_halves_what_was_under_way_once_per_round_trip() -> None:
    limiter = Limiter(64)
    for _ in range(64):
        limiter.try_acquire()
    sent_at = monotonic()
    assert limiter.refused(sent_at)
    assert limiter.limit == 32
    assert not limiter.refused(sent_at), "sent before the cut: nothing new"
    assert limiter.limit == 32
    for _ in range(60):
        limiter.release()
    assert limiter.refused(monotonic())
    assert limiter.limit == 2, "four under way were too many, whatever the limit said"
    for _ in range(5):
        limiter.refused(monotonic())
    assert limiter.limit == 1


def test_successes_give_it_back_up_to_the_parallelism() -> None:
    limiter = Limiter(64)
    limiter.refused(monotonic())
    assert limiter.limit == 1
    limits = []
    for _ in range(2000):
        assert limiter.try_acquire()
        limiter.succeeded()
        limits.append(limiter.limit)
    assert limits == sorted(limits)
    assert limits[-1] == 64
    assert limits.index(64) < 700


@in_loop
async def test_waiters_are_served_in_order_and_retries_first() -> None:
    limiter = Limiter(1)
    assert limiter.try_acquire()
    order: list[str] = []

    async def wait(name: str, *, first: bool = False) -> None:
        await limiter.acquire(first=first)
        order.append(name)
        limiter.release()

    tasks = [asyncio.create_task(wait(name)) for name in ("a", "b")]
    await asyncio.sleep(0)
    tasks.append(asyncio.create_task(wait("again", first=True)))
    await asyncio.sleep(0)
    assert not limiter.try_acquire()
    limiter.release()
    await asyncio.gather(*tasks)
    assert order == ["again", "a", "b"]
    assert limiter.in_flight == 0


@in_loop
async def test_cancelled_waiter_loses_no_place() -> None:
    limiter = Limiter(1)
    limiter.try_acquire()
    waiting = asyncio.create_task(limiter.acquire())
    granted = asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    limiter.release()
    granted.cancel()  # in the same turn of the loop in which the place was handed over
    await asyncio.gather(granted, return_exceptions=True)
    assert limiter.in_flight == 0
    assert limiter.try_acquire()


@in_loop
async def test_hold_stops_everybody_for_as_long_as_asked() -> None:
    clock = FakeClock()
    limiter = Limiter(4, clock=clock)
    limiter.hold(0.05)
    limiter.hold(0.01)  # a shorter one does not end the longer one
    assert not limiter.try_acquire()
    waiting = asyncio.gather(*(limiter.acquire() for _ in range(4)))
    await asyncio.sleep(0)
    clock.advance_to(1000.049)
    assert limiter.in_flight == 0
    clock.advance_to(1000.051)
    assert all(await waiting)
    limiter.close()


@pytest.mark.parametrize("status", [429, 503])
@in_loop
async def test_limit_finds_a_small_servers_size_and_grows_again(status: int) -> None:
    room = 4
    busy = 0

    async def small(call: Call) -> None:
        nonlocal busy
        if busy >= room:
            await call.error(status, "busy")
            return
        busy += 1
        await asyncio.sleep(0.002)
        busy -= 1
        await call.says("four")

    async with serving(small) as server, endpoint_at(server.url, parallelism=32, max_retries=3) as endpoint:
        replies = await asyncio.gather(*(endpoint.send(chat()) for _ in range(300)))
        answered = sum(reply.status == "answered" for reply in replies)
        assert answered >= 285, f"{answered} of 300 answered"
        assert endpoint.limit <= 12
        room = 1000
        replies = await asyncio.gather(*(endpoint.send(chat()) for _ in range(400)))
        assert all(reply.status == "answered" for reply in replies)
        assert endpoint.limit == 32
        assert endpoint.in_flight == 0


@in_loop
async def test_parallelism_is_never_exceeded() -> None:
    most = busy = 0

    async def watch(call: Call) -> None:
        nonlocal most, busy
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.003)
        busy -= 1
        await call.says("four")

    async with serving(watch) as server, endpoint_at(server.url, parallelism=5) as endpoint:
        await asyncio.gather(*(endpoint.send(chat()) for _ in range(40)))
        assert most == 5
        assert server.connections == 5
