"""Requests of one turn of the event loop are written together, and one that comes alone is written at once."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.endpoints.fake_clock import FakeClock

from benchwright.endpoints._lean import _TOGETHER_S, _WRITE_TOGETHER, LeanTransport


class Held:
    """A connection with a request."""

    def __init__(self, name: int, written: list[int]) -> None:
        self._name, self._written = name, written

    def write_held(self, now: float) -> None:
        self._written.append(self._name)


def test_the_first_for_a_while_goes_at_once_and_those_after_it_together() -> None:
    async def work() -> None:
        clock, written = FakeClock(), list[int]()
        transport: Any = LeanTransport(4, clock)

        def write(*names: int) -> list[int]:
            for name in names:
                transport._write_soon(Held(name, written))
            return written

        assert write(0) == [0]
        assert write(1, 2) == [0]
        await asyncio.sleep(0)
        assert written == [0, 1, 2]
        assert write(3) == [0, 1, 2]  # still the same rush
        clock.time += 2 * _TOGETHER_S
        assert write(4) == [0, 1, 2]  # not before those that wait
        await asyncio.sleep(0)
        assert written == [0, 1, 2, 3, 4]
        clock.time += 2 * _TOGETHER_S
        assert write(5) == [0, 1, 2, 3, 4, 5]
        many = range(6, 6 + _WRITE_TOGETHER)
        assert write(*many) == [*range(6), *many]  # more would delay the first of them

    asyncio.run(work())
