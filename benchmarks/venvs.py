"""The other tools' own virtual environments: made once under the git-ignored `.bench/`, from PyPI."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).resolve().parents[1] / ".bench"
"""Where everything that benchmarks leave behind lives: environments and working folders."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool to compare with, and how to get it."""

    name: str
    """Name of its folder under `.bench/`."""
    requirements: tuple[str, ...]
    """What pip is asked for."""
    override: str
    """Environment variable that names the Python of an environment that exists already."""
    packages: tuple[str, ...]
    """Distributions whose versions the report states."""


# torch is left out on purpose: the API models of lm_eval do not need it. transformers is there for the
# tokenizer that log-likelihood insists on; generation runs do not become slower by it.
LM_EVAL = Tool(
    "lm_eval", ("lm_eval[api]", "transformers"), "BENCH_LM_EVAL_PYTHON", ("lm_eval", "transformers")
)
INSPECT = Tool("inspect", ("inspect-ai", "openai"), "BENCH_INSPECT_PYTHON", ("inspect-ai", "openai"))
TOOLS = (LM_EVAL, INSPECT)


def python_of(tool: Tool, *, timeout_s: float | None = None) -> Path:
    """The Python that has `tool`, installing it first when that has not been done."""
    given = os.environ.get(tool.override)
    if given:
        return Path(given)
    folder = HOME / tool.name
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists():
        print(f"installing {', '.join(tool.requirements)} into {folder} …", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        # --compile is pip's default; said aloud because start-up is part of what is measured.
        command: list[str | Path] = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--compile",
        ]
        subprocess.run([*command, *tool.requirements], check=True, timeout=timeout_s)
        ready.touch()
    return python


def versions_of(python: Path, packages: tuple[str, ...]) -> dict[str, str]:
    """Installed versions, as that Python sees them."""
    code = "import sys\nfrom importlib.metadata import version\nprint(*map(version, sys.argv[1:]))"
    done = subprocess.run([python, "-c", code, *packages], check=True, capture_output=True, text=True)
    return dict(zip(packages, done.stdout.split(), strict=True))


if __name__ == "__main__":
    for each in TOOLS:
        where = python_of(each)
        print(each.name, where, versions_of(where, each.packages))
