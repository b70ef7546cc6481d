"""One table of names: whatever takes the name of a scorer takes it from there, or says why it does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benchwright.scorers
from benchwright.benchmarks import BenchmarkSpec, QuestionOptions, load_questions
from benchwright.benchmarks._nocode.graders import grader_scorer
from benchwright.config import GraderStyle
from benchwright.core import UsageError
from benchwright.scorers import ScorerInput, find_scorer, qa_metric_names
from benchwright.scorers._named import SCORERS, named_scorer
from benchwright.scorers._qa import METRIC_ALIASES, QA_METRICS
from benchwright.scorers._scorer import NAMED_SCORERS

MCQ = {"question": "Capital of England?", "A": "Paris", "B": "London", "answer": "B"}
QA = {"question": "1+1=", "answer": "2"}
JUDGE = {"url": "http://127.0.0.1:9/v1", "model_id": "m"}


def load(folder: Path, row: dict[str, Any], **options: Any) -> BenchmarkSpec:
    (folder / "f.jsonl").write_text(json.dumps(row), encoding="utf-8")
    return load_questions("f.jsonl", QuestionOptions.of(options), cwd=folder)


def test_every_scorer_and_metric_has_one_row() -> None:
    assert set(SCORERS) == {*NAMED_SCORERS, *QA_METRICS, "mcq"}
    assert all(row.name == name for name, row in SCORERS.items())
    assert {row.metric for row in SCORERS.values()} - {None} == set(QA_METRICS)
    for name in NAMED_SCORERS:
        assert find_scorer(name) is NAMED_SCORERS[name] is getattr(benchwright.scorers, name)


@pytest.mark.parametrize("name", SCORERS)
def test_an_evaluator_is_any_name_that_fits_the_rows(tmp_path: Path, name: str) -> None:
    judge = {"evaluator_kwargs": {"judge": JUDGE}} if name == "judge" else {}
    assert load(tmp_path, MCQ, evaluator=name, **judge).scorer is not None
    if name == "mcq":
        with pytest.raises(
            UsageError, match=r"reads the letters of options, and these rows have none \(qa\)"
        ):
            load(tmp_path, QA, evaluator=name)
    else:
        spec = load(tmp_path, QA, evaluator=name, **judge)
        assert spec.headline == (name if name in QA_METRICS else None)


@pytest.mark.parametrize("name", SCORERS)
def test_a_metric_is_a_name_of_the_same_table_or_says_why_it_is_not(name: str) -> None:
    if name in QA_METRICS or name in METRIC_ALIASES:
        assert qa_metric_names([name])[0] == SCORERS[name].metric
        return
    cure = "free answers have none" if name == "mcq" else f"To score with it: --evaluator {name}"
    with pytest.raises(UsageError, match=cure) as refused:
        qa_metric_names([name])
    assert f"Metrics: {', '.join(QA_METRICS)}" in str(refused.value)


@pytest.mark.parametrize("name", [name for name in SCORERS if len(name) > 4])
def test_a_slip_in_any_name_finds_it_everywhere(tmp_path: Path, name: str) -> None:
    slip = f"{name[:-1]}#"
    for look in (named_scorer, qa_metric_names, lambda slip: load(tmp_path, QA, evaluator=slip)):
        with pytest.raises(UsageError, match=rf"Did you mean '{name}'"):
            look(slip if look is not qa_metric_names else [slip])


@pytest.mark.parametrize(("alias", "metric"), METRIC_ALIASES.items())
def test_other_spellings_mean_the_same_in_every_place(tmp_path: Path, alias: str, metric: str) -> None:
    assert qa_metric_names([alias])[0] == metric
    if alias not in NAMED_SCORERS:
        assert load(tmp_path, QA, evaluator=alias.upper()).headline == metric
        assert find_scorer(alias)(ScorerInput("2", "2", {})) == find_scorer(metric)(ScorerInput("2", "2", {}))


@pytest.mark.parametrize("name", [*SCORERS, *METRIC_ALIASES])
def test_a_grader_is_any_name_of_the_table(tmp_path: Path, name: str) -> None:
    style = GraderStyle(type="scorer", golden_column="answer", scorer=name)
    assert grader_scorer(style, lambda row: "", tmp_path) is find_scorer(name)
    slip = GraderStyle(type="scorer", golden_column="answer", scorer=f"{name}#")
    with pytest.raises(UsageError, match="no scorer named"):
        grader_scorer(slip, lambda row: "", tmp_path)
