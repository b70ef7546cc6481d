"""Processes under measurement: run one and learn its time, CPU and memory; keep the stub running beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.request import Request, urlopen

Command: TypeAlias = list[str | Path]
"""A program and its arguments."""


class BenchError(Exception):
    """A tool under measurement did not do its work; the message says which and shows its last words."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one process used, from its start to its end, with all its children."""

    started: float
    """Just before it was started, on the clock of `time.perf_counter`."""
    wall_s: float
    """From before it was started until it was gone."""
    cpu_s: float
    """User and system time."""
    peak_mb: float
    """Largest resident set, in units of 1,000,000 bytes."""
    output: str
    """What it printed, both streams."""


@dataclass(frozen=True, slots=True)
class StubStats:
    """What the stub saw since its last reset."""

    count: int
    """Requests for an answer."""
    steady_per_s: float | None
    """Requests per second in the middle of the run; None when there were too few."""
    mean_latency_ms: float | None
    """How long replies were really held back."""
    span_s: float
    """From the first request to the last."""
    first: float | None
    """When the first request came, on the clock of `time.perf_counter`, which all processes share."""
    cpu_s: float
    """CPU time of the stub; near `span_s` means that the stub itself was the limit."""


@dataclass(frozen=True, slots=True)
class StubAddress:
    """A running stub."""

    root: str
    """`http://host:port`."""

    @property
    def base_url(self) -> str:
        """What OpenAI clients call the base URL."""
        return f"{self.root}/v1"

    def reset(self) -> None:
        """Forget all requests so far."""
        with urlopen(Request(f"{self.root}/reset", method="POST")) as reply:
            reply.read()

    def stats(self, in_flight: int) -> StubStats:
        """What was seen since the last reset, judged for `in_flight` requests at a time."""
        with urlopen(f"{self.root}/stats?in_flight={in_flight}") as reply:
            seen = json.load(reply)
        span = (seen["last"] - seen["first"]) if seen["count"] else 0.0
        return StubStats(
            seen["count"],
            seen["steady_per_s"],
            seen["mean_latency_ms"],
            span,
            seen["first"],
            seen["cpu_s"],
        )


@contextmanager
def stub(latency_ms: float) -> Iterator[StubAddress]:
    """A stub in a process of its own, for as long as the block lasts."""
    command = [sys.executable, "-m", "benchmarks.stub", "--latency-ms", str(latency_ms)]
    root = Path(__file__).resolve().parents[1]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        try:
            port = process.stdout.readline().strip()
            if not port:
                raise BenchError("the stub did not start: run `python -m benchmarks.stub` to see why")
            yield StubAddress(f"http://127.0.0.1:{port}")
        finally:
            process.kill()


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of every tool: offline, no proxies, no colours, byte code may be written."""
    dropped = {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}
    kept = {k: v for k, v in os.environ.items() if k not in dropped and not k.lower().endswith("_proxy")}
    kept |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "NO_COLOR": "1", "OPENAI_API_KEY": "stub"}
    return kept | dict(extra or {})


def measure(
    command: Command,
    *,
    cwd: Path,
    extra: Mapping[str, str] | None = None,
    timeout_s: float = 900,
    ends: Container[int] = (0,),
) -> Usage:
    """Run a command to its end.

    The peak is the kernel's `ru_maxrss`. It starts at the size of the process that forked, so the
    benchmark's own process must stay small: heavy imports belong into the processes it starts.

    Raises:
        BenchError: it exited with a status that is not one of `ends`, or took longer than `timeout_s`.
    """
    log = cwd / "output.log"
    started = time.perf_counter()
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=cwd, env=environment(extra), stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        alarm = threading.Timer(timeout_s, stop)
        alarm.start()
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            alarm.cancel()
    wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text(encoding="utf-8", errors="replace")
    if process.returncode not in ends:
        why = f"was stopped after {timeout_s:.0f} s" if late.is_set() else f"exited with {process.returncode}"
        raise BenchError(f"{' '.join(map(str, command))}\n{why}. Its last words:\n{text[-2000:]}")
    return Usage(started, wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6, text)


def fresh_folder(parent: Path, name: str) -> Path:
    """An empty folder for one run, never used before: nothing can be answered from a cache."""
    number = 0
    while True:
        folder = parent / f"{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder
