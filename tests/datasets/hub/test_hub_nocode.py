"""Evaluations without code on datasets of the hub: configuration, split, revision, and one commit per run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hub_content import jsonl
from hub_server import LoopbackHub

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.runs import resume

CONFIG = """\
[benchmarks.facts]
type = "custom_nocode"
dataset = { name = "org/facts", split = "test" }
prompt = "{{ row.q }}"
style = { type = "exact_match", golden_column = "a" }
"""


def test_a_table_names_a_dataset_of_the_hub_and_a_resume_reads_its_commit_again(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    repo = hub.repo("org/facts")
    repo.commit({"test.jsonl": jsonl([{"q": f"{k}?", "a": str(k)} for k in range(4)]), "train.jsonl": jsonl([{"q": "", "a": ""}])})  # fmt: skip
    (tmp_path / "benchwright.toml").write_text(CONFIG, encoding="utf-8")

    def reply(request: Any) -> str:
        return str(request.body["messages"][0]["content"]).removesuffix("?")

    first = benchwright.run("facts", endpoint=ScriptedEndpoint(reply), max_requests=2, parallelism=1)
    assert first.summary.partial
    repo.commit({"test.jsonl": jsonl([{"q": "moved?", "a": "on"}])})
    done = resume(first.run_id, endpoint=ScriptedEndpoint(reply))
    assert (done.summary.evaluated, done["accuracy"]) == (4, 1.0)


def test_without_a_split_a_table_reads_what_a_workflow_would(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    train = jsonl([{"q": f"train {k}?", "a": "x"} for k in range(9)])
    hub.repo("org/facts").commit({"train.jsonl": train, "test.jsonl": jsonl([{"q": "test?", "a": "test"}])})
    config = CONFIG.replace('{ name = "org/facts", split = "test" }', '"HF://org/facts"')
    (tmp_path / "benchwright.toml").write_text(config, encoding="utf-8")
    result = benchwright.run("facts", endpoint=ScriptedEndpoint(lambda request: "test"))
    assert (result.summary.evaluated, result["accuracy"]) == (1, 1.0)
    assert any("split 'test' was chosen" in note for note in result.summary.notes)


def test_a_built_in_evaluation_reads_its_documented_dataset(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"problem": "Capital of France?", "answer": "Paris"}]
    hub.repo("quantiles/simpleqa-verified").commit({"test.jsonl": jsonl(rows)})
    result = benchwright.run("simpleqa-verified", endpoint=ScriptedEndpoint(lambda request: "Pariz"))
    assert result["similarity"] == pytest.approx(0.8)
