"""Records of load tests on servers that exist on paper only: what every request must show is known exactly."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import BinaryIO

import pyarrow.parquet as pq

from benchwright.perf import RequestOutcome, RequestRecord, Requests


def streamed(
    number: int, sent: float, *, ttft: float = 0.05, gaps: Sequence[float] = (0.02,) * 31, close: float = 0.001, **fields: object
) -> RequestRecord:  # fmt: skip
    """A streamed reply with one token per event, unless fields say otherwise."""
    arrivals, at = [ttft], ttft
    for gap in gaps:
        at += gap
        arrivals.append(at)
    known: dict[str, object] = {
        "row": number,
        "prompt_hash": f"{number:016x}",
        "first_byte": sent + ttft / 2,
        "first_event": sent + ttft / 2,
        "first_token": sent + ttft,
        "first_answer": sent + ttft,
        "last_content": sent + at,
        "ended": sent + at + close,
        "arrivals": tuple(arrivals),
        "input_tokens": 100,
        "output_tokens": len(arrivals),
        "token_source": "usage",
        "requested_tokens": len(arrivals),
        "finish_reason": "length",
        **fields,
    }
    return RequestRecord(number=number, sent=sent, **known)  # type: ignore[arg-type]


def failed(
    number: int, sent: float, outcome: RequestOutcome, *, after: float = 0.1, **fields: object
) -> RequestRecord:
    """A request that ended without a reply."""
    return RequestRecord(number=number, sent=sent, ended=sent + after, outcome=outcome, row=number, **fields)  # type: ignore[arg-type]


def closed_loop(
    count: int, in_flight: int, latency: Callable[[int], float]
) -> Iterator[tuple[int, float, float]]:
    """Number, send and latency of requests of which `in_flight` are always under way."""
    free = [0.0] * in_flight
    for number in range(count):
        sent = heapq.heappop(free)
        seconds = latency(number)
        heapq.heappush(free, sent + seconds)
        yield number, sent, seconds


def queue(
    arrivals: Sequence[float], slots: int, service: Callable[[int], float]
) -> list[tuple[float, float]]:
    """When each of the requests that arrive begins to be served and when it is done, first come first served."""
    free = [0.0] * slots
    found = []
    for number, arrival in enumerate(arrivals):
        start = max(arrival, heapq.heappop(free))
        done = start + service(number)
        heapq.heappush(free, done)
        found.append((start, done))
    return found


def poisson(rate: float, count: int, seed: int = 7) -> list[float]:
    """Arrival times at random."""
    random, at, times = Random(seed), 0.0, []
    for _ in range(count):
        at += random.expovariate(rate)
        times.append(at)
    return times


def read_request_file(path: Path | BinaryIO) -> Requests:
    """The requests of a `requests.parquet`, by the columns that records have."""
    names = Requests.of([]).table.column_names
    return Requests(pq.read_table(path, columns=names).combine_chunks())
