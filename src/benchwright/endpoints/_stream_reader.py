"""One streamed reply as it is read: pieces with their times become events, an answer, and the times of its tokens."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from benchwright.endpoints._reasoning import answer_start
from benchwright.endpoints._sse import SseReader
from benchwright.endpoints._transport import Stamps
from benchwright.endpoints._wires.wire import Collector


class StreamReader:
    """Feeds a collector, and notes in `stamps` when what came. Events that came in one batch are read together; the time
    of each is that of the piece which completed it."""

    __slots__ = ("_all_times", "_events", "_stamps", "collected", "unread")

    def __init__(self, collected: Collector, stamps: Stamps, limit: int) -> None:
        self.collected = collected
        """What the events are put together by."""
        self.unread: list[bytes] = []
        """The body, until its first event: a server may answer with plain JSON instead."""
        self._events = SseReader(limit)
        self._stamps = stamps
        self._all_times: list[float] | None = None if stamps.arrivals is None else []
        stamps.last_byte = stamps.first_byte  # of the head, if no more comes

    def take(self, batch: list[tuple[bytes, float]]) -> bool:
        """Read pieces that have come; whether the answer, or an error in its place, is there.
        Raises EventTooLargeError and BadEventError; what came before is read, and stamped."""
        collected, stamps, reader = self.collected, self._stamps, self._events
        if not collected.events:
            self.unread += [piece for piece, _ in batch]
        last = stamps.last_byte = batch[-1][1]
        if len(batch) == 1:
            events = reader.feed(batch[0][0])
            times = None
        elif stamps.first_answer is not None and self._all_times is None:
            events = reader.feed(b"".join([piece for piece, _ in batch]))
            times = None
        else:
            events, times = [], []
            for piece, at in batch:
                found = reader.feed(piece)
                events += found
                times += [at] * len(found)
        over = self._add(events, times, last)
        if not over and reader.too_large is not None:
            raise reader.too_large
        return over

    def finish(self) -> None:
        """The body came to its proper end."""
        self._add(self._events.finish(), None, self._stamps.last_byte or 0.0)
        if self._events.too_large is not None:
            raise self._events.too_large
        self.collected.body_ended()

    def _add(self, events: list[bytes], times: list[float] | None, at: float) -> bool:
        """Put events together that arrived at `times`, or all of them at `at`."""
        collected, stamps = self.collected, self._stamps
        begun, known = collected.given, len(collected.tokens)
        try:
            collected.add_all(events)
        finally:
            if events and stamps.first_event is None:
                stamps.first_event = times[0] if times else at
            tokens = collected.tokens
            if len(tokens) > known:
                if stamps.first_token is None:
                    stamps.first_token = times[tokens[known] - begun] if times else at
                if stamps.first_answer is None and (first := collected.answer) is not None:
                    stamps.first_answer = times[first - begun] if times else at
            if self._all_times is not None:
                self._all_times += times if times is not None else [at] * len(events)
                if stamps.arrivals is not None:
                    all_times = self._all_times
                    stamps.arrivals += [all_times[token] for token in tokens[known:]]
            if times and collected.given - begun < len(events):  # what ended it; the rest is not read
                stamps.last_byte = times[collected.given - begun]
        return collected.done or collected.error is not None

    def correct_answer(self) -> None:
        """The reply is complete. If its text begins with thinking between tags, the answer begins after it; when that came is
        known only where all arrivals are."""
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
