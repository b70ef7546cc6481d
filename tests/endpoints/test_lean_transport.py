"""The lean HTTP/1.1 client: framing, reuse, deadlines, and the one reconnect it may do by itself."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any

import pytest
from loopback_server import Call, in_loop, one_after_another, serving

from benchwright.endpoints import _lean_connection
from benchwright.endpoints._lean import LeanTransport
from benchwright.endpoints._transport import Stamps, TransportFailure
from waiting import PATIENCE_S, until_in_loop

HEADERS = {"Content-Type": "application/json"}


async def hello(call: Call) -> None:
    await call.answer(b"hello")


async def post(
    transport: LeanTransport, url: str, payload: bytes = b"{}", timeout_s: float = PATIENCE_S
) -> bytes:
    return (await transport.post(url + "/x", payload, HEADERS, timeout_s)).body


def raw(
    *pieces: bytes, pause_s: float = 0.0, close: bool = False
) -> Callable[[Call], Coroutine[Any, Any, None]]:
    async def handle(call: Call) -> None:
        await call.raw(*pieces, pause_s=pause_s)
        if close:
            call.close()

    return handle


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 200 OK\r\ncontent-LENGTH:5\r\n\r\nhello", b"hello"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
            b"hello",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n",
            b"0123456789",
        ),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
            b"ok",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
@in_loop
async def test_replies_are_read_however_they_are_cut(reply: bytes, body: bytes, size: int) -> None:
    pieces = [reply[i : i + size] for i in range(0, len(reply), size)]
    async with serving(raw(*pieces)) as server:
        transport = LeanTransport(4)
        assert await post(transport, server.url) == body
        assert await post(transport, server.url) == body
        assert server.connections == 1, "the connection must have been kept"
        await transport.aclose()


@in_loop
async def test_body_without_length_ends_with_the_connection() -> None:
    async with serving(raw(b"HTTP/1.0 200 OK\r\n\r\nhel", b"lo", close=True)) as server:
        transport = LeanTransport(4)
        assert await post(transport, server.url) == b"hello"
        assert await post(transport, server.url) == b"hello"
        assert server.connections == 2
        await transport.aclose()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "not an HTTP reply"),
        (b"HTTP/1.1 abc\r\n\r\n", "not an HTTP reply"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n", "Content-Length"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "size line"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n", "size line"),
        (b"HTTP/1.1 101 Switching\r\n\r\n", "switched protocols"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "larger"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx", "'br'"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000, "head does not end"),
    ],
)
@in_loop
async def test_what_is_not_http_is_a_bad_reply(reply: bytes, words: str) -> None:
    async with serving(raw(reply)) as server:
        transport = LeanTransport(4)
        with pytest.raises(TransportFailure, match=words) as caught:
            await post(transport, server.url)
        assert caught.value.kind == "bad_reply"
        await transport.aclose()


@in_loop
async def test_growing_body_is_cut_off_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lean_connection, "MAX_BODY_BYTES", 1000)

    async def endless(call: Call) -> None:
        await call.events(*[b"x" * 100] * 20)

    async def bomb(call: Call) -> None:
        await call.answer(gzip.compress(b"x" * 100_000), Content_Encoding="gzip")

    for handler in (endless, bomb):
        async with serving(handler) as server:
            transport = LeanTransport(4)
            with pytest.raises(TransportFailure, match="larger"):
                await post(transport, server.url)
            await transport.aclose()


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate"])
@in_loop
async def test_compressed_bodies_are_unpacked(encoding: str) -> None:
    plain = b"hello " * 100
    packed = {
        "gzip": gzip.compress(plain),
        "deflate": zlib.compress(plain),
        "raw deflate": zlib.compress(plain)[2:-4],
    }
    body = packed[encoding]

    async def handle(call: Call) -> None:
        await call.answer(body, Content_Encoding=encoding.split()[-1])

    async with serving(handle) as server:
        transport = LeanTransport(4)
        assert await post(transport, server.url) == plain
        await transport.aclose()


@in_loop
async def test_damaged_or_cut_compression_is_a_broken_reply() -> None:
    whole = gzip.compress(b"hello " * 100)
    for body in (whole[:-10], b"\x00" + whole):

        async def handle(call: Call, body: bytes = body) -> None:
            await call.answer(body, Content_Encoding="gzip")

        async with serving(handle) as server:
            transport = LeanTransport(4)
            with pytest.raises(TransportFailure) as caught:
                await post(transport, server.url)
            assert caught.value.kind == "broken_stream"
            await transport.aclose()


@in_loop
async def test_request_on_a_stale_connection_is_not_sent_twice() -> None:
    async def hello_then_hang_up_on_reuse(call: Call) -> None:
        if sum(c.connection == call.connection for c in server.calls) == 2:
            call.close()
        else:
            await call.answer(b"hello")

    async with serving(hello_then_hang_up_on_reuse) as server:
        transport = LeanTransport(4)
        assert await post(transport, server.url) == b"hello"
        with pytest.raises(TransportFailure) as caught:
            await post(transport, server.url)
        assert (caught.value.kind, caught.value.stale, len(server.calls)) == ("connection", True, 2)
        assert await post(transport, server.url) == b"hello"
        assert server.connections == 2
        await transport.aclose()


@in_loop
async def test_connection_is_not_stale_after_the_first_byte_nor_when_new() -> None:
    async def half_on_reuse(call: Call) -> None:
        if call.number == 1:
            await call.answer(b"hello")
        else:
            await call.raw(b"HTTP/1.1 200")
            call.close()

    async with serving(half_on_reuse) as server:
        transport = LeanTransport(4)
        await post(transport, server.url)
        with pytest.raises(TransportFailure) as caught:
            await post(transport, server.url)
        assert (caught.value.kind, caught.value.stale, len(server.calls)) == ("broken_stream", False, 2)
        await transport.aclose()

    async def hang_up(call: Call) -> None:
        call.close()

    async with serving(hang_up) as server:
        transport = LeanTransport(4)
        with pytest.raises(TransportFailure) as caught:
            await post(transport, server.url)
        assert (caught.value.kind, caught.value.stale, len(server.calls)) == ("connection", False, 1)
        await transport.aclose()


def usable(transport: LeanTransport) -> bool:
    """Whether some connection could be used again."""
    return any(connection.usable for pool in transport._pools.values() for connection in pool.open)


@in_loop
async def test_connection_closed_while_idle_is_not_used_again() -> None:
    async def bye(call: Call) -> None:
        await call.answer(b"hello")
        call.close()

    async with serving(bye) as server:
        transport = LeanTransport(4)
        for _ in range(3):
            assert await post(transport, server.url) == b"hello"
            await until_in_loop(lambda: not usable(transport))
        assert (server.connections, len(server.calls)) == (3, 3)
        await transport.aclose()


@in_loop
async def test_unasked_bytes_and_surplus_bytes_end_the_connection() -> None:
    async with serving(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more")) as server:
        transport = LeanTransport(4)
        assert await post(transport, server.url) == b"hello"
        assert await post(transport, server.url) == b"hello"
        assert server.connections == 2
        await transport.aclose()

    async def timed_out_keep_alive(call: Call) -> None:
        await call.answer(b"hello")
        await asyncio.sleep(0.01)
        await call.raw(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")

    async with serving(timed_out_keep_alive) as server:
        transport = LeanTransport(4)
        assert await post(transport, server.url) == b"hello"
        await until_in_loop(lambda: not usable(transport))
        assert await post(transport, server.url) == b"hello"
        assert server.connections == 2
        await transport.aclose()


@in_loop
async def test_pool_reuses_the_last_connection_and_keeps_no_more_than_its_size() -> None:
    async def slow_first(call: Call) -> None:
        if call.number <= 4:
            await asyncio.sleep(0.01 * call.number)
        await call.answer(b"hello")

    async with serving(slow_first) as server:
        transport = LeanTransport(2)
        await asyncio.gather(*(post(transport, server.url) for _ in range(4)))
        assert server.connections == 4
        await post(transport, server.url)
        await post(transport, server.url)
        last = [call.connection for call in server.calls[4:]]
        assert last[0] == last[1], "last in, first out"
        await asyncio.gather(*(post(transport, server.url) for _ in range(2)))
        assert server.connections == 4
        await transport.aclose()


@in_loop
async def test_many_deadlines_need_one_sweeper() -> None:
    async def hang(call: Call) -> None:
        await asyncio.sleep(30)

    async with serving(hang) as server:
        transport = LeanTransport(4)
        begun = asyncio.get_running_loop().time()
        results = await asyncio.gather(
            *(post(transport, server.url, timeout_s=t) for t in (0.05, 0.1, 0.2)), return_exceptions=True
        )
        took = asyncio.get_running_loop().time() - begun
        assert [type(r) for r in results] == [TransportFailure] * 3
        assert {r.kind for r in results if isinstance(r, TransportFailure)} == {"timeout"}
        assert 0.19 < took < 20
        await transport.aclose()


@in_loop
async def test_cancelled_request_does_not_break_its_successor_on_the_same_connection() -> None:
    async with serving(hello) as server:
        transport = LeanTransport(1)
        for turns in range(30):
            first = asyncio.create_task(post(transport, server.url))
            # Cancelled at every stage: before sending, while waiting, and when the reply is just there.
            for _ in range(turns):
                await asyncio.sleep(0)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            assert await post(transport, server.url) == b"hello"
        await transport.aclose()


@in_loop
async def test_early_refusal_of_a_large_body_is_read() -> None:
    async def refuse(call: Call) -> None:
        await call.error(413, "too large")

    async with serving(refuse) as server:
        transport = LeanTransport(1)
        reply = await transport.post(server.url, b"x" * 3_000_000, HEADERS, 60.0)
        assert reply.status == 413
        await transport.aclose()


@in_loop
async def test_times_are_in_order() -> None:
    written: list[float] = []

    async def slow(call: Call) -> None:
        await asyncio.sleep(0.02)
        for piece in (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", b"b"):
            written.append(monotonic())
            await call.raw(piece, pause_s=0.02)

    async with serving(slow) as server:
        transport = LeanTransport(1)
        stamps = Stamps()
        await transport.post(server.url + "/x", b"{}", HEADERS, 60.0, stamps)
        times = stamps.times()
        assert times.sent is not None
        assert times.first_byte is not None
        assert times.last_byte is not None
        assert times.sent + 0.015 <= written[0] <= times.first_byte <= written[1] <= times.last_byte
        await transport.aclose()


@in_loop
async def test_streams_give_pieces_as_they_arrive_and_keep_the_connection() -> None:
    async def drip(call: Call) -> None:
        await call.events(b"one", b"two", b"three", pause_s=0.02)

    async with serving(drip) as server:
        transport = LeanTransport(1)
        for _ in range(2):
            stream = await transport.stream(server.url, b"{}", HEADERS, 60.0)
            assert stream.status == 200
            assert stream.headers.get("content-type") == "text/event-stream"
            pieces = [piece async for batch in stream for piece in zip(*batch, strict=True)]
            await stream.aclose()
            assert [data for data, _ in pieces] == [b"one", b"two", b"three"]
            assert (
                pieces[1][1] - pieces[0][1] > 0.01
            )  # the second is written so long after the first was read
        # A reader that has seen enough leaves the end of the body to the connection.
        stream = await transport.stream(server.url, b"{}", HEADERS, 60.0)
        await anext(stream)
        await stream.aclose()
        await until_in_loop(lambda: any(pool._idle for pool in transport._pools.values()))
        assert await post(transport, server.url) == b"onetwothree"
        assert server.connections == 1
        await transport.aclose()


@in_loop
async def test_stream_whose_end_never_comes_is_dropped_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lean_connection, "_DRAIN_S", 0.05)

    async def never_ends(call: Call) -> None:
        await call.events(b"one", end=False)
        await asyncio.sleep(30)

    async with serving(one_after_another(never_ends, hello)) as server:
        transport = LeanTransport(1)
        stream = await transport.stream(server.url, b"{}", HEADERS, PATIENCE_S)
        await anext(stream)
        await stream.aclose()
        await until_in_loop(lambda: not any(pool.open for pool in transport._pools.values()))
        assert await post(transport, server.url) == b"hello"
        await transport.aclose()


@in_loop
async def test_broken_and_stalled_streams_fail() -> None:
    async def breaks(call: Call) -> None:
        await call.events(b"one", end=False)
        call.reset()

    async def stalls(call: Call) -> None:
        await call.events(b"one", end=False)
        await asyncio.sleep(30)

    for handler, kind, timeout_s in ((breaks, "broken_stream", PATIENCE_S), (stalls, "timeout", 0.2)):
        async with serving(handler) as server:
            transport = LeanTransport(1)
            with pytest.raises(TransportFailure) as caught:
                async for _ in await transport.stream(server.url, b"{}", HEADERS, timeout_s):
                    pass
            assert caught.value.kind == kind
            await transport.aclose()


@in_loop
async def test_stream_on_a_stale_connection_is_not_sent_twice() -> None:
    async def hang_up_on_reuse(call: Call) -> None:
        if call.number == 2:
            call.close()
        else:
            await call.events(b"one")

    async with serving(hang_up_on_reuse) as server:
        transport = LeanTransport(1)
        await post(transport, server.url)
        with pytest.raises(TransportFailure) as caught:
            await transport.stream(server.url, b"{}", HEADERS, 60.0)
        assert (caught.value.stale, len(server.calls)) == (True, 2)
        stream = await transport.stream(server.url, b"{}", HEADERS, 60.0)
        assert [data async for batch in stream for data in batch[0]] == [b"one"]
        await transport.aclose()


@in_loop
async def test_a_server_that_closes_after_every_stream_loses_two_requests_at_most() -> None:
    served: set[int] = set()

    async def closes_after_a_stream(call: Call) -> None:
        if call.connection in served:
            call.close()  # it was closing when this request arrived
        else:
            served.add(call.connection)
            await call.events(b"one")

    lost = 0
    async with serving(closes_after_a_stream) as server:
        transport = LeanTransport(1)
        for _ in range(20):
            try:
                stream = await transport.stream(server.url, b"{}", HEADERS, 60.0)
            except TransportFailure as failure:
                lost += failure.stale
            else:
                assert [data async for batch in stream for data in batch[0]] == [b"one"]
        assert (lost, len(server.calls)) == (2, 20)
        await transport.aclose()


@pytest.mark.parametrize("closing", [2, 3, 6])
@in_loop
async def test_connections_are_kept_again_once_the_server_keeps_them(closing: int) -> None:
    """A server that closed some kept connections, and then no more: one of them is tried again later."""
    served: set[int] = set()
    closed = 0

    async def closes_a_few(call: Call) -> None:
        nonlocal closed
        if call.connection in served and closed < closing:
            closed += 1
            call.close()
        else:
            served.add(call.connection)
            await call.events(b"one")

    lost = 0
    async with serving(closes_a_few) as server:
        transport = LeanTransport(1)
        for _ in range(32 * 2 ** (closing - 1)):
            try:
                stream = await transport.stream(server.url, b"{}", HEADERS, 60.0)
            except TransportFailure as failure:
                lost += failure.stale
            else:
                assert [data async for batch in stream for data in batch[0]] == [b"one"]
        assert lost == closing
        last = [call.connection for call in server.calls[-5:]]
        assert len(set(last)) == 1
        await transport.aclose()


@in_loop
async def test_cancelled_stream_closes_its_connection() -> None:
    async def stalls(call: Call) -> None:
        await call.events(b"one", end=False)
        await asyncio.sleep(30)

    async def read(transport: LeanTransport, url: str) -> None:
        async for _ in await transport.stream(url, b"{}", HEADERS, 60.0):
            pass

    async with serving(one_after_another(stalls, hello)) as server:
        transport = LeanTransport(1)
        task = asyncio.create_task(read(transport, server.url))
        await until_in_loop(lambda: server.calls)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not any(pool.open for pool in transport._pools.values())
        assert await post(transport, server.url) == b"hello"
        assert server.connections == 2
        await transport.aclose()


def test_it_works_on_uvloop_too() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def scenario() -> None:
        async with serving(hello) as server:
            transport = LeanTransport(8)
            bodies = await asyncio.gather(*(post(transport, server.url) for _ in range(50)))
            assert bodies == [b"hello"] * 50
            stream = await transport.stream(server.url, b"{}", HEADERS, 60.0)
            assert b"".join([data async for batch in stream for data in batch[0]]) == b"hello"
            await transport.aclose()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(scenario())


@in_loop
async def test_what_a_server_says_unasked_on_a_kept_connection_answers_nothing() -> None:
    """A good-bye (408) that crosses a request which is not written yet: the request goes to a new connection."""
    async with serving(hello) as server:
        transport = LeanTransport(1)
        assert await post(transport, server.url) == b"hello"
        (kept,) = next(iter(transport._pools.values())).open
        asked = asyncio.create_task(post(transport, server.url))
        unasked = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"
        asyncio.get_running_loop().call_soon(kept.data_received, unasked)
        assert await asked == b"hello"
        assert await post(transport, server.url) == b"hello"
        assert (server.connections, len(server.calls)) == (2, 3)
        await transport.aclose()
