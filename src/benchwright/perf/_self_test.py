"""Measures the error of this client with a load test against the built-in simulator, whose times are known."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from msgspec import Struct

from benchwright.core import ModelRequest, RunFailedError, encode_json
from benchwright.endpoints import EndpointSettings
from benchwright.perf._crew import open_crew
from benchwright.perf._health import run_quickly, spread_of
from benchwright.perf._plan import RequestPlan, planned_request
from benchwright.perf._test import LoadTest
from benchwright.perf._values import ClientHealth, DurationSpread, LoadSettings, RequestRecord

TTFT_MS, ITL_MS = 50.0, 20.0
"""The times of the simulator."""
_PATIENCE_S = 30.0
_WORDS = "Say these words once more: " + " ".join(f"word{number}" for number in range(24))


class SelfTest(Struct, frozen=True):
    """How far the client's times are from the simulator's, including delays of the simulator and the machine."""

    requests: int
    concurrency: int
    ttft_error: DurationSpread
    itl_error: DurationSpread
    cpu_s: float
    seconds: float
    health: ClientHealth

    def to_json(self) -> dict[str, Any]:
        """Errors in milliseconds."""
        errors = {
            f"{name}_error_{figure}_ms": getattr(spread, figure) * 1000
            for name, spread in (("ttft", self.ttft_error), ("itl", self.itl_error))
            for figure in ("mean", "p99", "max")
        }
        return {
            "requests": self.requests,
            "concurrency": self.concurrency,
            **errors,
            "cpu_s_per_1000_requests": 1000 * self.cpu_s / self.requests,
            "requests_per_s": self.requests / self.seconds,
            "client_health": self.health.to_json(),
        }

    def text(self) -> str:
        """A description for people."""
        ttft, itl, health = self.ttft_error, self.itl_error, self.health
        lines = [
            f"{self.requests} requests, {self.concurrency} in flight, to a simulator that sends the first token after "
            f"{TTFT_MS:g} ms and the others {ITL_MS:g} ms apart:",
            f"  time to first token: off by {ttft.mean * 1000:.2f} ms on average, {ttft.p99 * 1000:.2f} ms at the 99th percentile",
            f"  time between tokens: off by {itl.mean * 1000:.2f} ms on average, {itl.p99 * 1000:.2f} ms at the 99th percentile",
            f"  CPU: {1000 * self.cpu_s / self.requests:.2f} s per 1,000 requests",
            f"  event loop: {health.lag.mean * 1000:.2f} ms late on average, {health.lag.p99 * 1000:.2f} ms at the 99th percentile",
            f"  client: {health.verdict}",
        ]
        return "\n".join([*lines, *(f"    {reason}" for reason in health.reasons)])


def self_test(*, concurrency: int = 64, requests: int = 512, workers: int = 1) -> SelfTest:
    """Start the simulator in a separate process, load it, and compare times. Takes a few seconds."""
    command = [sys.executable, "-m", "benchwright", "simulate", "--port", "0", "--ttft-ms", f"{TTFT_MS:g}", "--itl-ms", f"{ITL_MS:g}"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            url = next((word for word in line.split() if word.startswith("http://")), None)
            if url is None:
                raise RunFailedError(f"the simulator did not start: {line}{server.stdout.read()}")
            settings = LoadSettings(
                levels=(float(concurrency),), requests=requests, warmup=concurrency, workers=workers,
                request_timeout_s=_PATIENCE_S,
            )  # fmt: skip
            return run_quickly(_measure(url, settings))
        finally:
            server.kill()


async def _measure(url: str, settings: LoadSettings) -> SelfTest:
    records: list[RequestRecord] = []

    def ended(record: RequestRecord) -> None:
        records.append(record)
        test.ended(record)

    body: dict[str, Any] = {
        "model": "demo", "messages": [{"role": "user", "content": _WORDS}], "max_tokens": 64, "stream": True,
    }  # fmt: skip
    plan = RequestPlan((planned_request(ModelRequest("chat", body, encode_json(body)), 0),))
    crew = await open_crew(settings, plan, [EndpointSettings(url=url, model_id="demo")], ended)
    test = LoadTest(settings, crew)
    try:
        (stage,) = await test.run()
    finally:
        await crew.close()
    measured = [record for record in records if record.phase == "measured" and record.ok]
    if not measured:
        raise RunFailedError(f"the simulator answered nothing: {records[-1].error if records else ''}")
    first = [(record.first_token or 0.0) - (record.sent or 0.0) - TTFT_MS / 1000 for record in measured]
    gaps = [
        (record.arrivals[-1] - record.arrivals[0]) / (len(record.arrivals) - 1) - ITL_MS / 1000
        for record in measured
        if len(record.arrivals) > 1
    ]
    seconds = stage.ended - stage.started
    return SelfTest(
        requests=len(measured),
        concurrency=int(settings.levels[0]),
        ttft_error=spread_of([abs(error) for error in first]),
        itl_error=spread_of([abs(error) for error in gaps]),
        cpu_s=sum(stage.health.cpu_shares) * seconds,
        seconds=seconds,
        health=stage.health,
    )
