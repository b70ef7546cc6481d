"""Where a scorer runs is decided by its share of the time, and no accident decides it for good."""

from __future__ import annotations

from benchwright.engine._scorer_pace import ScorerPace


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def in_loop() -> tuple[ScorerPace, Clock]:
    clock = Clock()
    pace = ScorerPace(in_threads=True, now=clock)
    pace.took_in_thread(0.0001)
    assert not pace.in_threads
    return pace, clock


def work(pace: ScorerPace, clock: Clock, *, took: float, between: float, calls: int) -> None:
    """Slow calls in the loop, with other work between them."""
    for _ in range(calls):
        clock.now += took + between
        pace.slow_in_loop(took)


def test_a_scorer_is_tried_in_threads_until_one_call_is_quick() -> None:
    pace = ScorerPace(in_threads=True, now=Clock())
    pace.took_in_thread(2.0)
    assert pace.in_threads
    pace.took_in_thread(0.001)
    assert not pace.in_threads


def test_a_quick_scorer_that_is_interrupted_now_and_then_stays_in_the_loop() -> None:
    pace, clock = in_loop()
    work(pace, clock, took=0.02, between=0.5, calls=1_000)
    assert not pace.in_threads


def test_a_slow_scorer_leaves_the_loop_after_three_calls() -> None:
    pace, clock = in_loop()
    work(pace, clock, took=0.005, between=0.001, calls=2)
    assert not pace.in_threads
    work(pace, clock, took=0.005, between=0.001, calls=1)
    assert pace.in_threads


def test_one_call_that_blocks_is_enough_however_seldom_it_is() -> None:
    pace, clock = in_loop()
    work(pace, clock, took=0.2, between=1_000.0, calls=1)
    assert pace.in_threads


def test_a_scorer_comes_back_once_it_is_quick_and_must_be_so_for_longer_each_time() -> None:
    pace, clock = in_loop()
    needed = []
    for _ in range(3):
        work(pace, clock, took=0.2, between=0.0, calls=1)
        for _ in range(5):
            pace.took_in_thread(0.0001)
        pace.took_in_thread(0.1)  # one slow call, and the count starts again
        count = 0
        while pace.in_threads:
            pace.took_in_thread(0.0001)
            count += 1
        needed.append(count)
    assert needed == [32, 64, 128]


def test_a_scorer_that_asks_a_model_never_comes_back() -> None:
    pace, _ = in_loop()
    pace.asks_a_model()
    for _ in range(1_000):
        pace.took_in_thread(0.0001)
    assert pace.in_threads
