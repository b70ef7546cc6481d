"""A file that is loaded defines benchmarks; what it runs at module level is refused, with file and line."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

import benchwright
import warm
from benchwright.core import BenchmarkError
from benchwright.demo import DemoSettings, demo_server
from benchwright.runs import list_evaluations

DEFINED = """\
import sys, threading
import benchwright
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset=[{"q": "What is 1 + 1?", "a": "2"}], prompt="{q}", target_field="a")
@scorer
def sums(sample: ScorerInput) -> dict:
    return {"correct": sample.target in sample.response}

"""
CALLS = {
    "run": "benchwright.run(sums, model_url=URL, model_id='demo')",
    "run by name": "benchwright.run(__file__, model_url=URL, model_id='demo')",
    "resume": "benchwright.resume(1)",
    "rescore": "benchwright.rescore(1)",
    "check": "benchwright.check(__file__)",
    "run_suite": "benchwright.run_suite('suite.toml')",
    "judge_score": "benchwright.judge_score(ScorerInput('2', '2', {}, config={'judge': {'url': URL, 'model_id': 'demo'}}))",
    "call_llm": "import asyncio\nask = benchwright.call_llm('openai', 'demo', [{'role': 'user', 'content': 'x'}], base_url=URL)\nasyncio.run(ask)",
    "a function": "def go():\n    benchwright.run(sums, model_url=URL, model_id='demo')\ngo()",
}


@pytest.mark.parametrize("call", CALLS)
def test_loading_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    monkeypatch.chdir(tmp_path)
    with demo_server(DemoSettings()) as server:
        (tmp_path / "bench.py").write_text(
            f"{DEFINED}URL = {server.url!r}\n{CALLS[call]}\n", encoding="utf-8"
        )
        (tmp_path / "benchwright.toml").write_text('[benchmarks.sums]\nfile = "bench.py"\n', encoding="utf-8")
        line = 11 + {"a function": 1, "call_llm": 2}.get(call, 0)
        for command in (benchwright.check, benchwright.run):
            with pytest.raises(
                BenchmarkError, match=rf"^bench\.py:{line}: .*under `if __name__ == '__main__':`"
            ):
                command("bench.py")
        list_evaluations()
        assert server.stats()["requests"] == 0
    assert not (tmp_path / ".benchwright").exists()


def test_a_file_run_as_a_program_runs_what_it_likes(tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text(
        f"{DEFINED}print(benchwright.run(sums, demo_skill=1.0)['correct'])\n", encoding="utf-8"
    )
    done = warm.run(
        [sys.executable, "bench.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.strip().endswith("1.0"), done.stderr


def test_other_threads_may_run_while_a_file_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.py").write_text(DEFINED, encoding="utf-8")
    (tmp_path / "bench.py").write_text(
        f"{DEFINED}from benchwright.runs import _gates\n_gates.loading.set()\n_gates.done.wait(120)\n",
        encoding="utf-8",
    )

    class Gates:
        loading, done = threading.Event(), threading.Event()

    monkeypatch.setattr(benchwright.runs, "_gates", Gates, raising=False)
    loader = threading.Thread(target=benchwright.check, args=("bench.py",))
    loader.start()
    try:
        assert Gates.loading.wait(120)
        assert benchwright.run("other.py", demo_skill=1.0)["correct"] == 1.0
    finally:
        Gates.done.set()
        loader.join()


@pytest.mark.parametrize("when", ["while it is loaded", "after it was loaded"])
def test_a_thread_that_a_file_starts_sends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with demo_server(DemoSettings()) as server:
        code = f"""
import threading
go, refused = threading.Event(), []

def send():
    {"go.wait(120)" if when.startswith("after") else "pass"}
    try:
        benchwright.run(sums, model_url={server.url!r}, model_id="demo")
    except benchwright.UsageError as error:
        refused.append(str(error))

thread = threading.Thread(target=send)
thread.start()
{"" if when.startswith("after") else "thread.join()"}
benchwright.refused_in_thread = (go, thread, refused)
"""
        (tmp_path / "bench.py").write_text(DEFINED + code, encoding="utf-8")
        (report,) = benchwright.check("bench.py")
        assert report.ok
        go, thread, refused = benchwright.refused_in_thread  # type: ignore[attr-defined]
        go.set()
        thread.join()
        assert "while the file is loaded" in refused[0]
        assert server.stats()["requests"] == 0
    del benchwright.refused_in_thread  # type: ignore[attr-defined]
    assert benchwright.run("bench.py:sums", demo_skill=1.0)["correct"] == 1.0, "this thread may run"
