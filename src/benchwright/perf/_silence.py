"""How probable is it that nothing arrives for so long by chance? By the latencies of the same test.

Requests that are served at the same time end independently of each other, so the probability is the product of theirs. That of one request is the
share of others that took so much longer, of those that took as long as it had until then. Beyond the longest, a power law goes on that the slowest tenth
suggests: a heavy tail has slower requests than any that was seen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import exp, inf, log

from benchwright.perf._distributions import numbers
from benchwright.perf._requests import Requests
from benchwright.perf._slots import Served, number_of_slots

_SLOWEST, _FEWEST = 0.1, 5
"""The share of requests that tells the power law, and the fewest."""
_DOUBT = 2.0
"""The power is lower than it seems by so many standard errors."""
_SAME = 1e-6
_SURE = 0.002
"""The number of such spans that a test may have by chance."""
_MOST, _FEWEST_OF_SIDE = 1_000, 20
"""Requests on either side of a span that tell how many are served at the same time."""


class Silence:
    """The latencies of the requests of a stage."""

    def __init__(self, known: Requests) -> None:
        self._count = len(known)
        self._pauses = sorted(
            _longest_pause(each) for each in known["arrivals"].to_pylist() if each and len(each) > 1
        )
        self._first = sorted(numbers(known.seconds("sent", "first_token").drop_null()))
        self._whole = sorted(numbers(known.seconds("sent", "ended").drop_null()))
        ordered = known.in_order("sent")
        self._sent, self._ends = (numbers(ordered[name]) for name in ("sent", "ended"))

    def by_chance(self, held: Requests, start: float, end: float) -> bool:
        """Whether a test like this may have such a span: nothing arrives for these requests, which were in flight at its end."""
        columns = (
            held[name].to_pylist() for name in ("sent", "first_token", "ended", "last_content", "arrivals")
        )
        paused, first_late, late = [], [], []
        waits, ages = [], []
        for sent, first, ended, last, arrivals in zip(*columns, strict=True):
            since = max(start, sent)
            if first is not None and first <= start and (last is None or last >= end):
                paused.append(_longest_pause(arrivals))
            elif first is not None and first > start:
                first_late.append(first - sent)
                waits.append((since - sent, end - since))
            else:
                late.append(ended - sent)
                ages.append((since - sent, end - since))
        streaming = [_Law(self._pauses, paused).goes_on(0.0, end - start)] * len(paused)
        law, whole = _Law(self._first, first_late), _Law(self._whole, late)
        others = [*(law.goes_on(*each) for each in waits), *(whole.goes_on(*each) for each in ages)]
        # Those that have not begun wait for the others, and are no witnesses of their own.
        begun = max(1, self._slots_beside(start, end)) - len(streaming)
        witnesses = [*streaming, *sorted(others)[: max(0, begun)]]
        return self._count * exp(sum(log(max(each, 1e-300)) for each in witnesses)) > _SURE

    def _slots_beside(self, start: float, end: float) -> int:
        """How many requests the server serves at the same time, by those before and after a span."""
        ends = self._ends
        before = [place for place in range(bisect_left(self._sent, start)) if ends[place] <= start]
        after = range(bisect_left(self._sent, end), len(ends))
        sides = [side for side in (before[-_MOST:], after[:_MOST]) if len(side) >= _FEWEST_OF_SIDE]
        return max(
            (
                number_of_slots(
                    [
                        Served(
                            0.0,
                            tuple(self._sent[each] for each in side),
                            tuple(ends[each] for each in side),
                            (),
                        )
                    ]
                )
                for side in sides
            ),
            default=1,
        )


def _longest_pause(arrivals: Sequence[float] | None) -> float:
    return max((later - earlier for earlier, later in pairwise(arrivals or ())), default=0.0)


class _Law:
    """How long requests take, without those whose cause is in question."""

    def __init__(self, sample: Sequence[float], without: Iterable[float]) -> None:
        values = list(sample)
        for each in without:
            place = bisect_left(values, each)
            if place < len(values):
                del values[place]
        self._values = values
        number = max(_FEWEST, int(_SLOWEST * len(values)))
        self._top = number / max(1, len(values))
        self._from, self._power = inf, 0.0
        if len(values) > number and (least := values[-number - 1]) > 0:
            total = sum(log(each / least) for each in values[-number:])
            self._from = least
            self._power = number / total / (1 + _DOUBT / number**0.5) if total > 0 else inf

    def goes_on(self, age: float, more: float) -> float:
        """The probability that a request that has lasted so long lasts so much longer."""
        longer, as_long = self._beyond((age + more) * (1 - _SAME)), self._beyond(age * (1 + _SAME))
        return min(1.0, longer / as_long) if as_long else 1.0

    def _beyond(self, seconds: float) -> float:
        if not self._values:
            return 0.0
        share = (len(self._values) - bisect_left(self._values, seconds)) / len(self._values)
        if seconds <= self._from or self._power == inf:
            return share
        # At the end of the sample, the law is smoother than the few that are left.
        return self._top * exp(-self._power * log(seconds / self._from))
