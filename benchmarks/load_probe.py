"""A bare asyncio client, the least that can time a stream: `python -m benchmarks.load_probe PORT REQUESTS IN_FLIGHT`.

Prints JSON: times to the first token by number, CPU seconds and wall seconds of the sending.
"""

from __future__ import annotations

import asyncio
import json
import sys
from time import monotonic, process_time


async def _worker(port: int, numbers: list[int], found: dict[int, float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while numbers:
        number = numbers.pop()
        body = json.dumps(
            {
                "model": "m",
                "messages": [{"role": "user", "content": f"Say something about {number}"}],
                "stream": True,
            }
        ).encode()
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (len(body), body)
        )
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


async def _main(port: int, requests: int, in_flight: int) -> None:
    found: dict[int, float] = {}
    numbers = list(range(requests - 1, -1, -1))
    wall, cpu = monotonic(), process_time()
    await asyncio.gather(*(_worker(port, numbers, found) for _ in range(in_flight)))
    print(json.dumps({"ttft": found, "cpu_s": process_time() - cpu, "wall_s": monotonic() - wall}))


if __name__ == "__main__":
    asyncio.run(_main(*map(int, sys.argv[1:4])))
