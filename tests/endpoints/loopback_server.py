"""A small HTTP server on loopback whose handlers can misbehave in any way a test wants."""

from __future__ import annotations

import asyncio
import functools
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import orjson

from benchwright.core import ModelRequest, encode_json
from benchwright.endpoints import LOOP_CLOCK, USUAL, Clock, EndpointSettings, SendPolicy
from benchwright.endpoints._http_endpoint import HttpEndpoint
from benchwright.endpoints._lean import LeanTransport
from benchwright.endpoints._reqwest import ReqwestTransport
from benchwright.endpoints._transport import Transport
from waiting import until_in_loop

TransportName = Literal["lean", "reqwest"]


class Call:
    """One request as the server saw it, and the means to answer it, well or badly."""

    def __init__(
        self, number: int, connection: int, head: bytes, payload: bytes, writer: asyncio.StreamWriter
    ) -> None:
        line, _, rest = head.partition(b"\r\n")
        self.number = number
        self.connection = connection
        self.path = line.split()[1].decode()
        pairs = (h.partition(b":") for h in rest.split(b"\r\n") if h)
        self.headers = {k.decode().lower(): v.decode().strip() for k, _, v in pairs}
        self.payload = payload
        self.open = True
        self._writer = writer

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = orjson.loads(self.payload)
        return body

    async def raw(self, *pieces: bytes, pause_s: float = 0.0) -> None:
        """A pause begins when the client has read what was written: a busy one would find pieces joined, or lost to a reset."""
        for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()
            if pause_s:
                await until_in_loop(self._client_has_read, "the client to read")
            await asyncio.sleep(pause_s)

    def _client_has_read(self) -> bool:
        """Whether no byte waits at the client's end of the connection, or it has none."""
        ours, theirs = (f":{self._writer.get_extra_info(name)[1]:04X}" for name in ("sockname", "peername"))
        rows = (line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines())
        return all(
            row[4].endswith(":00000000") for row in rows if row[1].endswith(theirs) and row[2].endswith(ours)
        )

    async def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def json(self, value: Any, status: int = 200, **headers: str) -> None:
        await self.answer(orjson.dumps(value), status, Content_Type="application/json", **headers)

    async def says(self, text: str | None, **more: Any) -> None:
        await self.json(chat_json(text, **more))

    async def error(self, status: int, message: str = "try later", **headers: str) -> None:
        await self.json({"error": {"message": message}}, status, **headers)

    async def events(self, *pieces: bytes, pause_s: float = 0.0, end: bool = True) -> None:
        """A chunked stream, one chunk for each piece."""
        await self.raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for piece in pieces:
            await self.raw(b"%x\r\n%b\r\n" % (len(piece), piece), pause_s=pause_s)
        if end:
            await self.raw(b"0\r\n\r\n")

    def close(self) -> None:
        """Close the connection in the usual way (FIN)."""
        self.open = False
        self._writer.close()

    def reset(self) -> None:
        """Break the connection (RST)."""
        self.open = False
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


Handler = Callable[[Call], Awaitable[None]]


class LoopbackServer:
    """Runs in the test's own event loop."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.calls: list[Call] = []
        self.connections = 0
        self.port = 0
        self.scheme = "http"
        self._tasks: set[asyncio.Task[None]] = set()
        self._transports: list[asyncio.WriteTransport] = []

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._transports.append(writer.transport)
        self.connections += 1
        number = self.connections
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
                call = Call(len(self.calls) + 1, number, head, b"", writer)
                call.payload = await reader.readexactly(int(call.headers.get("content-length", "0")))
                self.calls.append(call)
                await self.handler(call)
                if not call.open:
                    return
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[LoopbackServer]:
    """A server with one handler for all requests."""
    server = LoopbackServer(handler)
    listening = await asyncio.start_server(server._serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    server.scheme = "https" if tls else "http"
    try:
        yield server
    finally:
        listening.close()
        for _ in range(5):  # what was accepted in the last turn gets a task, which can then be ended
            await asyncio.sleep(0)
        for task in list(server._tasks):
            task.cancel()
        await asyncio.gather(*server._tasks, return_exceptions=True)
        for transport in server._transports:
            transport.abort()  # a TLS one that was only closed waits for the other side to say good-bye
        await listening.wait_closed()
        for _ in range(3):
            await asyncio.sleep(0)


def make_transport(name: TransportName, parallelism: int = 8, clock: Clock = LOOP_CLOCK) -> Transport:
    if name == "lean":
        return LeanTransport(parallelism, clock)
    return ReqwestTransport(parallelism, proxy=None, verify=True, http2=False, clock=clock)


@asynccontextmanager
async def endpoint_at(
    url: str,
    transport: TransportName = "lean",
    policy: SendPolicy = USUAL,
    clock: Clock = LOOP_CLOCK,
    **settings: Any,
) -> AsyncIterator[HttpEndpoint]:
    """An endpoint with short pauses, so that tests are quick."""
    values: dict[str, Any] = {
        "url": url, "model_id": "m", "retry_backoff_s": 0.002, "request_timeout_s": 60.0, "parallelism": 8, **settings,
    }  # fmt: skip
    sends = make_transport(transport, values["parallelism"], clock)
    endpoint = HttpEndpoint(EndpointSettings(**values), sends, policy=policy, clock=clock)
    try:
        yield endpoint
    finally:
        await endpoint.aclose()


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Let pytest run an `async def` test."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


def one_after_another(*handlers: Handler) -> Handler:
    """The first handler for the first request, and so on; the last for all that follow."""

    async def handle(call: Call) -> None:
        await handlers[min(call.number, len(handlers)) - 1](call)

    return handle


def chat_json(text: str | None, finish_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "c1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }


def chat(content: str = "2+2?", **body: Any) -> ModelRequest:
    """A chat request."""
    full: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": content}], **body}
    return ModelRequest("chat", full, encode_json(full))


def completion(prompt: str = "2+2=", **body: Any) -> ModelRequest:
    """A completions request."""
    full: dict[str, Any] = {"model": "m", "prompt": prompt, **body}
    return ModelRequest("completions", full, encode_json(full))


def sse(*events: Any, done: bool = True) -> bytes:
    """Events as bytes."""
    lines = [b"data: " + orjson.dumps(event) + b"\n\n" for event in events]
    return b"".join([*lines, b"data: [DONE]\n\n"] if done else lines)


def delta(content: str | None = None, finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    """One event of a streamed chat reply."""
    piece = {**({} if content is None else {"content": content}), **more}
    return {"choices": [{"index": 0, "delta": piece, "finish_reason": finish_reason}]}


def cut(data: bytes, size: int) -> Sequence[bytes]:
    """Pieces of `size` bytes."""
    return [data[i : i + size] for i in range(0, len(data), size)]
