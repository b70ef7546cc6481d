"""What users copy runs as it stands."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

import warm
from benchwright.demo import DemoSettings, demo_server

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
JUDGE = re.compile(r"http://127\.0\.0\.1:\d+")


@pytest.mark.parametrize("example", sorted(path.parent.name for path in EXAMPLES.glob("*/bench.py")))
def test_example_runs(example: str, tmp_path: Path) -> None:
    folder = tmp_path / example
    shutil.copytree(EXAMPLES / example, folder, ignore=shutil.ignore_patterns("__pycache__"))
    bench = folder / "bench.py"
    with demo_server(DemoSettings(skill=1.0)) as server:
        text = bench.read_text(encoding="utf-8")
        bench.write_text(JUDGE.sub(server.url.removesuffix("/v1"), text), encoding="utf-8")
        check = warm.run(
            [sys.executable, "-m", "benchwright", "check", "bench.py"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        run = warm.run(
            [sys.executable, "-m", "benchwright", "run", "bench.py", "--json"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert check.returncode == 0, check.stdout + check.stderr
    assert run.returncode == 0, run.stdout + run.stderr
    (result,) = json.loads(run.stdout)["results"]
    assert result["summary"]["failed"] == 0
    assert result["summary"]["metrics"]
