"""Other load generators against the same stub: what they report, next to what the stub saw.

Each is installed into an environment of its own the first time, within a time limit. One that does not install, or does not run, is
printed as such. They choose their own prompts, so their mean and 99th percentile are compared with the stub's, not request by
request.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.venvs import Tool, python_of

INSTALL_S = 600
RUN_S = 600

AIPERF = Tool("aiperf", ("aiperf",), "BENCH_AIPERF_PYTHON", ("aiperf",))


@dataclass(frozen=True)
class Reported:
    """The time to the first token as a tool reports it, in milliseconds."""

    mean: float
    p99: float


@dataclass(frozen=True)
class Peer:
    """A tool, how it is started in a folder of its own, and where it leaves its figures."""

    tool: Tool
    command: Callable[[Path, str, int, int], list[str]]
    """From the folder of its programs, the server's address, requests and requests in flight."""
    figures: Callable[[Path], Reported]


def _aiperf(programs: Path, url: str, requests: int, in_flight: int) -> list[str]:
    return [
        str(programs / "aiperf"), "profile", "--model", "m", "--url", url, "--endpoint-type", "chat", "--streaming",
        "--request-count", str(requests), "--concurrency", str(in_flight), "--tokenizer", "builtin",
        "--synthetic-input-tokens-mean", "16", "--output-tokens-mean", "32", "--ui", "none", "--output-artifact-dir", "out",
    ]  # fmt: skip


def _aiperf_figures(folder: Path) -> Reported:
    (file,) = folder.glob("out/**/profile_export_aiperf.json")
    found = json.loads(file.read_text(encoding="utf-8"))["time_to_first_token"]
    return Reported(found["avg"], found["p99"])


PEERS = (Peer(AIPERF, _aiperf, _aiperf_figures),)
"""guidellm, evalscope and `vllm bench serve` are not here: they need torch, several gigabytes of it."""


def program_folder(peer: Peer) -> Path | str:
    """Where its programs are; or why it is not installed."""
    try:
        return python_of(peer.tool, timeout_s=INSTALL_S).parent
    except (subprocess.SubprocessError, OSError) as error:
        return f"not installed: {_short(error)}"


def reported(
    peer: Peer,
    programs: Path,
    port: int,
    requests: int,
    in_flight: int,
    run: Callable[[list[str], str], tuple[str, float, float]],
) -> tuple[Reported, float, float] | str:
    """What it reports, its CPU seconds and when it was started; or why it did not run."""
    with tempfile.TemporaryDirectory() as folder:
        command = peer.command(programs, f"http://127.0.0.1:{port}", requests, in_flight)
        try:
            _, cpu, began = run(command, folder)
            return peer.figures(Path(folder)), cpu, began
        except (SystemExit, subprocess.SubprocessError, OSError, ValueError, LookupError) as error:
            return f"did not run: {_short(error)}"


def _short(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:160]
