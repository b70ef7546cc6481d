"""What a row costs, counted and not timed: Python calls per further row of `benchwright run`, over HTTP, with its store and
its files. The count is the same on every machine, so it notices what a clock on a busy one does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks/ stands beside the package and is not installed

from benchmarks.ours import QA_BENCH  # noqa: E402
from benchmarks.pipeline import FIVE_STEPS  # noqa: E402
from benchmarks.processes import environment, stub  # noqa: E402

from benchmarks import data  # noqa: E402

MOST_CALLS = 76.0
"""Of Python functions, each time that a coroutine goes on included. It was 67 when this was written, and 95 before. How many
samples share a commit depends on the machine, and a commit of few adds some calls to each of them."""
MOST_CALLS_OF_STEPS = 25.0
"""What five steps of a pipeline add. It was 20 when this was written."""
FEW, MANY = 300, 1_300
COUNTING = """
import json, sys, threading

calls = 0

def counted(frame, event, argument):
    global calls
    if event == "call":
        calls += 1

threading.setprofile(counted)
sys.setprofile(counted)
from benchwright.cli import main
try:
    main()
finally:
    sys.setprofile(None)
    with open("calls.json", "w") as file:
        json.dump(calls, file)
"""


def calls_of(rows: int, folder: Path, base_url: str, *further: str) -> int:
    """Calls of a whole run of so many rows."""
    folder.mkdir()
    file = data.write_rows(folder / "qa.jsonl", data.qa_rows(rows))
    (folder / "bench.py").write_text(QA_BENCH.format(rows=str(file), prompt=data.QA_PROMPT))
    model = ["--model-url", base_url, "--model-id", "stub", "--parallelism", "64"]
    command = [
        sys.executable,
        "-c",
        COUNTING,
        "run",
        "bench.py",
        "--workspace",
        str(folder),
        "--json",
        *model,
        *further,
    ]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    calls: int = json.loads((folder / "calls.json").read_text())
    return calls


def test_one_more_row_takes_few_calls(tmp_path: Path) -> None:
    with stub(0) as at:
        few = calls_of(FEW, tmp_path / "few", at.base_url)
        many = calls_of(MANY, tmp_path / "many", at.base_url)
        steps = ("--pipeline", json.dumps(FIVE_STEPS))
        few_within = calls_of(FEW, tmp_path / "few_within", at.base_url, *steps)
        many_within = calls_of(MANY, tmp_path / "many_within", at.base_url, *steps)
    assert (many - few) / (MANY - FEW) <= MOST_CALLS
    assert ((many_within - few_within) - (many - few)) / (MANY - FEW) <= MOST_CALLS_OF_STEPS
