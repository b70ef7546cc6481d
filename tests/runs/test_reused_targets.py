"""A file alone: request with `--mode infer`, score with `--mode eval --reuse`, show with `--mode viz --reuse`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main

QUIZ = "question,A,B,answer\nWhat is 1+1?,2,3,A\nWhat is 2+2?,3,4,B\nWhat is 3+3?,6,7,A\n"
BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset=[{"q": f"What is {k} + 1?", "target": str(k + 1)} for k in range(8)], prompt="{q}")
@scorer
def sums(sample: ScorerInput) -> dict:
    return {"correct": sample.target in sample.response}
"""


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("quiz.csv").write_text(QUIZ)
    Path("bench.py").write_text(BENCH)

    def run(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = main(["run", *words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize("target", ["quiz.csv", "bench.py", "./quiz.csv"])
@pytest.mark.parametrize(
    "first", [("--mode", "infer"), ("--mode", "all"), ()], ids=["infer", "all", "no mode"]
)
def test_replies_of_a_file_alone_are_scored_again(said: Any, target: str, first: tuple[str, ...]) -> None:
    assert said(target, *first, "--demo-skill", "1.0")[0] == 0
    code, found = said(target, "--mode", "eval", "--reuse")
    assert code == 0, found
    (result,) = found["results"]
    assert result["rescored_from"] == 1
    assert result["requests_sent"] == 0
    assert result["metrics"]["correct" if target == "bench.py" else "accuracy"] == 1.0
    code, shown = said(target, "--mode", "viz", "--reuse")
    assert code == 0
    assert shown["results"][0]["run_id"] == 2


def test_an_interrupted_run_is_resumed_by_the_same_command(said: Any) -> None:
    assert said("quiz.csv", "--mode", "infer", "--max-requests", "1")[0] == 3
    code, found = said("quiz.csv", "--mode", "infer", "--reuse")
    assert (code, found["results"][0]["run_id"]) == (0, 1)
    assert found["results"][0]["evaluated"] == 3


def test_the_newest_run_of_the_given_model_is_meant(said: Any) -> None:
    said("quiz.csv", "--mode", "infer", "--model", "demo")
    said("quiz.csv", "--mode", "infer", "--model", "random")
    assert (
        said("quiz.csv", "--mode", "eval", "--reuse", "--model", "demo")[1]["results"][0]["rescored_from"]
        == 1
    )


def test_a_file_that_was_never_run_is_sent_to_the_first_step(said: Any) -> None:
    code, found = said("quiz.csv", "--mode", "eval", "--reuse")
    assert code == 4
    assert "benchwright run quiz.csv --mode infer" in found["error"]["message"]
    code, found = said("quiz.csv", "--mode", "eval")
    assert code == 2
    assert "add --reuse" in found["error"]["message"]
