"""A sending process: `python -m benchwright.perf._worker`, which `ProcessCrew` starts and talks to in frames over its pipes.

It receives the test first, then one task for each phase. It returns the records of requests as they end, and then the
result of each phase. Until the controlling process has a record, it is in the worker's journal. When its input ends, because
the controlling process has gone, it ends at once.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct, msgpack

from benchwright.core import Redactor, ready
from benchwright.endpoints import ModelSettings
from benchwright.perf._health import rare_collections, run_quickly
from benchwright.perf._journal import Journals
from benchwright.perf._loop import PhaseLoop, PhaseResult, PhaseTask
from benchwright.perf._plan import RequestPlan
from benchwright.perf._values import LoadSettings, RequestRecord, encode_record

SIZE_BYTES = 8
"""Bytes of the length before each frame."""


class WorkerJob(Struct, frozen=True):
    """The data that a worker needs before the first phase. Sent through a pipe, pickled."""

    settings: LoadSettings
    plan: RequestPlan
    models: tuple[ModelSettings, ...]
    journals: Journals | None
    """Where records are kept until the controlling process has them."""
    secrets: Redactor
    """Removes what must not be kept."""


class Order(Struct, frozen=True, array_like=True):
    """A message from the controlling process."""

    task: PhaseTask | None = None
    """A phase to perform."""
    stop: str | None = None
    """Why sending stops."""
    abort: bool = False
    """Whether requests in flight are given up."""
    kept: int | None = None
    """How many records of this worker the controlling process has journaled."""


class Report(Struct, frozen=True, array_like=True):
    """A message from a worker."""

    records: tuple[bytes, ...] = ()
    """Requests that have ended, as they are stored."""
    in_flight: int = 0
    result: PhaseResult | None = None
    """The result of a phase that has ended."""


def framed(content: bytes) -> bytes:
    """The content with its length before it."""
    return len(content).to_bytes(SIZE_BYTES, "big") + content


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """The next frame. Raises IncompleteReadError if the other process has gone."""
    return await reader.readexactly(int.from_bytes(await reader.readexactly(SIZE_BYTES), "big"))


class _PipeSink:
    """Implements `StepSink` with a pipe."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self.loop: PhaseLoop | None = None

    def write(self, steps: Sequence[bytes | PhaseResult]) -> None:
        records: list[bytes] = []
        result = None
        for step in steps:
            if isinstance(step, bytes):
                records.append(step)
            else:
                result = step
        flying = 0 if self.loop is None else self.loop.in_flight
        data = framed(msgpack.encode(Report(tuple(records), flying, result)))
        while data:
            data = data[os.write(self._pipe, data) :]

    def close(self) -> None:
        """Nothing to close."""


async def _work(pipe: int) -> None:
    from benchwright.perf._crew import open_endpoints
    from benchwright.perf._records import BatchThread, EndedRequest

    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    job: WorkerJob = pickle.loads(await read_frame(reader))
    number = int(await read_frame(reader))
    endpoints = open_endpoints(job.models)
    sink = _PipeSink(pipe)
    thread: BatchThread[bytes | PhaseResult] = BatchThread(sink)
    journal = None if job.journals is None else job.journals.of(number + 1)
    decoder = msgpack.Decoder(ready(Order))

    def ended(record: RequestRecord) -> None:
        stored = encode_record(record)
        if journal is not None:
            journal.write(EndedRequest.without_secrets(stored, job.secrets))
        thread.put(stored)

    async def phase(task: PhaseTask) -> None:
        under_way = sink.loop = PhaseLoop(job.settings, task, job.plan, endpoints, ended)
        thread.put(await under_way.run())

    running: asyncio.Task[None] | None = None
    with rare_collections(), suppress(asyncio.IncompleteReadError):
        thread.put(PhaseResult())  # ready
        while True:
            order = decoder.decode(await read_frame(reader))
            if order.task is not None:
                if running is not None:
                    await running
                running = asyncio.create_task(phase(order.task))
                await asyncio.sleep(0)
            elif order.kept is not None:
                if journal is not None:
                    journal.safe(order.kept)
            elif sink.loop is not None:
                if order.abort:
                    sink.loop.abort()
                elif order.stop is not None:
                    sink.loop.stop(order.stop)  # type: ignore[arg-type]  # a cause, as it was sent
    sys.stdout.flush()
    os._exit(0)  # at once: what is in flight has not ended, and nothing more is sent


def main() -> None:
    """Carry out the orders from standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the controlling process
    pipe = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # printed text must not get between frames
    run_quickly(_work(pipe))


if __name__ == "__main__":
    main()
