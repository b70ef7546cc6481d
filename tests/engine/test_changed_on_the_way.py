"""A run that goes on with a changed benchmark is two experiments in one, and says so for good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.store.backends import forget_samples

import benchwright
from benchwright import RunResult, ScriptedEndpoint
from benchwright.store import Workspace, open_store

BENCH = """
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import exact_match

@benchmark(name="qa", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def check(sample: ScorerInput) -> dict:
    return exact_match(sample)
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    rows = [{"question": f"q{n}", "answer": "yes"} for n in range(20)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = tmp_path / "bench.py"
    path.write_text(BENCH, encoding="utf-8")
    return path


def go_on(run_id: int, folder: Path, **options: Any) -> RunResult:
    return benchwright.resume(run_id, endpoint=ScriptedEndpoint(lambda r: "yes"), workspace=folder, **options)


def start(bench: Path, folder: Path, **options: Any) -> RunResult:
    return benchwright.run(bench, endpoint=ScriptedEndpoint(lambda r: "yes"), workspace=folder, **options)


def document(result: RunResult, name: str) -> Any:
    return yaml.safe_load((result.folder / name).read_text(encoding="utf-8"))


def test_a_prompt_changed_on_the_way_marks_the_results_for_good(bench: Path, tmp_path: Path) -> None:
    first = start(bench, tmp_path, max_requests=8)
    before = document(first, "manifest.json")["benchmark"]
    bench.write_text(BENCH.replace('"{question}"', '"Now: {question}"'), encoding="utf-8")
    second = go_on(first.run_id, tmp_path, allow_changed=True, max_requests=5)
    last = go_on(first.run_id, tmp_path)  # the change was accepted: no more questions, and the mark stays
    told = "resumed after a change of prompt: 8 of {} samples were sent before it"
    assert any(note.startswith(told.format(13)) for note in second.summary.notes)
    assert any(note.startswith(told.format(20)) for note in last.summary.notes)
    assert (last.status, last.summary.partial, last.summary.comparable) == ("completed", False, False)
    assert last.exit_code == 3
    for gate in ({}, {"max_failed": 0.5}):  # a policy may excuse failures, but not this
        policy = {"gate": gate, "threshold": [{"metric": "correct", "min": 0.1, "bound": "value"}]}
        for run in (last.run_id, last.folder):
            assert benchwright.gate(run, policy=policy, workspace=tmp_path).verdict == "INCONCLUSIVE"
    manifest = document(last, "manifest.json")
    assert manifest["changes"] == [{"what": "prompt", "samples": 8, "before": before}]
    assert manifest["benchmark"]["hash"] != before["hash"]
    assert manifest["benchmark"]["prompt_hash"] != before["prompt_hash"]
    assert "comparable: false" in (last.folder / "results.yml").read_text(encoding="utf-8")
    store = open_store(Workspace(tmp_path))
    (event,) = [event for event in store.events(first.run_id) if event.kind == "run.changed"]
    store.close()
    assert "8 samples were recorded before it" in event.message


def test_each_change_is_kept(bench: Path, tmp_path: Path) -> None:
    first = start(bench, tmp_path, max_requests=4)
    bench.write_text(BENCH.replace('"{question}"', '"Now: {question}"'), encoding="utf-8")
    go_on(first.run_id, tmp_path, allow_changed=True, max_requests=5)
    bench.write_text(bench.read_text(encoding="utf-8") + "\n# other rules\n", encoding="utf-8")
    last = go_on(first.run_id, tmp_path, allow_changed=True)
    changes = document(last, "manifest.json")["changes"]
    assert [(change["what"], change["samples"]) for change in changes] == [("prompt", 4), ("benchmark", 9)]
    assert sum("resumed after a change" in note for note in last.summary.notes) == 2


def test_a_complete_run_stays_what_it_was(bench: Path, tmp_path: Path) -> None:
    first = start(bench, tmp_path)
    manifest = document(first, "manifest.json")
    bench.write_text(BENCH.replace('"{question}"', '"Now: {question}"'), encoding="utf-8")
    again = go_on(first.run_id, tmp_path, allow_changed=True)
    assert again.summary == first.summary
    assert again.summary.comparable
    assert document(again, "manifest.json")["benchmark"] == manifest["benchmark"]


def test_a_change_before_the_first_sample_mixes_nothing(bench: Path, tmp_path: Path) -> None:
    first = start(bench, tmp_path, max_requests=4)
    store = open_store(Workspace(tmp_path))
    forget_samples(store, first.run_id, [(index, 0) for index in range(20)])
    store.close()
    bench.write_text(BENCH.replace('"{question}"', '"Now: {question}"'), encoding="utf-8")
    last = go_on(first.run_id, tmp_path, allow_changed=True)
    assert last.summary.comparable
    assert "changes" not in document(last, "manifest.json")
