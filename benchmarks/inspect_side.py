"""inspect-ai on the same question file, through its own command line and its OpenAI-compatible provider."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks import data
from benchmarks.processes import BenchError, Command, StubAddress, Usage, fresh_folder, measure

TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.scorer import exact

PROMPT = {prompt!r}


def to_sample(row):
    return Sample(id=row["id"], input=PROMPT.format(question=row["question"]), target=row["answer"])


@task
def bench_qa():
    return Task(dataset=json_dataset({rows!r}, to_sample), scorer=exact())
"""


@dataclass(frozen=True, slots=True)
class Inspect:
    """inspect-ai, ready to be run."""

    python: Path
    """The Python that has it."""
    work: Path
    """Where its runs live."""

    def qa(self, rows: Path, stub: StubAddress, *, in_flight: int, limit: int) -> Usage:
        """Generation over the chat route, `limit` rows of the file."""
        folder = fresh_folder(self.work, "inspect-qa")
        text = TASK.format(prompt=data.QA_PROMPT, rows=str(rows))
        (folder / "task.py").write_text(text, encoding="utf-8")
        command: Command = [
            self.python,
            "-m",
            "inspect_ai",
            "eval",
            "task.py",
            "--model",
            "openai-api/stub/stub",
        ]
        command += [
            "--model-base-url",
            stub.base_url,
            "--max-connections",
            str(in_flight),
            "--display",
            "none",
        ]
        # More samples may be under way than connections, else connections would wait for samples.
        command += ["--max-samples", str(2 * in_flight), "--limit", str(limit), "--temperature", "0"]
        command += ["--max-tokens", "256", "--log-dir", "logs"]
        home = {"STUB_API_KEY": "stub", "XDG_DATA_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
        used = measure(command, cwd=folder, extra=home)
        self._expect(folder, limit)
        return used

    def _expect(self, folder: Path, limit: int) -> None:
        found = list((folder / "logs").glob("*.eval"))
        if not found:
            raise BenchError(f"inspect-ai wrote no log into {folder}")
        # Read by the tool itself: the log is a zip with a compression that Python's zipfile does not know.
        dump: Command = [self.python, "-m", "inspect_ai", "log", "dump", "--header-only", found[0]]
        log = json.loads(subprocess.run(dump, check=True, capture_output=True).stdout)
        results = log.get("results") or {}
        done = results.get("completed_samples")
        score = results["scores"][0]["metrics"]["mean"]["value"] if done else float("nan")
        if log["status"] != "success" or done != limit or not abs(score - data.ACCURACY) < 1e-9:
            raise BenchError(
                f"inspect-ai: status {log['status']}, {done} samples, mean {score}; see {folder}"
            )
