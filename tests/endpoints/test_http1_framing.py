"""Body framings and server-sent events do not care where the bytes are cut."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchwright.endpoints._chunks import ChunkedBody, LibraryChunks, PlainChunks
from benchwright.endpoints._http1 import RawHeaders, SizedBody, parse_head
from benchwright.endpoints._sse import SseReader
from benchwright.endpoints._transport import TransportFailure

cuts = st.lists(st.integers(1, 12), max_size=40)


def cut_at(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]]


without = pytest.mark.skipif(find_spec("httptools") is None, reason="httptools is not installed")
chunkings = pytest.mark.parametrize("chunking", [pytest.param(LibraryChunks, marks=without), PlainChunks])


@chunkings
@given(chunks=st.lists(st.binary(min_size=1, max_size=30), max_size=6), sizes=cuts)
def test_chunks_survive_any_cut(
    chunking: Callable[[], ChunkedBody], chunks: list[bytes], sizes: list[int]
) -> None:
    wire = b"".join(b"%X\r\n%b\r\n" % (len(c), c) for c in chunks) + b"0\r\nX-Trailer: yes\r\n\r\n"
    body = chunking()
    found = [chunk for piece in cut_at(wire, sizes) if piece for chunk in body.feed(piece)]
    assert b"".join(found) == b"".join(chunks)
    assert all(found)
    assert body.done
    assert not body.surplus


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=("Cs",)), max_size=20), max_size=6
    ),
    cuts,
    st.booleans(),
)
def test_events_survive_any_cut(texts: list[str], sizes: list[int], crlf: bool) -> None:
    end = b"\r\n" if crlf else b"\n"
    wire = (
        b": comment" + end + b"".join(b"event: x" + end + b"data: " + t.encode() + end + end for t in texts)
    )
    reader = SseReader()
    events = [e.decode() for piece in cut_at(wire, sizes) for e in reader.feed(piece)]
    assert events == texts
    assert list(reader.finish()) == []


@pytest.mark.parametrize(
    ("wire", "events"),
    [
        (b"data:no space\n\n", [b"no space"]),
        (b"data:  two\n\n", [b" two"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data: unfinished", [b"unfinished"]),
        (b"data: unfinished\n", [b"unfinished"]),
        (b"\n\n: ping\n\nid: 1\n\n", []),
    ],
)
def test_event_forms(wire: bytes, events: list[bytes]) -> None:
    reader = SseReader()
    assert [*reader.feed(wire), *reader.finish()] == events


def test_sized_body_reports_surplus() -> None:
    body = SizedBody(3)
    assert (body.feed(b"ab"), body.done) == ([b"ab"], False)
    assert (body.feed(b"cd"), body.done, body.surplus) == ([b"c"], True, True)


def test_head_fields() -> None:
    head = parse_head(
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 7\r\nContent-Encoding: identity"
    )
    assert (head.status, head.length, head.chunked, head.keep_alive, head.encoding) == (
        200,
        7,
        False,
        False,
        "",
    )
    assert parse_head(b"HTTP/1.0 200 OK\r\nContent-Length: 1").keep_alive is False
    assert parse_head(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1").keep_alive is True
    with pytest.raises(TransportFailure):
        parse_head(b"HTTP/2 200")


def test_raw_headers_are_case_insensitive_and_give_the_first() -> None:
    headers = RawHeaders(b"HTTP/1.1 200 OK\r\nRetry-After:  3 \r\nX-A: 1\r\nx-a: 2")
    assert (headers.get("retry-after"), headers.get("x-a"), headers.get("none")) == ("3", "1", None)


@chunkings
@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    "further",
    [
        b"3\r\nabc\r\n",
        b"\r\n",
        b"\n",
        b"\r",
        b"x",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
@pytest.mark.parametrize("trailer", [b"", b"X-A: b\r\n", b"X-A:\r\n"])
def test_what_follows_the_last_chunk_is_no_part_of_the_body(
    chunking: Callable[[], ChunkedBody], size: int, further: bytes, trailer: bytes
) -> None:
    wire = b"2\r\nok\r\n0\r\n" + trailer + b"\r\n" + further
    body = chunking()
    found = [
        chunk
        for at in range(0, len(wire), size)
        if not body.done
        for chunk in body.feed(wire[at : at + size])
    ]
    assert b"".join(found) == b"ok"
    assert body.done
    ends = len(wire) - len(further)
    assert body.surplus == (ends % size != 0), "what came with the end is noticed; the rest comes to the next"


@chunkings
@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize(
    "wire",
    [
        b"1" * 17 + b"\r\n",
        b"-1\r\n",
        b"+1\r\n",
        b"0x1\r\n",
        b"1_0\r\n",
        b"\r\n",
        b"g\r\n",
        b" 1\r\n",
        b"2\r\nabc\r\n",
    ],
)
def test_a_wrong_size_is_no_reply(chunking: Callable[[], ChunkedBody], wire: bytes, size: int) -> None:
    body = chunking()
    with pytest.raises(TransportFailure) as raised:
        deque(map(body.feed, (wire[at : at + size] for at in range(0, len(wire), size))))
    assert raised.value.kind == "bad_reply"


@chunkings
@pytest.mark.parametrize("begin", [b"5;x=", b"0\r\nX-A: "])
def test_a_size_line_or_a_trailer_that_never_ends_is_given_up(
    chunking: Callable[[], ChunkedBody], begin: bytes
) -> None:
    body = chunking()
    body.feed(begin)
    with pytest.raises(TransportFailure, match="does not end"):
        deque(map(body.feed, [b"x" * 1024] * 80))


@chunkings
@given(
    bodies=st.lists(
        st.tuples(st.lists(st.binary(min_size=1, max_size=9), max_size=3), st.booleans(), cuts), max_size=4
    )
)
def test_one_body_after_the_other(chunking: Callable[[], ChunkedBody], bodies: list[Any]) -> None:
    body = chunking()
    for chunks, trailer, sizes in bodies:
        wire = b"".join(b"%x\r\n%b\r\n" % (len(c), c) for c in chunks) + b"0\r\n"
        wire += b"X-A: b\r\n\r\n" if trailer else b"\r\n"
        found = [chunk for piece in cut_at(wire, sizes) if piece for chunk in body.feed(piece)]
        assert b"".join(found) == b"".join(chunks)
        assert (body.done, body.surplus) == (True, False)
        body.restart()
        assert not body.done


@chunkings
def test_sizes_may_be_padded(chunking: Callable[[], ChunkedBody]) -> None:
    body = chunking()
    assert b"".join(body.feed(b"2  \r\nok\r\n0\r\n\r\n")) == b"ok"
    assert body.done
