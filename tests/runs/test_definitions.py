"""The definition that a run records: any process makes the same benchmark again from it, whatever the kind of target."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

import benchwright
from benchwright.benchmarks import BenchmarkSpec
from benchwright.core import JsonObject, UsageError
from benchwright.runs._targets import TARGET_KINDS, Asked, Target, TargetKind, find_targets, load_definition
from benchwright.store import find_workspace, open_store

BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset=[{"q": "1 + 1", "target": "2"}, {"q": "2 + 2", "target": "4"}], prompt="{q}")
@scorer
def right(sample: ScorerInput) -> dict:
    return {"correct": sample.target in sample.response}
"""
CONFIG = """
[benchmarks.named]
file = "bench.py"

[benchmarks.quiz]
file = "quiz.csv"
qa_metrics = "contains"

[benchmarks.described]
type = "custom_nocode"
dataset = "quiz.jsonl"
prompt = "{{ row.question }}"
style = { type = "exact_match", golden_column = "answer" }

[benchmarks.calls]
file = "bfclv3_ast"
"""
TARGETS: dict[str, dict[str, Any]] = {
    "bench.py": {},
    "named": {},
    "quiz.csv": {"qa_metrics": "f1"},
    "quiz": {},
    "described": {},
    "pubmedqa": {"input": {"dataset": "pubmed.jsonl"}},
    "bfclv3_ast": {"task": "simple", "limit": 2},
    "calls": {"task": "java", "limit": 1},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bench.py").write_text(BENCH, encoding="utf-8")
    (tmp_path / "quiz.csv").write_text("question,answer\n1 + 1?,2\n2 + 2?,4\n", encoding="utf-8")
    (tmp_path / "quiz.jsonl").write_text('{"question": "1 + 1?", "answer": "2"}\n', encoding="utf-8")
    rows = [
        {
            "question": "Is it?",
            "context": "It is.",
            "answer": "yes",
            "final_decision": "yes",
            "long_answer": "yes",
        }
    ]
    (tmp_path / "pubmed.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    (tmp_path / "benchwright.toml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


AGAIN = """
import sys
import orjson
from benchwright.engine import RunSettings, Prepared
from benchwright.runs._targets import load_definition

settings = RunSettings.from_json(orjson.loads(sys.stdin.buffer.read()))
print(Prepared.of(load_definition(settings.definition), settings).manifest["benchmark"]["hash"])
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_fresh_process_makes_the_same_benchmark_from_the_record(target: str, folder: Path) -> None:
    benchwright.run(target, model="demo", **TARGETS[target])
    with open_store(find_workspace(folder, None)) as store:
        (run,) = store.runs()
    made: Any = run.manifest["benchmark"]
    again = subprocess.run(
        [sys.executable, "-c", AGAIN],
        input=orjson.dumps(run.settings),
        capture_output=True,
        check=False,
        cwd="/",
    )
    assert again.stdout.decode().strip() == made["hash"], again.stderr.decode()


def test_every_kind_but_those_of_a_session_is_tried() -> None:
    kinds = {"file", "questions", "nocode", "builtin", "function_calling"}
    assert kinds == {*TARGET_KINDS} - {
        "function",
        "installed",
    }  # both are tried elsewhere, with packages and notebooks


def test_a_new_kind_is_a_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spec_of(definition: JsonObject) -> BenchmarkSpec:
        settings: Any = definition["settings"]
        rows = [{"q": f"{n} + 1", "target": str(n + 1)} for n in range(settings["rows"])]
        return BenchmarkSpec(name="toy", key="toy", dataset=rows, prompt="{q}", scorer=lambda s: {"ok": True})

    def define(asked: Asked) -> list[Target]:
        definition: JsonObject = {"kind": "toy", "target": asked.target, "settings": {"rows": 3}}
        return [Target(spec_of(definition), asked.target, definition, asked.defaults)]

    row = TargetKind("toy", lambda asked: str(asked.target).startswith("toy:"), define, spec_of)
    known = dict(TARGET_KINDS)
    TARGET_KINDS.clear()
    TARGET_KINDS.update({"toy": row, **known})
    try:
        result = benchwright.run("toy:three", model="demo")
        assert result.summary.evaluated == 3
        assert benchwright.resume(result.run_id).summary == result.summary
        assert benchwright.rescore(result.run_id)["ok"] == 1.0
        with pytest.raises(UsageError, match="qa_metrics: only files of questions"):
            benchwright.run("toy:three", model="demo", qa_metrics="f1")
    finally:
        TARGET_KINDS.clear()
        TARGET_KINDS.update(known)


def test_settings_of_other_kinds_are_refused_for_every_kind(folder: Path) -> None:
    from benchwright.config import RunOptions, find_config

    given = {"questions": {"qa_metrics": "f1"}, "tools": {"task": "java"}, "input": {"input": {"limit": 1}}}
    for target in TARGETS:
        definition = find_targets(
            target, find_config(folder), folder, RunOptions.from_keywords(TARGETS[target])
        )[0].definition
        kind = TARGET_KINDS[str(definition["kind"])]
        for group in given.keys() - kind.takes:
            with pytest.raises(UsageError, match=r"only .* take|takes none|settings of its own"):
                find_targets(target, find_config(folder), folder, RunOptions.from_keywords(given[group]))


def test_a_benchmark_that_is_gone_is_named(folder: Path) -> None:
    benchwright.run("bench.py", model="demo")
    with open_store(find_workspace(folder, None)) as store:
        definition: Any = store.runs()[0].settings["definition"]
    (folder / "bench.py").write_text(BENCH.replace("sums", "totals"), encoding="utf-8")
    with pytest.raises(Exception, match="sums"):
        load_definition(definition)
