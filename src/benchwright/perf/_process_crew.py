"""Several sending processes, controlled by this one."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from msgspec import msgpack

from benchwright.core import RunFailedError, known_secrets, ready
from benchwright.endpoints import ModelSettings
from benchwright.perf._journal import Journals
from benchwright.perf._loop import PhaseResult, PhaseTask
from benchwright.perf._plan import RequestPlan
from benchwright.perf._values import LoadSettings, RequestRecord, StopCause, decode_record
from benchwright.perf._worker import Order, Report, WorkerJob, framed, read_frame

_END_S = 5.0
"""How long a process may take to end after its input has ended."""


class ProcessCrew:
    """Implements `Crew` with processes. `open` starts them."""

    def __init__(self, ended: Callable[[RequestRecord], None]) -> None:
        self._ended = ended
        self._processes: list[asyncio.subprocess.Process] = []
        self._readers: list[asyncio.Task[None]] = []
        self._results: list[asyncio.Future[PhaseResult]] = []
        self._flying: list[int] = []
        self._stop: Order | None = None

    @classmethod
    async def open(
        cls,
        settings: LoadSettings,
        plan: RequestPlan,
        models: Sequence[ModelSettings],
        ended: Callable[[RequestRecord], None],
        journals: Journals | None = None,
    ) -> ProcessCrew:
        """Start the processes, and wait until all are ready."""
        crew = cls(ended)
        job = WorkerJob(settings, plan, tuple(models), journals, known_secrets())
        common = framed(pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL))
        try:
            for worker in range(settings.workers):
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "benchwright.perf._worker",
                    stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 24,
                )  # fmt: skip
                crew._processes.append(process)
                crew._flying.append(0)
                crew._results.append(asyncio.get_running_loop().create_future())
                crew._readers.append(asyncio.create_task(crew._read(worker, process)))
            for worker, process in enumerate(crew._processes):
                assert process.stdin is not None
                process.stdin.write(common + framed(b"%d" % worker))
                await process.stdin.drain()
            await asyncio.gather(*crew._results)
        except BaseException:
            await crew.close()
            raise
        return crew

    @property
    def in_flight(self) -> int:
        """Requests in flight a fifth of a second ago."""
        return sum(self._flying)

    async def phase(self, tasks: Sequence[PhaseTask]) -> list[PhaseResult]:
        loop = asyncio.get_running_loop()
        self._results = [loop.create_future() for _ in tasks]
        for worker, task in enumerate(tasks):
            self._send(worker, Order(task=task))
            if self._stop is not None:
                self._send(worker, self._stop)
        return list(await asyncio.gather(*self._results))

    def stop(self, cause: StopCause) -> None:
        """Send nothing more."""
        self._tell(Order(stop=cause))

    def abort(self) -> None:
        """Give up what is in flight."""
        self._tell(Order(abort=True))

    async def close(self) -> None:
        """End the processes, at once if what was in flight was given up: their records have arrived with their results."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.close()
            if self._stop is not None and self._stop.abort:
                with suppress(ProcessLookupError):
                    process.kill()
        for process in self._processes:
            try:
                async with asyncio.timeout(_END_S):
                    await process.wait()
            except TimeoutError:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)

    def _tell(self, order: Order) -> None:
        self._stop = order
        for worker in range(len(self._processes)):
            self._send(worker, order)

    def _send(self, worker: int, order: Order) -> None:
        pipe = self._processes[worker].stdin
        assert pipe is not None
        if not pipe.is_closing():
            pipe.write(framed(msgpack.encode(order)))

    async def _read(self, worker: int, process: asyncio.subprocess.Process) -> None:
        decoder: Any = msgpack.Decoder(ready(Report))
        kept = 0
        assert process.stdout is not None
        try:
            while True:
                report: Report = decoder.decode(await read_frame(process.stdout))
                self._flying[worker] = report.in_flight
                for stored in report.records:
                    self._ended(decode_record(stored))
                if report.records:
                    kept += len(report.records)
                    self._send(worker, Order(kept=kept))
                if report.result is not None and not self._results[worker].done():
                    self._results[worker].set_result(report.result)
        except (asyncio.IncompleteReadError, ConnectionError):
            code = await process.wait()
            if not self._results[worker].done():
                how = f"by signal {-code}" if code < 0 else f"with {code}, see above,"
                self._results[worker].set_exception(
                    RunFailedError(
                        f"worker process {worker} ended {how} before its requests had. "
                        "Those that had ended are recorded: benchwright show last"
                    )
                )
                self._results[worker].exception()
