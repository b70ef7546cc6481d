"""Other load generators against the same stub: what they report, next to what the stub saw.

Each is installed into an environment of its own the first time, within a time limit. One that does not install, or does not run, is
printed as such. They choose their own prompts, so their mean and 99th percentile are compared with the stub's, not request by
request. They want a tokenizer of a model hub: a small one is trained here and laid into a hub cache of the benchmark's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.venvs import HOME, Tool, python_of

INSTALL_S = 600
RUN_S = 600

# That build of torch is for the CPU; a newer one brings gigabytes of libraries for GPUs.
TORCH = "torch==2.13.0"
AIPERF = Tool("aiperf", ("aiperf",), "BENCH_AIPERF_PYTHON", ("aiperf",))
GUIDELLM = Tool("guidellm", (TORCH, "guidellm"), "BENCH_GUIDELLM_PYTHON", ("guidellm",))
EVALSCOPE = Tool("evalscope", (TORCH, "evalscope[perf]"), "BENCH_EVALSCOPE_PYTHON", ("evalscope",))

HUB = HOME / "hub"
TOKENIZER = "bench/words"
"""The name of the tokenizer in the hub cache."""
_COMMIT = "0" * 40
_REPOSITORY = HUB / "hub" / f"models--{TOKENIZER.replace('/', '--')}"
_SNAPSHOT = _REPOSITORY / "snapshots" / _COMMIT
_TRAIN = """
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
made = Tokenizer(models.BPE())
made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
trainer = trainers.BpeTrainer(
    vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<s>", "</s>"]
)
made.train_from_iterator(["say something about one thing and then about another"], trainer)
made.save(sys.argv[1])
"""


def make_tokenizer(python: Path) -> None:
    """Lay the tokenizer into the hub cache, with a Python that has `tokenizers`."""
    if (_REPOSITORY / "refs" / "main").exists():
        return
    _SNAPSHOT.mkdir(parents=True, exist_ok=True)
    subprocess.run([python, "-c", _TRAIN, _SNAPSHOT / "tokenizer.json"], check=True)
    about = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "model_max_length": 100_000,
        "chat_template": "{% for message in messages %}{{ message['content'] }}{% endfor %}",
    }
    (_SNAPSHOT / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    (_SNAPSHOT / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    (_REPOSITORY / "refs").mkdir(exist_ok=True)
    (_REPOSITORY / "refs" / "main").write_text(_COMMIT, encoding="utf-8")


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
        "--request-count", str(requests), "--concurrency", str(in_flight), "--tokenizer", TOKENIZER,
        "--synthetic-input-tokens-mean", "16", "--output-tokens-mean", "32", "--ui", "none", "--output-artifact-dir", "out",
    ]  # fmt: skip


def _aiperf_figures(folder: Path) -> Reported:
    (file,) = folder.glob("out/**/profile_export_aiperf.json")
    found = json.loads(file.read_text(encoding="utf-8"))["time_to_first_token"]
    return Reported(found["avg"], found["p99"])


def _guidellm(programs: Path, url: str, requests: int, in_flight: int) -> list[str]:
    return [
        str(programs / "guidellm"), "run", "--backend", f"kind=openai_http,target={url},model=m",
        "--tokenizer", f"kind=hf_auto,model={TOKENIZER}", "--profile", f"kind=concurrent,streams={in_flight}",
        "--constraint", f"kind=max_requests,count={requests}", "--data", "kind=synthetic_text,prompt_tokens=16,output_tokens=32",
        "--output", "kind=json,path=out.json", "--disable-console-interactive",
    ]  # fmt: skip


def _guidellm_figures(folder: Path) -> Reported:
    (found,) = json.loads((folder / "out.json").read_text(encoding="utf-8"))["benchmarks"]
    ttft = found["metrics"]["time_to_first_token_ms"]["successful"]
    return Reported(ttft["mean"], ttft["percentiles"]["p99"])


def _evalscope(programs: Path, url: str, requests: int, in_flight: int) -> list[str]:
    return [
        str(programs / "evalscope"), "perf", "--model", "m", "--url", f"{url}/v1/chat/completions", "--api", "openai",
        "--dataset", "random", "--tokenizer-path", str(_SNAPSHOT), "--prefix-length", "0", "--min-prompt-length", "16",
        "--max-prompt-length", "16", "--max-tokens", "32", "--number", str(requests), "--parallel", str(in_flight), "--stream",
        "--outputs-dir", "out", "--no-timestamp",
    ]  # fmt: skip


def _evalscope_figures(folder: Path) -> Reported:
    (summary,) = folder.glob("out/**/benchmark_summary.json")
    (percentiles,) = folder.glob("out/**/benchmark_percentile.json")
    mean = json.loads(summary.read_text(encoding="utf-8"))["Avg TTFT (ms)"]
    (p99,) = [
        row for row in json.loads(percentiles.read_text(encoding="utf-8")) if row["Percentiles"] == "99%"
    ]
    return Reported(mean, p99["TTFT (ms)"])


PEERS = (
    Peer(AIPERF, _aiperf, _aiperf_figures),
    Peer(GUIDELLM, _guidellm, _guidellm_figures),
    Peer(EVALSCOPE, _evalscope, _evalscope_figures),
)
"""`vllm bench serve` is not here: it comes only with the whole server and its GPU libraries."""


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
    run: Callable[[list[str], str, dict[str, str]], tuple[str, float, float]],
) -> tuple[Reported, float, float] | str:
    """What it reports, its CPU seconds and when it was started; or why it did not run."""
    with tempfile.TemporaryDirectory() as folder:
        command = peer.command(programs, f"http://127.0.0.1:{port}", requests, in_flight)
        try:
            make_tokenizer(programs / "python")
            _, cpu, began = run(command, folder, {**os.environ, "HF_HOME": str(HUB), "HF_HUB_OFFLINE": "1"})
            return peer.figures(Path(folder)), cpu, began
        except (SystemExit, subprocess.SubprocessError, OSError, ValueError, LookupError) as error:
            return f"did not run: {_short(error)}"


def _short(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:160]
