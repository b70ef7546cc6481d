"""Servers in virtual time: given the times at which requests arrive, when does each have its reply? Nothing here reads a clock."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from itertools import accumulate, count
from math import log2
from random import Random
from typing import NamedTuple, TypeAlias

Serve: TypeAlias = Callable[[Sequence[float], Random], list[float | None]]
"""How long each request takes; None: it was refused (429 or 503)."""


def slots(number: int, service: float, *, jitter: float = 0.0, most_waiting: int | None = None) -> Serve:
    """A server with so many slots, first come first served; service times vary by `jitter` (lognormal) around their mean."""

    def serve(times: Sequence[float], dice: Random) -> list[float | None]:
        free = [0.0] * number
        waiting: deque[float] = deque()
        taken: list[float | None] = []
        for at in times:
            if most_waiting is not None:
                while waiting and waiting[0] <= at:
                    waiting.popleft()
                if len(waiting) >= most_waiting:
                    taken.append(None)
                    continue
            start = max(at, free[0])
            own = service * dice.lognormvariate(-jitter * jitter / 2, jitter) if jitter else service
            heapq.heapreplace(free, start + own)
            if most_waiting is not None and start > at:
                waiting.append(start)
            taken.append(start + own - at)
        return taken

    return serve


def batches(base: float, each: float, tokens: tuple[int, int], most: int) -> Serve:
    """A server that gives every running request a token per step; a step takes longer the more requests run."""

    def serve(times: Sequence[float], dice: Random) -> list[float | None]:
        taken: list[float | None] = [None] * len(times)
        waiting: deque[int] = deque()
        running: list[tuple[int, int]] = []
        at, arrived = 0.0, 0
        for step in count():
            if not running and not waiting:
                if arrived == len(times):
                    break
                at = max(at, times[arrived])
            while arrived < len(times) and times[arrived] <= at:
                waiting.append(arrived)
                arrived += 1
            while waiting and len(running) < most:
                heapq.heappush(running, (step + dice.randint(*tokens), waiting.popleft()))
            at += base + each * len(running)
            while running and running[0][0] <= step + 1:
                number = heapq.heappop(running)[1]
                taken[number] = at - times[number]
        return taken

    return serve


def warming_up(serve: Serve, seconds: float, slower: float) -> Serve:
    """A server that needs more time for requests of the first seconds."""

    def warmed(times: Sequence[float], dice: Random) -> list[float | None]:
        taken = serve(times, dice)
        return [
            each if each is None or at - times[0] > seconds else each * slower
            for at, each in zip(times, taken, strict=True)
        ]

    return warmed


def first_tokens(number: int, service: float, first: float, *, jitter: float) -> Serve:
    """The times to the first token of a server with slots: the wait for a slot, and the time for the prompt."""
    whole = slots(number, service, jitter=0.0)

    def serve(times: Sequence[float], dice: Random) -> list[float | None]:
        waits = whole(times, dice)
        return [
            None if each is None else each - service + first * dice.lognormvariate(0, jitter)
            for each in waits
        ]

    return serve


def with_noise(serve: Serve, mean: float, jitter: float) -> Serve:
    """A server behind a network that delays replies by a lognormal time."""

    def delayed(times: Sequence[float], dice: Random) -> list[float | None]:
        return [
            None if each is None else each + mean * dice.lognormvariate(-jitter * jitter / 2, jitter)
            for each in serve(times, dice)
        ]

    return delayed


def closed_slots(number: int, service: float, jitter: float) -> Callable[[int, float, Random], list[float]]:
    """The latencies of a server with slots that always has so many requests in flight, for so many seconds."""

    def serve(in_flight: int, seconds: float, dice: Random) -> list[float]:
        free = [0.0] * number
        ready = [0.0] * in_flight
        taken = []
        while ready[0] < seconds:
            at = ready[0]
            own = service * dice.lognormvariate(-jitter * jitter / 2, jitter)
            end = max(at, free[0]) + own
            heapq.heapreplace(free, end)
            heapq.heapreplace(ready, end)
            taken.append(end - at)
        return taken

    return serve


class SimulatedServer(NamedTuple):
    """A server, the load that it gets, and the limit that requests must keep."""

    serve: Serve
    profile: str
    limit: float
    capacity: float
    """The largest rate at which 99 % of requests keep the limit in the long run: exact where service and arrivals are constant and for
    one slot without jitter and twice its time; else interpolated between runs of 1.25 million requests at three rates, 3 % apart."""
    share: float = 0.99
    closed: Callable[[int, float, Random], list[float]] | None = None
    """Its latencies in a closed loop."""
    whole: bool = True
    """Whether its latencies are those of whole replies, not of first tokens."""


SERVERS = {
    "one slot, 5 times its time": SimulatedServer(slots(1, 0.1), "poisson", 0.5, 5.617),
    "one slot, 3 times its time": SimulatedServer(slots(1, 0.1), "poisson", 0.3, 3.206),
    "one slot, twice its time": SimulatedServer(slots(1, 0.02), "poisson", 0.04, 6.74),
    "one slot, constant": SimulatedServer(slots(1, 0.1), "constant", 0.3, 10.0),
    "one slot, jitter": SimulatedServer(slots(1, 0.1, jitter=0.4), "poisson", 0.5, 4.741),
    "one slot, jitter, constant": SimulatedServer(slots(1, 0.1, jitter=0.4), "constant", 0.5, 8.944),
    "4 slots": SimulatedServer(slots(4, 0.333), "poisson", 0.6, 6.494),
    "16 slots": SimulatedServer(slots(16, 1.0), "poisson", 1.3, 11.119),
    "8 slots, slow queue": SimulatedServer(slots(8, 0.7), "poisson", 5.0, 10.921),
    "8 slots, jitter": SimulatedServer(slots(8, 0.7, jitter=0.5), "poisson", 2.5, 9.543),
    "8 slots, constant": SimulatedServer(slots(8, 0.7), "constant", 2.0, 8 / 0.7),
    "refuses beyond 8 waiting": SimulatedServer(
        slots(4, 0.2, jitter=0.3, most_waiting=8), "poisson", 2.0, 16.644
    ),
    "refuses beyond 2 waiting, constant": SimulatedServer(
        slots(4, 0.2, jitter=0.5, most_waiting=2), "constant", 2.0, 16.677
    ),
    "batches of 32": SimulatedServer(batches(0.01, 0.001, (40, 40), 32), "poisson", 1.5, 13.499),
    "batches of 64, replies of any length": SimulatedServer(
        batches(0.01, 0.0008, (20, 100), 64), "poisson", 3.0, 11.548
    ),
    "batches of 16, constant": SimulatedServer(
        batches(0.01, 0.001, (40, 40), 16), "constant", 1.5, 16 / 1.04
    ),
    "5 slots": SimulatedServer(slots(5, 0.4), "poisson", 1.0, 9.433),
    "14 slots, jitter": SimulatedServer(slots(14, 0.5, jitter=0.3), "poisson", 1.2, 24.207),
    "one slot, little jitter": SimulatedServer(slots(1, 0.12, jitter=0.2), "poisson", 0.6, 4.472),
    "40 slots, jitter": SimulatedServer(slots(40, 1.2, jitter=0.25), "poisson", 2.5, 31.22),
    "3 slots, jitter, constant": SimulatedServer(slots(3, 0.3, jitter=0.5), "constant", 1.5, 9.444),
    "7 slots, constant": SimulatedServer(slots(7, 0.4), "constant", 1.5, 7 / 0.4),
    "refuses beyond 10 waiting": SimulatedServer(
        slots(8, 0.4, jitter=0.3, most_waiting=10), "poisson", 2.0, 17.674
    ),
    "batches of 16": SimulatedServer(batches(0.012, 0.0015, (30, 30), 16), "poisson", 2.0, 12.888),
    "batches of 30, replies of any length": SimulatedServer(
        batches(0.01, 0.001, (15, 90), 30), "poisson", 2.0, 7.674
    ),
    "batches of 25, constant": SimulatedServer(
        batches(0.015, 0.001, (35, 35), 25), "constant", 3.0, 25 / 1.4
    ),
}
"""Servers on which the constants of the search were chosen. Capacities are the mean of three bisections over 150,000 requests each, or as above; exact where
service and arrivals are constant."""


def _not_open(times: Sequence[float], dice: Random) -> list[float | None]:
    raise NotImplementedError


HELD_OUT = {
    "2 slots, little jitter": SimulatedServer(slots(2, 1.4, jitter=0.15), "poisson", 3.5, 0.6711),
    "120 slots, jitter": SimulatedServer(slots(120, 0.4, jitter=0.3), "poisson", 0.9, 293.6),
    "first tokens of 6 slots, 95 %": SimulatedServer(
        first_tokens(6, 0.5, 0.08, jitter=0.3), "poisson", 0.5, 9.296, 0.95, whole=False
    ),
    "10 slots, heavy tail": SimulatedServer(slots(10, 0.3, jitter=0.8), "poisson", 2.5, 31.21),
    "refuses beyond 20 waiting, 95 %": SimulatedServer(
        slots(12, 0.25, jitter=0.4, most_waiting=20), "poisson", 1.0, 49.66, 0.95
    ),
    "growing batches, 95 %": SimulatedServer(
        batches(0.02, 0.0025, (50, 50), 48), "poisson", 4.0, 4.765, 0.95
    ),
    "batches of 24, replies of 30 to 60": SimulatedServer(
        batches(0.015, 0.001, (30, 60), 24), "poisson", 2.5, 11.08
    ),
    "6 slots, slow at first": SimulatedServer(
        warming_up(slots(6, 0.35, jitter=0.2), 4.0, 2.0), "poisson", 1.4, 15.03
    ),
    "9 slots, noisy network": SimulatedServer(with_noise(slots(9, 0.4), 0.2, 0.7), "poisson", 1.6, 20.01),
    "20 slots, jitter, constant, 95 %": SimulatedServer(
        slots(20, 0.6, jitter=0.4), "constant", 1.6, 33.02, 0.95
    ),
    "one slot, 95 %": SimulatedServer(slots(1, 0.05, jitter=0.2), "poisson", 0.2, 12.04, 0.95),
    "12 slots, closed": SimulatedServer(_not_open, "concurrent", 0.95, 21, 0.99, closed_slots(12, 0.4, 0.2)),
    "5 slots, closed, 95 %": SimulatedServer(
        _not_open, "concurrent", 2.0, 15, 0.95, closed_slots(5, 0.5, 0.4)
    ),
}
"""Servers that were written after the method was chosen. They have shown three faults, which were mended, so they are no longer unseen. Capacities are the mean of three bisections over 100,000 requests each; of a closed
loop, the largest whole number in flight."""


def two_kinds(number: int, short: float, long: float, share: float) -> Serve:
    """A server with slots whose replies are short or, so often, long."""

    def serve(times: Sequence[float], dice: Random) -> list[float | None]:
        free = [0.0] * number
        taken: list[float | None] = []
        for at in times:
            end = max(at, free[0]) + (long if dice.random() < share else short)
            heapq.heapreplace(free, end)
            taken.append(end - at)
        return taken

    return serve


def routed_at_random(servers: int, service: float, jitter: float) -> Serve:
    """Servers with one slot each, behind a router that does not look whether one is busy."""

    def serve(times: Sequence[float], dice: Random) -> list[float | None]:
        free = [0.0] * servers
        taken: list[float | None] = []
        for at in times:
            place = dice.randrange(servers)
            free[place] = max(at, free[place]) + service * dice.lognormvariate(-jitter * jitter / 2, jitter)
            taken.append(free[place] - at)
        return taken

    return serve


def pausing(number: int, service: float, every: float, pause: float) -> Serve:
    """A server with slots that begins nothing new for a while at regular times."""

    def serve(times: Sequence[float], dice: Random) -> list[float | None]:
        free = [0.0] * number
        taken: list[float | None] = []
        for at in times:
            start = max(at, free[0])
            if start % every < pause:
                start += pause - start % every
            heapq.heapreplace(free, start + service)
            taken.append(start + service - at)
        return taken

    return serve


def newest_first(service: float, jitter: float) -> Serve:
    """A server with one slot that takes the request that came last."""

    def serve(times: Sequence[float], dice: Random) -> list[float | None]:
        taken: list[float | None] = [None] * len(times)
        waiting: list[int] = []
        at, arrived = 0.0, 0
        while arrived < len(times) or waiting:
            if not waiting:
                at = max(at, times[arrived])
            while arrived < len(times) and times[arrived] <= at:
                waiting.append(arrived)
                arrived += 1
            number = waiting.pop()
            at += service * dice.lognormvariate(-jitter * jitter / 2, jitter)
            taken[number] = at - times[number]
        return taken

    return serve


UNSEEN = {
    "one slot, slow": SimulatedServer(slots(1, 1.5, jitter=0.3), "poisson", 8.0, 0.3636),
    "4 slots, slow, 95 %": SimulatedServer(slots(4, 4.0, jitter=0.2), "poisson", 9.0, 0.7494, 0.95),
    "3 slots, slow, constant": SimulatedServer(slots(3, 5.0, jitter=0.3), "constant", 14.0, 0.5826, 0.95),
    "6 slots, very heavy tail": SimulatedServer(slots(6, 0.25, jitter=1.0), "poisson", 3.5, 21.96),
    "30 slots, heavy tail, 95 %": SimulatedServer(slots(30, 0.8, jitter=0.9), "poisson", 3.0, 35.41, 0.95),
    "8 slots, heavy tail, constant": SimulatedServer(slots(8, 0.4, jitter=0.8), "constant", 3.0, 19.02),
    "5 slots, short and long replies": SimulatedServer(two_kinds(5, 0.1, 1.2, 0.15), "poisson", 2.5, 15.61),
    "batches of 20, replies of 5 to 200": SimulatedServer(
        batches(0.012, 0.001, (5, 200), 20), "poisson", 9.0, 5.737, 0.95
    ),
    "6 servers, routed at random": SimulatedServer(routed_at_random(6, 0.2, 0.3), "poisson", 1.0, 15.48),
    "10 slots with pauses": SimulatedServer(pausing(10, 0.5, 20.0, 1.0), "poisson", 1.3, 16.19, 0.95),
    "one slot, newest first": SimulatedServer(newest_first(0.08, 0.3), "poisson", 0.6, 9.06, 0.95),
    "7 slots, heavy tail, closed": SimulatedServer(
        _not_open, "concurrent", 2.5, 22, 0.95, closed_slots(7, 0.5, 0.8)
    ),
}
"""Servers that no constant of the search was chosen on. Capacities are the mean of three bisections over 150,000 requests each, which
differed by up to 4 % where latencies scatter most."""


Draw: TypeAlias = Callable[[Random], float]
"""A service time."""


def first_come(number: int, draw: Draw) -> Serve:
    """A server with so many slots and any law of service times."""

    def serve(times: Sequence[float], dice: Random) -> list[float | None]:
        free = [0.0] * number
        taken: list[float | None] = []
        for at in times:
            end = max(at, free[0]) + draw(dice)
            heapq.heapreplace(free, end)
            taken.append(end - at)
        return taken

    return serve


def first_come_closed(number: int, draw: Draw) -> Callable[[int, float, Random], list[float]]:
    """The latencies of such a server that always has so many requests in flight, for so many seconds."""

    def serve(in_flight: int, seconds: float, dice: Random) -> list[float]:
        free, ready = [0.0] * number, [0.0] * in_flight
        taken = []
        while ready[0] < seconds:
            at = ready[0]
            end = max(at, free[0]) + draw(dice)
            heapq.heapreplace(free, end)
            heapq.heapreplace(ready, end)
            taken.append(end - at)
        return taken

    return serve


def _lognormal(jitter: float) -> Draw:
    return lambda dice: dice.lognormvariate(-jitter * jitter / 2, jitter)


def _short_and_long(share: float, times: float) -> Draw:
    short = 1 / (1 - share + share * times)
    return lambda dice: short * (times if dice.random() < share else 1.0)


LAWS: dict[str, Draw] = {
    "constant": lambda dice: 1.0,
    "uniform": lambda dice: dice.uniform(0.5, 1.5),
    "exponential": lambda dice: dice.expovariate(1.0),
    "lognormal 0.3": _lognormal(0.3),
    "lognormal 0.6": _lognormal(0.6),
    "lognormal 1": _lognormal(1.0),
    "lognormal 1.3": _lognormal(1.3),
    "short and long": _short_and_long(0.15, 10.0),
    "Pareto 2.5": lambda dice: 0.6 * dice.paretovariate(2.5),
}
"""Laws of service times with a mean of 1."""


def random_server(seed: int) -> tuple[str, SimulatedServer]:
    """Any server with slots, from 0.2 to 1,000 requests per second, and a limit that it can keep when it is idle: at most a third of the misses that are
    allowed. Its capacity is not known, only the rate at which all slots are busy."""
    dice = Random(seed)
    law = dice.choice([*LAWS])
    rate = 2 ** dice.uniform(-2.3, 10)
    number = round(2 ** dice.uniform(0, max(0.0, min(6.0, log2(8 * rate)))))  # a reply takes up to 8 s
    share = dice.choice((0.9, 0.95, 0.99))
    profile = dice.choice(("poisson", "poisson", "constant", "concurrent"))
    mean, drawn = number / rate, LAWS[law]
    idle = sorted(drawn(dice) for _ in range(20_000))[int(20_000 * (1 - (1 - share) / 3))]
    limit = mean * idle * dice.uniform(1.2, 4.0)

    def draw(dice: Random) -> float:
        return mean * drawn(dice)

    closed = first_come_closed(number, draw) if profile == "concurrent" else None
    server = SimulatedServer(first_come(number, draw), profile, limit, rate, share, closed)
    return f"{law}, {number} slots, {rate:.3g}/s, {profile}, {share:g} within {limit:.3g} s", server


def disturbed_server(seed: int) -> tuple[str, SimulatedServer]:
    """A random server; one in four is slow at first, and one in four has a noisy network, if it is in an open loop."""
    name, server = random_server(seed)
    dice, serve = Random(f"around {seed}"), server.serve
    if server.closed is not None:
        return name, server
    if dice.random() < 0.25:
        name, serve = f"{name}, slow at first", warming_up(serve, dice.uniform(1, 5), dice.uniform(1.2, 2.5))
    if dice.random() < 0.25:
        name, serve = f"{name}, noisy", with_noise(serve, server.limit * dice.uniform(0.05, 0.2), 0.7)
    return name, server._replace(serve=serve)


def misses_in_the_long_run(server: SimulatedServer, rate: float, requests: int = 100_000) -> float:
    """The share of requests beyond the limit at a rate, or with so many in flight."""
    dice = Random(5)
    if server.closed is not None:
        own = server.closed(int(rate), requests / server.capacity, dice)
        return sum(each > server.limit for each in own[len(own) // 50 :]) / (len(own) - len(own) // 50)
    gap = (lambda: dice.expovariate(rate)) if server.profile == "poisson" else (lambda: 1 / rate)
    taken = server.serve(list(accumulate(gap() for _ in range(requests))), dice)[requests // 50 :]
    return sum(each is None or each > server.limit for each in taken) / len(taken)
