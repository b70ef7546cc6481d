"""Our reading of HTTP/1.1 replies against that of h11: any reply, cut anywhere, broken off anywhere."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from hypothesis import given, settings, strategies as st

from benchwright.endpoints import LOOP_CLOCK
from benchwright.endpoints._lean_connection import LeanConnection
from benchwright.endpoints._transport import HttpReply, Stamps, TransportFailure

names = st.sampled_from(["X-A", "content-TYPE", "Server", "x-b", "Date", "ETag"])
values = st.text(st.sampled_from("abc ;=\t\"'é,:"), max_size=12).map(str.strip)
headers = st.lists(st.tuples(names, values), max_size=4)
spaces = st.sampled_from(["", " ", "  ", "\t"])
bodies = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([b"data: {}\n\n", b"\r\n", b"0\r\n\r\n", b"5\r\nhello\r\n", b"x" * 3000]),
)


@st.composite
def replies(draw: st.DrawFn) -> bytes:
    """A reply that is right, in any of the forms the protocol allows."""
    status = draw(st.sampled_from([200, 200, 201, 204, 304, 400, 503]))
    version = draw(st.sampled_from(["1.1", "1.1", "1.0"]))
    reason = draw(st.sampled_from(["", "OK", "Very Odd (really)"]))
    body = b"" if status in (204, 304) else draw(bodies)
    lines = [f"HTTP/{version} {status} {reason}"]
    lines += [f"{name}:{draw(spaces)}{value}{draw(spaces)}" for name, value in draw(headers)]
    framing = draw(st.sampled_from(["length", "chunked", "open"])) if version == "1.1" else "length"
    if draw(st.booleans()):
        lines.append(draw(st.sampled_from(["Connection: close", "connection: Keep-Alive"])))
    if status in (204, 304):
        framing = "none"
    elif framing == "length":
        lines.append(
            f"{draw(st.sampled_from(['Content-Length', 'content-length']))}:{draw(spaces)}{len(body)}"
        )
    elif framing == "chunked":
        lines.append(draw(st.sampled_from(["Transfer-Encoding: chunked", "transfer-encoding:Chunked"])))
        body = draw(chunked(body))
    interim = b"HTTP/1.1 100 Continue\r\n\r\n" if draw(st.booleans()) and version == "1.1" else b""
    return interim + "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@st.composite
def chunked(draw: st.DrawFn, body: bytes) -> bytes:
    pieces, at = [], 0
    while at < len(body):
        size = draw(st.integers(1, len(body) - at))
        form = draw(st.sampled_from([b"%x", b"%X", b"0%x", b"%x;ext=1", b'%x;a="b c"']))
        pieces.append(form % size + b"\r\n" + body[at : at + size] + b"\r\n")
        at += size
    trailer = draw(st.sampled_from([b"", b"", b"X-Trailer: 1\r\n"]))
    return b"".join(pieces) + b"0\r\n" + trailer + b"\r\n"


def read_by_h11(data: bytes) -> tuple[int, bytes] | None:
    """Status and body, or None for a reply that never ended."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("Host", "h"), ("Content-Length", "0")]))
    connection.send(h11.EndOfMessage())
    status, body = 0, b""
    try:
        connection.receive_data(data)
        for last in (False, True):
            if last:
                connection.receive_data(b"")
            while True:
                event: Any = connection.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    break
                if isinstance(event, h11.Response):
                    status = event.status_code
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    return status, body
                elif isinstance(event, h11.ConnectionClosed):
                    return None
    except h11.RemoteProtocolError:
        return None
    return None


class Pool:
    def released(self, connection: LeanConnection) -> None: ...

    def lost(self, connection: LeanConnection) -> None: ...


class Socket:
    def is_closing(self) -> bool:
        return False

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0


def read_by_us(pieces: list[bytes], *, streamed: bool) -> tuple[int, bytes] | TransportFailure:
    loop = asyncio.new_event_loop()
    try:
        connection = LeanConnection(Pool(), "h:1", LOOP_CLOCK)
        connection.connection_made(Socket())  # type: ignore[arg-type]
        waiter: asyncio.Future[HttpReply] = loop.create_future()
        if streamed:
            stream = connection.hold_streamed(b"", 5.0, loop.create_future(), Stamps())
        else:
            connection.hold(b"", 5.0, waiter, Stamps())
        connection.write_held(0.0)
        for piece in pieces:
            connection.data_received(piece)
        connection.connection_lost(None)
        if not streamed:
            assert waiter.done()
            error = waiter.exception()
            if error is not None:
                assert isinstance(error, TransportFailure)
                return error
            return waiter.result().status, waiter.result().body
        if stream._failure is not None:
            assert isinstance(stream._failure, TransportFailure)
            return stream._failure
        return stream.status, b"".join(stream._pieces)
    finally:
        loop.close()


@settings(max_examples=300)
@given(replies(), st.lists(st.integers(1, 40), max_size=30), st.booleans(), st.data())
def test_any_reply_is_read_as_h11_reads_it(
    data: bytes, sizes: list[int], streamed: bool, draw: st.DataObject
) -> None:
    if draw.draw(st.booleans(), label="broken off"):
        data = data[: draw.draw(st.integers(0, len(data)), label="at")]
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    ours = read_by_us([piece for piece in (*pieces, data[at:]) if piece], streamed=streamed)
    theirs = read_by_h11(data)
    if theirs is None:
        assert isinstance(ours, TransportFailure), ours
        assert ours.kind in ("connection", "broken_stream", "bad_reply")
    else:
        assert ours == theirs


@given(st.binary(max_size=80), st.lists(st.integers(1, 9), max_size=20), st.booleans())
def test_bytes_that_are_no_reply_never_raise(junk: bytes, sizes: list[int], streamed: bool) -> None:
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + junk
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    ours = read_by_us([piece for piece in (*pieces, data[at:]) if piece], streamed=streamed)
    whole = read_by_us([data], streamed=streamed)
    assert isinstance(ours, TransportFailure) == isinstance(whole, TransportFailure)
    if not isinstance(whole, TransportFailure):
        assert ours == whole == read_by_h11(data)
