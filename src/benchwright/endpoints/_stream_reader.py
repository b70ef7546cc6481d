"""Reads one streamed reply: turns pieces with arrival times into events, an answer, and the times of its tokens."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from benchwright.endpoints._reasoning import answer_start
from benchwright.endpoints._sse import SseReader
from benchwright.endpoints._transport import Stamps
from benchwright.endpoints._wires.alike import MOST_BYTES
from benchwright.endpoints._wires.wire import Collector


class StreamReader:
    """Feeds a collector and notes arrival times in `stamps`. Events of one batch are read together; the time of each is that
    of the piece that completed it."""

    __slots__ = ("_all_times", "_events", "_given", "_stamps", "_together", "_tokens", "collected", "unread")

    def __init__(self, collected: Collector, stamps: Stamps, limit: int) -> None:
        self.collected = collected
        """Assembles the events."""
        self.unread: list[bytes] = []
        """The body, until its first event: a server may answer with plain JSON instead."""
        self._events = SseReader(limit)
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
