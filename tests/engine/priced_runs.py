"""Runs with prices: a benchmark of twelve sums, and a file that prices the recording server's replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main

# One unit a prompt token, two a completion token: a reply of the recording server (3 and 1) costs 5.
PRICES = """
[[price]]
model = "m"
input = 1000000
output = 2000000
currency = "USD"
as_of = 2026-01-31
"""
BENCH = """
from benchwright import benchmark, scorer


@benchmark(name="sums", dataset=[{"q": str(n), "target": "B" if n % 2 else "C"} for n in range(12)], prompt="{q}")
@scorer
def right(sample):
    return {"correct": sample.response == sample.target}
"""


def enter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it the current folder, with the benchmark and the prices in it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "none"))
    monkeypatch.chdir(folder)
    (folder / "sums.py").write_text(BENCH)
    (folder / "prices.toml").write_text(PRICES)


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and JSON of a command."""
    capsys.readouterr()
    code = main([*words, "--json", *(["--quiet"] if words[0] in ("run", "resume") else [])])
    return code, json.loads(capsys.readouterr().out)
