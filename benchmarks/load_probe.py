"""A bare asyncio client, the least that can time a stream: `python -m benchmarks.load_probe PORT REQUESTS IN_FLIGHT [RATE [STREAM]]`.

Without a rate it keeps so many requests in flight, streams unless STREAM is 0. With one it sends whole requests at so many per second, each on an idle connection
or a new one. Prints JSON: times to the first token, or to the reply, by number; CPU seconds and wall seconds of the sending.
"""

from __future__ import annotations

import asyncio
import json
import sys
from time import monotonic, process_time


def _request(number: int, *, stream: bool) -> bytes:
    body = json.dumps(
        {
            "model": "m",
            "messages": [{"role": "user", "content": f"Say something about {number}"}],
            "stream": stream,
        }
    ).encode()
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
        % (len(body), body)
    )


async def _worker(port: int, numbers: list[int], found: dict[int, float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while numbers:
        number = numbers.pop()
        writer.write(_request(number, stream=True))
        sent = monotonic()
        first = None
        while (line := await reader.readline()) != b"0\r\n":
            if first is None and line.startswith(b"data:"):
                first = monotonic()
                found[number] = first - sent
            if line.startswith(b"data: {"):
                json.loads(line[6:])
        await reader.readline()
    writer.close()


async def _whole_worker(port: int, numbers: list[int], found: dict[int, float]) -> None:
    idle: list[_Connection] = []
    while numbers:
        await _ask(port, numbers.pop(), idle, found)
    for _, writer in idle:
        writer.close()


_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _ask(port: int, number: int, idle: list[_Connection], found: dict[int, float]) -> None:
    reader, writer = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", port)
    writer.write(_request(number, stream=False))
    sent = monotonic()
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(int(head.rpartition(b"Content-Length: ")[2].split(b"\r\n", 1)[0]))
    found[number] = monotonic() - sent
    json.loads(body)
    idle.append((reader, writer))


async def _at_rate(port: int, requests: int, rate: float, found: dict[int, float]) -> None:
    idle: list[_Connection] = []
    start = monotonic()
    async with asyncio.TaskGroup() as sent:
        for number in range(requests):
            if (left := start + number / rate - monotonic()) > 0:
                await asyncio.sleep(left)
            sent.create_task(_ask(port, number, idle, found))


async def _main(port: int, requests: int, in_flight: int, rate: int = 0, stream: int = 1) -> None:
    found: dict[int, float] = {}
    numbers = list(range(requests - 1, -1, -1))
    wall, cpu = monotonic(), process_time()
    if rate:
        await _at_rate(port, requests, rate, found)
    else:
        worker = _worker if stream else _whole_worker
        await asyncio.gather(*(worker(port, numbers, found) for _ in range(in_flight)))
    print(json.dumps({"ttft": found, "cpu_s": process_time() - cpu, "wall_s": monotonic() - wall}))


if __name__ == "__main__":
    asyncio.run(_main(*map(int, sys.argv[1:6])))
