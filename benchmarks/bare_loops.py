"""Bare client loops, the ceiling: rows from a file become requests, replies are parsed, nothing is kept.

Each loop runs in a process of its own and prints one JSON object; its CPU time starts after the imports.

    python -m benchmarks.bare_loops pyreqwest --url http://127.0.0.1:8080/v1 --rows qa.jsonl --in-flight 64
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import orjson
import uvloop

from benchmarks.data import ACCURACY, QA_PROMPT
from benchmarks.processes import BenchError, Command, StubAddress, Usage, measure

Post = Callable[[bytes], Awaitable[bytes]]
"""Sends a body to the chat route and returns the reply's body."""


class _Wire(asyncio.Protocol):
    """One connection of the hand-written loop: a request at a time, `content-length` replies only."""

    def __init__(self) -> None:
        self._reply: asyncio.Future[bytes] | None = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def ask(self, head: bytes, body: bytes) -> asyncio.Future[bytes]:
        self._reply = asyncio.get_running_loop().create_future()
        self._transport.write(head % len(body) + body)
        return self._reply

    def data_received(self, data: bytes) -> None:
        data = self._buffer + data if self._buffer else data
        end = data.find(b"\r\n\r\n")
        if end > 0:
            start = data.find(b"content-length:") + 15
            if len(data) >= end + 4 + int(data[start : data.find(b"\r", start)]) and self._reply:
                self._buffer = b""
                self._reply.set_result(data[end + 4 :])
                return
        self._buffer = data


@asynccontextmanager
async def hand_written(url: str, in_flight: int) -> AsyncIterator[Post]:
    """The least Python can do: an `asyncio.Protocol` without errors, timeouts or chunked replies."""
    at = urlsplit(url)
    loop = asyncio.get_running_loop()
    host, port = at.hostname or "127.0.0.1", at.port or 80
    head = (
        f"POST {at.path}/chat/completions HTTP/1.1\r\nhost: {at.netloc}\r\ncontent-type: application/json\r\n"
    )
    template = head.encode() + b"content-length: %d\r\n\r\n"
    idle = [(await loop.create_connection(_Wire, host, port))[1] for _ in range(in_flight)]

    async def post(body: bytes) -> bytes:
        wire = idle.pop()
        try:
            return await wire.ask(template, body)
        finally:
            idle.append(wire)

    yield post


@asynccontextmanager
async def pyreqwest(url: str, in_flight: int) -> AsyncIterator[Post]:
    """The pyreqwest client, one pool."""
    from pyreqwest.client import ClientBuilder

    builder = (
        ClientBuilder()
        .no_proxy()
        .max_connections(in_flight)
        .default_headers({"content-type": "application/json"})
    )
    target = f"{url}/chat/completions"
    async with builder.build() as client:

        async def post(body: bytes) -> bytes:
            reply = await client.post(target).body_bytes(body).build().send()
            return bytes(await reply.bytes())

        yield post


@asynccontextmanager
async def transport(url: str, in_flight: int) -> AsyncIterator[Post]:
    """What benchwright itself sends with, below its endpoints: no retries, no limiter, no reply parsing."""
    # Private to its room; a ceiling is measured below the front.
    from benchwright.endpoints._lean import LeanTransport

    opened = LeanTransport(in_flight)
    headers = {"content-type": "application/json"}
    target = f"{url}/chat/completions"

    async def post(body: bytes) -> bytes:
        return (await opened.post(target, body, headers, 120.0)).body

    try:
        yield post
    finally:
        await opened.aclose()


CLIENTS = {"hand_written": hand_written, "pyreqwest": pyreqwest, "transport": transport}


async def drive(client: str, url: str, rows: Path, in_flight: int) -> dict[str, float]:
    """Send every row, `in_flight` at a time, and compare answers with the row's."""
    right = total = 0

    async def worker(post: Post) -> None:
        nonlocal right, total
        for line in lines:
            row = orjson.loads(line)
            message = {"role": "user", "content": QA_PROMPT.format(question=row["question"])}
            body = {
                "model": "stub",
                "messages": [message],
                "temperature": 0.0,
                "max_tokens": 256,
                "top_p": 1.0,
            }
            reply = orjson.loads(await post(orjson.dumps(body)))
            right += reply["choices"][0]["message"]["content"] == row["answer"]
            total += 1

    with rows.open("rb") as file:
        lines = iter(file)
        async with CLIENTS[client](url, in_flight) as post:
            began, cpu_began = time.perf_counter(), time.process_time()
            await asyncio.gather(*(worker(post) for _ in range(in_flight)))
            cpu_s, wall_s = time.process_time() - cpu_began, time.perf_counter() - began
    return {"rows": total, "cpu_us_per_row": 1e6 * cpu_s / total, "wall_s": wall_s, "accuracy": right / total}


def bare_loop(client: str, rows: Path, at: StubAddress, work: Path, in_flight: int) -> Usage:
    """Run one loop in a process of its own."""
    command: Command = [sys.executable, "-m", "benchmarks.bare_loops", client, "--url", at.base_url]
    command += ["--rows", rows, "--in-flight", str(in_flight)]
    root = Path(__file__).resolve().parents[1]
    return measure(command, cwd=work, extra={"PYTHONPATH": str(root)})


def bare_cpu_us(used: Usage) -> float:
    """CPU per row that a loop reported, its answers checked."""
    said = json.loads(used.output)
    if abs(said["accuracy"] - ACCURACY) > 1e-9:
        raise BenchError(f"a bare loop got wrong answers: {used.output}")
    return float(said["cpu_us_per_row"])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="A bare client loop against the stub.")
    parser.add_argument("client", choices=sorted(CLIENTS))
    parser.add_argument("--url", required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--in-flight", type=int, default=64)
    given = parser.parse_args()
    print(json.dumps(uvloop.run(drive(given.client, given.url, given.rows, given.in_flight))))


if __name__ == "__main__":
    main()
