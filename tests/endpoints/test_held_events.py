"""Events of a stream are held as they come and read together later: nothing that is read, and no time, is another for it."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings, strategies as st

from benchwright.endpoints import _lean_connection
from benchwright.endpoints._clock import LOOP_CLOCK
from benchwright.endpoints._lean_connection import LeanConnection
from benchwright.endpoints._transport import Stamps

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n'
events = st.one_of(
    st.sampled_from(["a", "é", "\\n", "", "b" * 300]).map(lambda text: EVENT % text.encode()),
    st.sampled_from(
        [
            b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}\n\n',
            b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n',
            b'data: {"error":{"message":"no"}}\n\n', b'data: {"a":\ndata: 1}\n\n', b": hello\n\n", b"\xef\xbb\xbf",
            b'data: {"a":1}\r\n\r\n', b'data: {"a":1}\n', b"data: [DONE]\n\n", b"data: [DONE]\n", b"}\n\n", b"\r\n",
            b"0\r\n\r\n", b"x}\n\n\r\n0\r\n\r\n", b"y" * 20_000 + b"}\n\n",
        ]
    ),
)  # fmt: skip
chunks = st.tuples(events, st.sampled_from([b"%x\r\n%b\r\n"] * 5 + [b"%x;a=b\r\n%b\r\n"])).map(
    lambda drawn: drawn[1] % (len(drawn[0]), drawn[0])
)
endings = st.sampled_from(
    [
        b"0\r\n\r\n",
        b"0\r\n\r\n",
        b"0\r\nX: }\r\n\r\n",
        b"",
        b"0\r\n",
        b"zz\r\n",
        b"0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ]
)
heads = st.sampled_from(
    [HEAD, HEAD, HEAD.replace(b"200 OK", b"500 No"), HEAD[:-2] + b"Connection: close\r\n\r\n"]
)


class Log:
    """Stands for the pool and the socket: what happened to the connection, in order."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def released(self, connection: LeanConnection) -> None:
        self.seen.append("released")

    def lost(self, connection: LeanConnection) -> None:
        if "lost" not in self.seen:
            self.seen.append("lost")

    def is_closing(self) -> bool:
        return bool(self.seen)

    def write(self, data: bytes) -> None: ...

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if "closed" not in self.seen:
            self.seen.append("closed")

    def get_write_buffer_size(self) -> int:
        return 0


class Ticking(type(LOOP_CLOCK)):  # type: ignore[misc]
    """A clock that goes on by one with each arrival."""

    at = 0.0

    def now(self) -> float:
        return self.at


def read(arrivals: list[bytes], then: str, nudged: int) -> Any:
    """All that comes of bytes which arrive one after the other, and of what happens then."""
    loop = asyncio.new_event_loop()
    clock, log, stamps = Ticking(), Log(), Stamps()
    try:
        connection = LeanConnection(log, "h:1", clock)
        connection.connection_made(log)  # type: ignore[arg-type]
        stream = connection.hold_streamed(b"", 5.0, loop.create_future(), stamps)
        connection.write_held(0.0)
        for number, data in enumerate(arrivals, 1):
            clock.at = float(number)
            if number == nudged and connection.stream is not None:
                connection.nudge()
            if "closed" not in log.seen:
                connection.data_received(data)
        if then == "lost":
            connection.connection_lost(None)
        elif then == "expired" and connection.deadline is not None:
            connection.expire()
        elif then == "closed":
            loop.run_until_complete(stream.aclose())
        if then != "closed":
            assert stream._over or then == "nothing"
        if connection.stream is not None:
            connection.nudge()
        return (
            stream._pieces, stream._times, stream.status, stream.headers.block, stream._over, repr(stream._failure),
            stamps, log.seen, connection.deadline is None,
        )  # fmt: skip
    finally:
        loop.close()


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:stop] for start, stop in pairwise(places)]


@settings(max_examples=200)
@given(
    heads,
    st.lists(chunks, max_size=8),
    endings,
    st.sampled_from(["together", "apart"]),
    st.lists(st.integers(0, 2000), max_size=4),
    st.sampled_from(["lost", "expired", "closed", "nothing"]),
    st.integers(0, 12),
)
@example(HEAD, [b"%x\r\n%b\r\n" % (49, EVENT % b"a")] * 80, b"0\r\n\r\n", "apart", [], "nothing", 0)
@example(HEAD, [b"%x\r\n%b\r\n" % (49, EVENT % b"a")] * 8, b"", "apart", [], "expired", 0)
@example(HEAD, [b"12\r\nx}\n\n\r\n0\r\n\r\n}\n\n\r\n\r\n\r\n"], b"0\r\n\r\n", "together", [], "nothing", 0)
def test_held_events_are_read_as_if_they_were_not(
    head: bytes, body: list[bytes], ending: bytes, how: str, cuts: list[int], then: str, nudged: int
) -> None:
    whole = [head, *body, ending]
    arrivals = split(b"".join(whole), cuts) if how == "together" else whole
    if how == "apart":
        for cut in cuts:  # one of them split in two
            at = cut % len(arrivals)
            arrivals[at : at + 1] = split(arrivals[at], [cut])
    arrivals = [data for data in arrivals if data]
    held = read(arrivals, then, nudged)
    with (
        patch.object(_lean_connection, "_EVENT_ENDS", ()),
        patch.object(_lean_connection, "_BODY_END", b"\0"),
    ):
        assert held == read(arrivals, then, nudged)


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
def test_usual_events_are_held_until_the_end_comes(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    event = (EVENT % b"a").replace(b"\n\n", end)
    arrivals = [HEAD, *[b"%x\r\n%b\r\n" % (len(event), event)] * 5, b"0\r\n\r\n"]
    reads: list[float] = []
    real = LeanConnection._read_body
    monkeypatch.setattr(
        LeanConnection, "_read_body", lambda self, data, at: (reads.append(self._now()), real(self, data, at))
    )
    pieces, times, *_ = read(arrivals, "nothing", 0)
    assert (pieces, times) == ([event] * 5, [2.0, 3.0, 4.0, 5.0, 6.0])
    assert reads[1:] == [7.0]
