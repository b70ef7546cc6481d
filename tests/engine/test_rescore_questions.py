"""Bare files of questions scored again with other rules, or with answers put right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import ScriptedEndpoint
from benchwright.config import RunOptions
from benchwright.core import UsageError
from benchwright.engine import _perform
from benchwright.runs import rescore

MCQ = "question,A,B,C,answer\nq1,Paris,London,Rome,B\nq2,red,green,blue,C\nq3,one,two,three,A\n"
QA = '{"question": "q1", "answer": "877"}\n{"question": "q2", "answer": "blue"}\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quiz.csv").write_text(MCQ, encoding="utf-8")
    (tmp_path / "free.jsonl").write_text(QA, encoding="utf-8")
    return tmp_path


def answers(*texts: str) -> ScriptedEndpoint:
    said = iter(texts)
    return ScriptedEndpoint(lambda request: next(said))


def refuse(*arguments: Any, **keywords: Any) -> Any:
    raise AssertionError("the model's endpoint was opened")


def test_other_extraction_rules_need_no_model() -> None:
    first = benchwright.run("quiz.csv", endpoint=answers("B", "blu", "zzz"), parallelism=1)
    assert (first["accuracy"], first.summary.outcomes["unparsed"]) == (pytest.approx(1 / 3), 2)
    guessing = rescore(first.run_id, options=RunOptions(mcq_fallback="aisbench"))
    assert guessing["accuracy"] == 1.0, "zzz is guessed to be A, which is right by chance"
    assert guessing["accuracy_strict"] == pytest.approx(1 / 3)
    assert "the benchmark or its rules have changed since run 1" in guessing.summary.notes
    assert guessing.exit_code == 0
    back = rescore(guessing.run_id, options=RunOptions(mcq_fallback="none"))
    assert back.metrics == first.metrics


def test_other_metrics_of_free_answers() -> None:
    first = benchwright.run("free.jsonl", endpoint=answers("It is 877.", " blue "), parallelism=1)
    assert (first.summary.headline, first["normalised_exact"]) == ("normalised_exact", 0.5)
    numbers = rescore(first.run_id, options=RunOptions(qa_metrics=("contains",)))
    assert (numbers.summary.headline, numbers["contains"]) == ("contains", 1.0)


def test_metrics_take_the_place_of_an_evaluator_and_the_other_way_round() -> None:
    first = benchwright.run(
        "free.jsonl", endpoint=answers("It is 877.", " blue "), parallelism=1, evaluator="exact_match"
    )
    assert list(first.metrics) == ["correct"]
    contained = rescore(first.run_id, options=RunOptions(qa_metrics=("contains",)))
    assert (contained.summary.headline, contained["contains"]) == ("contains", 1.0)
    back = rescore(contained.run_id, options=RunOptions(evaluator="exact_match"))
    assert back.metrics == first.metrics
    with pytest.raises(UsageError, match="evaluator, qa_metrics: both say how replies are scored"):
        benchwright.run("free.jsonl", evaluator="f1", qa_metrics=["contains"], demo_skill=1.0)


def test_answers_put_right_in_another_file(here: Path) -> None:
    first = benchwright.run(
        "quiz.csv", endpoint=answers("B", "B", "A"), parallelism=1, prompt_style="aisbench"
    )
    (here / "fixed.csv").write_text(MCQ.replace("blue,C", "blue,B"), encoding="utf-8")
    again = rescore(first.run_id, target="fixed.csv")
    assert (first["accuracy"], again["accuracy"]) == (pytest.approx(2 / 3), 1.0)
    assert again.name == "fixed"
    assert again.summary.outcomes["skipped"] == 0, "the prompt style is that of the run"


def test_rules_that_do_nothing_are_refused() -> None:
    first = benchwright.run("quiz.csv", endpoint=answers("B", "C", "A"))
    with pytest.raises(UsageError, match="only qa files take this"):
        rescore(first.run_id, options=RunOptions(qa_metrics=("contains",)))
    with pytest.raises(UsageError, match="--target"):
        rescore(first.run_id, options=RunOptions(dataset="free.jsonl"))


def test_infer_now_and_score_later(monkeypatch: pytest.MonkeyPatch) -> None:
    inferred = benchwright.run("quiz.csv", infer_only=True, demo_skill=1.0)
    assert (inferred.metrics, inferred.exit_code) == ({}, 0)
    monkeypatch.setattr(_perform, "open_endpoint", refuse)
    scored = rescore(inferred.run_id)
    assert scored.summary.headline == "accuracy"
    assert scored.summary.evaluated == 3
    assert scored.requests_sent == 0


def test_replies_of_other_runs_than_the_one_scored_again_are_counted() -> None:
    benchwright.run("quiz.csv", demo_skill=1.0)
    part = benchwright.run("quiz.csv", demo_skill=1.0, limit=1)
    again = rescore(part.run_id, options=RunOptions(limit=3))
    assert again.summary.evaluated == 3
    assert "2 of the replies are not in run 2: other runs sent the same requests" in again.summary.notes
    same = rescore(part.run_id)
    assert not [note for note in same.summary.notes if "other runs" in note]


def test_a_prompt_that_asks_otherwise_has_no_replies() -> None:
    first = benchwright.run("quiz.csv", endpoint=answers("B", "C", "A"))
    again = rescore(first.run_id, options=RunOptions(prompt_style="aisbench"))
    assert again.summary.outcomes["skipped"] == 3
    assert again.exit_code == 1
