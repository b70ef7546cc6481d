"""Many items at once: bounds, order, errors, and nothing left running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from benchwright import collect_async_iter, iter_async_with_concurrency


class Source:
    """Counts what was pulled and whether it was closed."""

    def __init__(self, count: int) -> None:
        self.pulled = 0
        self.closed = False
        self._count = count

    async def __aiter__(self) -> AsyncIterator[int]:
        try:
            for number in range(self._count):
                self.pulled += 1
                yield number
        finally:
            self.closed = True


def others() -> set[asyncio.Task[Any]]:
    return asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]


async def turns(count: int) -> None:
    """Let the event loop turn, so that whatever can happen has happened, however slow the machine is."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_results_keep_the_order_of_the_items() -> None:
    async def main() -> list[int]:
        async def worker(index: int, item: int) -> int:
            await asyncio.sleep(0.01 if index % 3 == 0 else 0)
            return item * 10

        return await collect_async_iter(iter_async_with_concurrency(Source(20), worker, max_concurrency=4))

    assert asyncio.run(main()) == [item * 10 for item in range(20)]


def test_completion_order_does_not_wait_for_the_slow() -> None:
    async def main() -> list[int]:
        others_done, left = asyncio.Event(), 5

        async def worker(index: int, item: int) -> int:
            nonlocal left
            if index == 0:
                await others_done.wait()
            else:
                left -= 1
                if left == 0:
                    others_done.set()
            return item

        return await collect_async_iter(
            iter_async_with_concurrency(Source(6), worker, max_concurrency=2, yield_order="completion")
        )

    found = asyncio.run(main())
    assert sorted(found) == list(range(6))
    assert found[-1] == 0


@pytest.mark.parametrize("order", ["input", "completion"])
def test_a_slow_first_item_does_not_let_the_intake_run_away(order: Any) -> None:
    async def main() -> tuple[int, int]:
        source, gate = Source(500), asyncio.Event()
        running = most = 0

        async def worker(index: int, item: int) -> int:
            nonlocal running, most
            running += 1
            most = max(most, running)
            try:
                if index == 0:
                    await gate.wait()
                await asyncio.sleep(0.001)
                return item
            finally:
                running -= 1

        results = iter_async_with_concurrency(source, worker, max_concurrency=4, buffer=6, yield_order=order)
        asker = asyncio.ensure_future(collect_async_iter(results))
        await asyncio.sleep(0.1)
        pulled = source.pulled
        gate.set()
        assert sorted(await asker) == list(range(500))
        return pulled, most

    pulled, most = asyncio.run(main())
    assert most == 4
    if order == "input":
        assert pulled <= 4 + 6


def test_nothing_is_pulled_while_nobody_asks() -> None:
    async def main() -> None:
        source = Source(100)

        async def worker(index: int, item: int) -> int:
            return item

        results = iter_async_with_concurrency(source, worker, max_concurrency=3)
        assert await anext(results) == 0
        await turns(50)
        before = source.pulled
        assert before <= 3 + 3 + 1
        await turns(50)
        assert source.pulled == before
        await results.aclose()  # type: ignore[attr-defined]
        assert source.closed

    asyncio.run(main())


@pytest.mark.parametrize("leave", ["break", "aclose", "error", "cancel"])
def test_nothing_goes_on_after_the_consumer_left(leave: str) -> None:
    async def main() -> None:
        started: list[int] = []
        ended: list[int] = []

        async def worker(index: int, item: int) -> int:
            started.append(index)
            try:
                if index == 2:
                    if leave == "error":
                        raise KeyError("two")
                    return item
                await asyncio.sleep(30)
                return item
            finally:
                ended.append(index)

        source = Source(100)
        results = iter_async_with_concurrency(source, worker, max_concurrency=5, yield_order="completion")
        if leave == "break":
            async for _ in results:
                break
            del results
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        elif leave == "aclose":
            await anext(results)
            await results.aclose()  # type: ignore[attr-defined]
        elif leave == "error":
            with pytest.raises(KeyError, match="two"):
                await collect_async_iter(results)
        else:
            task = asyncio.ensure_future(collect_async_iter(results))
            await turns(50)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert others() == set()
        assert sorted(started) == sorted(ended)

    asyncio.run(main())


def test_what_finished_before_an_error_is_yielded_first() -> None:
    async def main() -> list[int]:
        async def worker(index: int, item: int) -> int:
            if index == 3:
                await turns(50)  # the first three return at once
                raise RuntimeError("third")
            if index > 3:
                await asyncio.sleep(600)
            return item

        found: list[int] = []
        results = iter_async_with_concurrency(Source(50), worker, max_concurrency=5, yield_order="completion")

        async def listen() -> None:
            async for value in results:
                found.append(value)  # noqa: PERF401  # what came before the error is the point

        with pytest.raises(RuntimeError, match="third"):
            await listen()
        return found

    assert asyncio.run(main()) == [0, 1, 2]


def test_errors_can_be_yielded_as_outcomes() -> None:
    async def main() -> list[Any]:
        async def worker(index: int, item: int) -> int:
            if item % 2:
                raise ValueError(f"odd {item}")
            return item

        return await collect_async_iter(
            iter_async_with_concurrency(Source(4), worker, max_concurrency=2, on_error="yield")
        )

    outcomes = asyncio.run(main())
    assert [(o.index, o.row, o.value, str(o.error or "")) for o in outcomes] == [
        (0, 0, 0, ""), (1, 1, None, "odd 1"), (2, 2, 2, ""), (3, 3, None, "odd 3"),
    ]  # fmt: skip


def test_none_is_a_result_unless_dropped() -> None:
    async def main(drop: bool) -> list[Any]:
        async def worker(index: int, item: int) -> int | None:
            return None if item == 1 else item

        results = iter_async_with_concurrency(Source(3), worker, max_concurrency=2, drop_none=drop)
        return await collect_async_iter(results)

    assert asyncio.run(main(False)) == [0, None, 2]
    assert asyncio.run(main(True)) == [0, 2]


def test_a_failing_source_ends_the_iteration_and_the_workers() -> None:
    async def broken() -> AsyncIterator[int]:
        yield 0
        yield 1
        raise OSError("disk gone")

    async def main() -> None:
        async def worker(index: int, item: int) -> int:
            await asyncio.sleep(0 if index == 0 else 30)
            return item

        with pytest.raises(OSError, match="disk gone"):
            await collect_async_iter(iter_async_with_concurrency(broken(), worker, max_concurrency=8))
        assert others() == set()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"max_concurrency": 0}, "max_concurrency is 0"),
        ({"max_items": -1}, "max_items is -1"),
        ({"yield_order": "random"}, "yield_order is 'random'"),
        ({"on_error": "ignore"}, "on_error is 'ignore'"),
        ({"buffer": -1}, "buffer is -1"),
    ],
)
def test_bounds_that_cannot_be_are_refused(wrong: dict[str, Any], words: str) -> None:
    async def worker(index: int, item: int) -> int:
        return item

    with pytest.raises(ValueError, match=words):
        iter_async_with_concurrency(Source(1), worker, **wrong)


@settings(max_examples=40)
@given(
    st.integers(0, 30), st.one_of(st.none(), st.integers(1, 9)), st.sampled_from(["input", "completion"]),
    st.one_of(st.none(), st.integers(0, 40)), st.integers(0, 4),
)  # fmt: skip
def test_every_item_is_worked_on_once(
    count: int, limit: int | None, order: Any, most: int | None, buffer: int
) -> None:
    async def main() -> list[int]:
        async def worker(index: int, item: int) -> int:
            for _ in range((item * 7) % 5):
                await asyncio.sleep(0)
            return item

        results = iter_async_with_concurrency(
            Source(count), worker, max_concurrency=limit, yield_order=order, max_items=most, buffer=buffer
        )
        found = await collect_async_iter(results)
        assert others() == set()
        return found

    found = asyncio.run(main())
    expected = list(range(count if most is None else min(count, most)))
    assert (found if order == "input" else sorted(found)) == expected
