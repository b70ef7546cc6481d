"""--help is quick: it imports nothing that only a run needs. So is a short run: nothing that only other runs need."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchwright.cli import main
from benchwright.cli._commands import COMMANDS
from benchwright.demo import DemoSettings, demo_server

HEAVY = (
    "numpy", "pandas", "pyarrow", "pyreqwest", "httpx", "requests", "aiohttp", "fastapi", "starlette", "uvicorn",
    "rich", "asyncio", "jinja2", "yaml", "sqlite3", "uvloop", "zstandard", "rapidfuzz",
)  # fmt: skip

OF_OTHER_RUNS = (
    "numpy", "pandas", "pyarrow", "jinja2", "rich", "pydantic", "yaml", "rapidfuzz", "zstandard", "pyreqwest",
    "huggingface_hub", "datasets", "fsspec", "httpx", "requests", "aiohttp", "starlette", "uvicorn", "multiprocessing",
    "http.client", "urllib.request", "email.parser", "xml", "benchwright.server", "benchwright.perf",
    "benchwright.results._run_folders", "benchwright.datasets._hf.client",
    "benchwright.endpoints._scripted", "benchwright.demo._judge", "benchwright.demo._tools", "benchwright.benchmarks._check",
    "benchwright.scorers._letters", "benchwright.scorers._judge", "benchwright.scorers._mcq.cascade",
    "benchwright.benchmarks._questions.load", "benchwright.config._benchmark", "benchwright.datasets._sampled",
    "benchwright.config._typed_keywords", "benchwright.config._pipeline_steps", "benchwright.bfcl._categories",
    "benchwright.benchmarks._leak_guard", "shutil", "random", "secrets",
)  # fmt: skip
"""What a run of plain rows on one model has no use for."""
OF_FILES = ("benchwright.reports.files.small_parquet",)
"""What only writing a run's files needs: not there while the model is asked."""


@pytest.mark.parametrize(
    "name", [name for name in (*HEAVY, *OF_OTHER_RUNS, *OF_FILES) if name.startswith("benchwright.")]
)
def test_modules_that_are_expected_to_be_absent_exist(name: str) -> None:
    assert find_spec(name) is not None, f"{name} is gone: name what took its place"


BENCH = """
import sys
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="short", dataset="rows.jsonl", prompt="Q: {question}", target_field="answer")
@scorer
def score(sample: ScorerInput) -> dict:
    print("scoring", *sorted(sys.modules), file=sys.stderr)
    return {"right": float(sample.response == sample.target)}
"""


@pytest.fixture
def short_run(tmp_path: Path) -> list[str]:
    """A benchmark of one row, and the words that run it."""
    (tmp_path / "bench.py").write_text(BENCH, encoding="utf-8")
    row = {"question": "2 + 2?", "answer": "4"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    where = ["--workspace", str(tmp_path / "space"), "--output-dir", str(tmp_path / "out"), "--overwrite"]
    return ["run", str(tmp_path / "bench.py"), *where, "--json"]


def loaded_by(words: list[str]) -> list[str]:
    program = (
        "import sys; from benchwright.cli import main; code = main(sys.argv[1:]); "
        "print(code, *sorted(sys.modules), sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    code, *modules = done.stderr.splitlines()
    assert code == "0"
    return modules


@pytest.mark.parametrize("words", [["--help"], ["--version"], [], *([name, "--help"] for name in COMMANDS)])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    loaded = loaded_by(words)
    assert [name for name in HEAVY if name in loaded] == []


def test_the_list_of_commands_loads_no_room() -> None:
    loaded = loaded_by(["--help"])
    assert [
        name for name in loaded if name.startswith("benchwright.") and "benchwright.cli" not in name
    ] == []


def cpu_of(words: list[str]) -> float:
    """Seconds of CPU that a command takes, with its byte code written as an installed package's is."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], capture_output=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_takes_less_than_a_fifth_of_a_second_of_cpu() -> None:
    bare, spent = [], []
    for _ in range(5):  # in turn: what else the machine does must not decide
        bare.append(cpu_of(["-c", "import argparse"]))
        spent.append(cpu_of(["-m", "benchwright", "--help"]))
    assert min(spent) < max(0.2, 4 * min(bare)), (spent, bare)


def loaded_by_run(words: list[str]) -> tuple[list[str], list[str]]:
    """Modules of a command that has the process to itself: while the row is scored, and at the end."""
    program = (
        "import gc, sys; from benchwright.cli import main; code = main(); "
        "print('ended', code, gc.isenabled(), gc.get_freeze_count() == 0, *sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stderr.splitlines() if line.startswith(("scoring ", "ended "))]
    (_, *scoring), (_, code, enabled, let_go, *ended) = lines
    assert (code, enabled, let_go) == ("0", "True", "True"), done.stdout
    return scoring, ended


def test_a_short_run_imports_nothing_that_only_others_need(short_run: list[str]) -> None:
    scoring, ended = loaded_by_run([*short_run, "--model", "demo"])
    assert [name for name in OF_FILES if name in scoring] == []
    assert [name for name in OF_OTHER_RUNS if name in ended] == []
    assert set(OF_FILES) <= set(ended), "the run wrote no files: this test looks at the wrong thing"


def test_a_list_of_benchmarks_loads_no_room_that_only_performs_runs(
    short_run: list[str], tmp_path: Path
) -> None:
    loaded_by_run(short_run)
    loaded = loaded_by(["list", "--workspace", str(tmp_path / "space")])
    rooms = {name.split(".")[1] for name in loaded if name.startswith("benchwright.")}
    assert rooms == {"cli", "config", "core", "reports", "results", "stats", "store"}
    drawing = {name.rpartition(".")[2] for name in loaded if name.startswith("benchwright.reports.terminal.")}
    assert drawing == {"drawing", "runs", "tables"}, "other views are not needed"


def test_a_short_run_on_a_server_does_not_import_the_demo_model(short_run: list[str]) -> None:
    with demo_server(DemoSettings()) as server:
        url = ["--model-url", server.url, "--model-id", "demo"]
        scoring, ended = loaded_by_run([*short_run, *url])
    assert [name for name in OF_FILES if name in scoring] == []
    assert [name for name in (*OF_OTHER_RUNS, "benchwright.demo._model") if name in ended] == []


def test_run_eval_into_a_log_imports_nothing_that_only_others_need(
    short_run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with demo_server(DemoSettings()) as server:
        model = ["--model_url", server.url, "--model_id", "demo", "--model_type", "chat"]
        where = ["--output_dir", str(tmp_path / "out"), "--overrides", "config.params.parallelism=2"]
        _, ended = loaded_by_run(["run_eval", "--eval_type", short_run[1], *model, *where])
    assert [name for name in OF_OTHER_RUNS if name in ended] == []


def test_a_short_streamed_run_imports_nothing_that_only_others_need(short_run: list[str]) -> None:
    _, ended = loaded_by_run([*short_run, "--model", "demo", "--stream"])
    assert [name for name in OF_OTHER_RUNS if name in ended] == []
    assert "benchwright.stats._percentiles" in ended, "nobody looked at the times of first tokens"


def test_a_short_run_takes_little_cpu(short_run: list[str]) -> None:
    bare, spent = [], []
    for _ in range(4):  # in turn, as above; the first may have to compile
        bare.append(cpu_of(["-c", "import argparse"]))
        spent.append(cpu_of(["-m", "benchwright", *short_run, "--model", "demo"]))
    # 0.4 s on a quiet machine, where a bare start takes 0.02 s.
    assert min(spent) < max(1.2, 30 * min(bare)), (spent, bare)


def test_a_command_in_a_callers_process_leaves_the_callers_objects_to_the_collector(
    short_run: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen: list[str] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append("freeze"))
    monkeypatch.setattr(gc, "unfreeze", lambda: frozen.append("unfreeze"))
    assert main([*short_run, "--model", "demo"]) == 0
    assert gc.isenabled()
    assert frozen == []
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("shown", [[], ["--json"]])
def test_a_file_that_a_benchmark_leaves_open_is_written_to_its_end(tmp_path: Path, shown: list[str]) -> None:
    (tmp_path / "bench.py").write_text(
        "import csv\n"
        "from benchwright import benchmark, scorer\n"
        "seen = csv.writer(open('seen.csv', 'w', newline=''))\n"
        "@benchmark(name='b', dataset=lambda: [{'q': str(n)} for n in range(5)], prompt='{q}', target_field='q')\n"
        "@scorer\n"
        "def score(sample):\n"
        "    seen.writerow([sample.target])\n"
        "    return {'right': True}\n",
        encoding="utf-8",
    )
    words = [sys.executable, "-m", "benchwright", "run", "bench.py", "--model", "demo", "--workspace", "."]
    subprocess.run([*words, *shown], capture_output=True, check=True, cwd=tmp_path)
    assert sorted((tmp_path / "seen.csv").read_text(encoding="utf-8").split()) == ["0", "1", "2", "3", "4"]


def test_a_command_ends_after_threads_and_handlers_without_taking_the_modules_apart(tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text(
        "import atexit, os, threading\n"
        "from benchwright import benchmark, scorer\n"
        "class Left:\n"
        "    write = os.write\n"
        "    def __del__(self):\n"
        "        self.write(2, b'taken apart')\n"
        "left = Left()\n"
        "atexit.register(print, 'handler')\n"
        "threading.Thread(target=lambda: (threading.main_thread().join(), print('thread'))).start()\n"
        "@benchmark(name='b', dataset=lambda: [{'q': '1'}], prompt='{q}', target_field='q')\n"
        "@scorer\n"
        "def score(sample):\n"
        "    raise ValueError('no')\n",
        encoding="utf-8",
    )
    words = [sys.executable, "-m", "benchwright", "run", "bench.py", "--model", "demo", "--workspace", "."]
    done = subprocess.run(words, capture_output=True, cwd=tmp_path, text=True)
    assert done.returncode == 1, "every sample failed"
    assert done.stdout.splitlines()[-2:] == ["thread", "handler"]
    assert "taken apart" not in done.stderr


def test_a_command_in_a_callers_process_leaves_collector_and_environment_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    before = gc.get_threshold(), dict(os.environ)
    assert main(["--version"]) == 0
    assert (gc.get_threshold(), dict(os.environ)) == before


def test_what_the_user_says_about_threads_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "26")
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "mimalloc")
    monkeypatch.setattr(sys, "argv", ["benchwright", "--version"])
    monkeypatch.setattr(gc, "set_threshold", lambda *thresholds: None)
    assert main() == 0
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "26"
    assert os.environ["ARROW_DEFAULT_MEMORY_POOL"] == "mimalloc"
