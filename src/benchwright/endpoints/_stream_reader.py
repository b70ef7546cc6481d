"""Reads one streamed reply: turns pieces with arrival times into events, an answer, and the times of its tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate, groupby
from operator import itemgetter

from benchwright.endpoints._copies import begins_twice, copies_of_each
from benchwright.endpoints._reasoning import answer_start
from benchwright.endpoints._sse import SseReader
from benchwright.endpoints._transport import Stamps
from benchwright.endpoints._wires.alike import MOST_BYTES
from benchwright.endpoints._wires.wire import Collector


class StreamReader:
    """Feeds a collector and notes arrival times in `stamps`. Events of one batch are read together; the time of each is that
    of the piece that completed it."""

    __slots__ = (
        "_all_times", "_events", "_given", "_kept", "_kept_times", "_limit", "_stamps", "_together", "_tokens", "_twice",
        "collected", "unread",
    )  # fmt: skip

    def __init__(self, collected: Collector, stamps: Stamps, limit: int) -> None:
        self.collected = collected
        """Assembles the events."""
        self.unread: list[bytes] = []
        """The body, until its first event: a server may answer with plain JSON instead."""
        self._events = SseReader(limit)
        self._limit = limit
        self._twice: bool | None = None  # whether the first event came twice, as soon as that is known
        self._kept: list[bytes] = []  # all pieces, unless it did not
        self._kept_times: list[float] = []
        self._together = limit > 2 * MOST_BYTES  # else each event must be measured
        self._stamps = stamps
        self._given = self._tokens = 0
        self._all_times: list[float] | None = None if stamps.arrivals is None else []
        stamps.last_byte = stamps.first_byte  # that of the head, if no more arrives

    def take(self, pieces: list[bytes], times: list[float]) -> bool:
        """Read pieces that have arrived. Returns whether the answer, or an error in its place, is complete.
        Raises EventTooLargeError and BadEventError; what came before is read, and stamped."""
        collected, reader, stamps = self.collected, self._events, self._stamps
        if not collected.events:
            self.unread += pieces
        stamps.last_byte = times[-1]
        if self._twice is not False:
            self._keep(pieces, times)
        at, count, together = 0, len(pieces), self._together
        while at < count:
            # Most pieces are one event each, and most events look like the last one.
            if together and reader.clean and (alike := collected.add_alike(pieces, at)):
                if stamps.first_answer is None or self._all_times is not None:
                    self._stamp(times[at : at + alike])
                at += alike
                continue
            if self._add(reader.feed(pieces[at]), times[at]):
                return True
            at += 1
            if reader.too_large is not None:
                raise reader.too_large
        return False

    def _keep(self, pieces: list[bytes], times: list[float]) -> None:
        """Keep the pieces of a stream that begins with two equal events: perhaps all of its events came twice."""
        self._kept += pieces
        self._kept_times += times
        if self._twice is None:
            self._twice = begins_twice(b"".join(self._kept), self._limit)
        if self._twice is False:
            self._kept, self._kept_times = [], []

    def without_copies(self, empty: Callable[[], Collector]) -> bool:
        """Collect each event once, in another collector, if every event of the stream was sent equally often. Returns whether
        that is so, and can be told: at least one of the events must be of a kind that an answer has only once, which is one
        without content, or the one that ends the answer."""
        if not self._twice:
            return False
        reader = SseReader(self._limit)
        events = [
            (event, at)
            for piece, at in zip(self._kept, self._kept_times, strict=True)
            for event in reader.feed(piece)
        ]
        events += [(event, self._kept_times[-1]) for event in reader.finish()]
        runs = [[*same] for _, same in groupby(events, itemgetter(0))]
        last = runs.pop() if self.collected.done else []  # what came after the end was not read
        copies = copies_of_each(map(len, runs)) if runs else 1
        if copies < 2:
            return False
        collected, stamps = empty(), Stamps(first_byte=self._stamps.first_byte)
        stamps.arrivals = None if self._stamps.arrivals is None else []
        once = StreamReader(collected, stamps, self._limit)
        for run in runs:
            for event, at in run[: len(run) // copies]:
                once._add([event], at)
        if collected.events == len(collected.tokens) and not collected.complete:
            return False
        for event, at in last[:1]:
            once._add([event], at)
        for name in ("first_event", "first_token", "first_answer", "arrivals"):
            setattr(self._stamps, name, getattr(stamps, name))
        self.collected, self._all_times = collected, once._all_times
        return True

    def finish(self) -> None:
        """The body came to its proper end."""
        self._add(self._events.finish(), self._stamps.last_byte or 0.0)
        if self._events.too_large is not None:
            raise self._events.too_large
        self.collected.body_ended()

    def _add(self, events: list[bytes], at: float) -> bool:
        """Add events that arrived at the same time."""
        if not events:
            return False
        collected, stamps = self.collected, self._stamps
        try:
            if len(events) == 1:
                collected.add_next(events[0])
            else:
                collected.add_all(events)
        finally:
            if stamps.first_answer is None or self._all_times is not None:
                self._stamp([at] * len(events))
        if collected.done or collected.error is not None:
            stamps.last_byte = at  # that of the event that ended it; the rest is not read
            return True
        return False

    def _stamp(self, times: list[float]) -> None:
        """Note when the last events arrived. There may be more times than events, if one of them was bad."""
        collected, stamps = self.collected, self._stamps
        known, self._tokens = self._tokens, len(collected.tokens)
        begun, self._given = self._given, collected.given
        if stamps.first_event is None:
            stamps.first_event = times[0]
        if self._tokens > known:
            tokens = collected.tokens
            if stamps.first_token is None:
                stamps.first_token = times[tokens[known] - begun]
            if stamps.first_answer is None and (first := collected.answer) is not None:
                stamps.first_answer = times[first - begun]
        if self._all_times is not None:
            self._all_times += times
            if stamps.arrivals is not None:
                all_times = self._all_times
                stamps.arrivals += [all_times[token] for token in collected.tokens[known:]]

    @property
    def copied(self) -> bool:
        """Whether an event came again, as its id says."""
        return self._events.copies > 0

    def correct_answer(self) -> None:
        """Correct the time of the answer of a complete reply. If its text begins with reasoning between tags, the answer begins
        after it, and its time is known only if all arrivals are."""
        collected, stamps = self.collected, self._stamps
        text = "".join(collected.texts)
        if "think>" not in text or collected.thought:
            return
        start = answer_start(text)
        if start == 0:
            return
        first = collected.acted
        if start is not None:
            ends = list(accumulate(map(len, collected.texts)))
            said = collected.text_at[bisect_right(ends, start)]
            first = said if first is None else min(first, said)
        times = self._all_times
        stamps.first_answer = None if first is None or times is None else times[first]
