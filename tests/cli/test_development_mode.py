"""Python's development mode finds nothing: no file, socket, process, loop or connection is left open, and no call is deprecated.

Most commands run in one process, which collects its garbage after each; those with processes of their own run alone.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.cli._commands import COMMANDS
from waiting import PATIENCE_S

BENCH = """
from benchwright import benchmark, scorer
from benchwright.scorers import exact_match

benchmark(name="plain", dataset="rows.jsonl", prompt="What is {a} + {a}?", target_field="sum")(exact_match)

@benchmark(name="own", dataset="rows.jsonl", prompt="What is {a} + {a}?", target_field="sum")
@scorer
def own(sample):
    return {"right": sample.response == str(sample.target)}
"""
FLOW = """
from benchwright import entrypoint, step, workflow

async def handler(given, ctx):
    async def one():
        return 1
    return await step(ctx, step_key="one", execute=one)

if __name__ == "__main__":
    entrypoint(workflow("flow", handler))
"""
POLICY = '[[threshold]]\nmetric = "right"\nmin = 0.1\nbound = "value"\n'
SUITE = 'models = [{name = "demo", type = "demo"}]\ndatasets = [{path = "quiz.csv"}]\n'
IN_ONE_PROCESS = [
    ["init", "starter"],
    ["ls"],
    ["check", "bench.py"],
    ["check", "quiz.csv"],
    ["check", "nothing.csv"],
    ["validate", "quiz.csv"],
    ["run", "bench.py:own"],
    ["run", "bench.py:plain", "--stream", "--parallelism", "2"],
    ["run", "bench.py:own", "--workspace", "no-database"],
    ["run", "quiz.csv", "--model-url", "http://127.0.0.1:9/v1", "--model-id", "m", "--max-retries", "0"],
    ["run", "suite.toml"],
    ["run", "flow.py"],
    shlex.split(
        "run_eval --eval_type quiz.csv --model_url http://127.0.0.1:9/v1 --model_id m --model_type chat --output_dir out "
        "--overrides config.params.max_retries=0"
    ),
    ["run", "bench.py:own", "--max-requests", "1"],
    ["resume", "last"],
    ["rescore", "1"],
    ["perf", "quiz.csv", "--requests", "4", "--concurrency", "2"],
    ["perf", "--explain", "ttft"],
    ["list"],
    ["show", "1"],
    ["show", "1", "0"],
    ["show", "99"],
    ["cancel", "1"],
    ["tag", "1", "prompt=v2"],
    ["rename", "1", "other"],
    ["export", "1", "-o", "samples.csv"],
    ["export", "1", "-o", "samples.parquet"],
    ["compare", "1", "2"],
    ["report", "1", "-o", "page.html"],
    ["token", "list"],
    ["store", "copy", ".", "copied.db"],
    ["bless", "1", "--as", "base"],
    ["gate", "1", "--policy", "policy.toml"],
    ["labels", "1", "--export", "labels.csv"],
    ["judge-calibrate", "labelled.csv"],
    ["cache", "info"],
    ["fetch", "nothing"],
    ["doctor"],
    ["compile", "nothing.py"],
    ["rm", "1"],
    ["no-such-command"],
]
ALONE = [
    ["run", "bench.py:own", "--json"],
    ["run", "flow.py"],
    ["perf", "quiz.csv", "--requests", "8", "--concurrency", "2", "--workers", "2"],
]
SERVERS = [["serve", "--port", "0"], ["simulate", "--port", "0"]]
PROGRAM = """
import gc, json, sys
from benchwright.cli import main
for words in json.loads(sys.argv[1]):
    print("$", *words, file=sys.stderr)
    code = main(words)
    gc.collect()
    assert code in {0, 1, 2, 3, 4}, (words, code)
"""
"""Real commands end without taking their modules apart; here all that they left is found."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"a": number, "sum": str(2 * number)} for number in range(3)]
    quiz = "question,A,B,answer\n1 + 1?,2,3,A\n2 + 2?,3,4,B\n"
    files = {
        "bench.py": BENCH, "flow.py": FLOW, "policy.toml": POLICY, "suite.toml": SUITE, "quiz.csv": quiz,
        "labelled.csv": "question,response,target,label,grade\n1 + 1?,2,2,C,C\n2 + 2?,5,4,I,C\n",
        "rows.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "no-database/.benchwright/benchwright.db": "no database at all",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def in_development_mode() -> dict[str, str]:
    return {**os.environ, "PYTHONDEVMODE": "1", "PYTHONFAULTHANDLER": "0"}


def warned(text: str) -> list[str]:
    """Lines with warnings; asyncio also tells what took long, which depends on the machine."""
    return [
        line
        for line in text.splitlines()
        if re.search(r"Warning\b|tracemalloc|was never|never retrieved", line)
    ]


@pytest.mark.slow
def test_no_command_warns(folder: Path) -> None:
    words = [sys.executable, "-c", PROGRAM, json.dumps(IN_ONE_PROCESS)]
    done = subprocess.run(words, cwd=folder, env=in_development_mode(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert warned(done.stderr) == [], done.stderr


@pytest.mark.parametrize("words", ALONE, ids=lambda words: words[0])
def test_no_command_with_a_process_of_its_own_warns(folder: Path, words: list[str]) -> None:
    program = "import sys; from benchwright.cli import main; sys.exit(main())"
    line = [sys.executable, "-c", program, *words]
    done = subprocess.run(line, cwd=folder, env=in_development_mode(), capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    assert warned(done.stderr) == [], done.stderr


@pytest.mark.parametrize("words", SERVERS, ids=lambda words: words[0])
def test_no_server_warns(folder: Path, words: list[str]) -> None:
    program = "import sys; from benchwright.cli import main; sys.exit(main())"
    line = [sys.executable, "-c", program, *words]
    with subprocess.Popen(
        line, cwd=folder, env=in_development_mode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert "http://" in child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=PATIENCE_S)
    assert warned(said) == [], said


def test_all_commands_are_tried() -> None:
    tried = {words[0] for words in [*IN_ONE_PROCESS, *ALONE, *SERVERS]}
    assert set(COMMANDS) <= tried
