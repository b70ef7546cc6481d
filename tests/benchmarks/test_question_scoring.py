"""Which scorer reads the replies to a question file, and that a check proves it right on the gold answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright import ScriptedEndpoint, rescore, run
from benchwright.benchmarks import BenchmarkSpec, CheckReport, QuestionOptions, load_questions
from benchwright.benchmarks._prompts import build_prompts
from benchwright.core import UsageError
from benchwright.engine._manifest import benchmark_hash
from benchwright.scorers import ScorerInput, Scores

MCQ = {"question": "Capital of England?", "A": "Paris", "B": "London", "C": "Rome", "answer": "B"}
QA = {"question": "1+1=", "answer": "2"}


def load(folder: Path, rows: list[dict[str, Any]], **options: Any) -> BenchmarkSpec:
    (folder / "f.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return load_questions("f.jsonl", QuestionOptions.of(options), cwd=folder)


def score(spec: BenchmarkSpec, response: str, row: dict[str, Any]) -> Scores:
    scores: Scores = spec.scorer(ScorerInput(response, row.get("answer"), row, config=spec.config))
    return scores


@pytest.mark.parametrize("answer", ["B", "b", "London", "B. London"])
def test_gold_letters_and_texts_score_as_right(tmp_path: Path, answer: str) -> None:
    report = CheckReport.of(load(tmp_path, [{**MCQ, "answer": answer}]))
    assert report.gold is not None
    assert (report.gold.checked, report.gold.right, report.gold.key) == (1, 1, "accuracy")


@pytest.mark.parametrize("answer", ["2", 2, 2.5, True, ["two", "2"], "a long answer"])
def test_gold_answers_of_free_questions_score_as_right(tmp_path: Path, answer: Any) -> None:
    report = CheckReport.of(load(tmp_path, [{**QA, "answer": answer}]))
    assert report.gold is not None
    assert (report.gold.checked, report.gold.right, report.gold.key) == (1, 1, "normalised_exact")


def test_strict_is_the_headline_and_a_fallback_is_asked_for(tmp_path: Path) -> None:
    strict = load(tmp_path, [MCQ])
    assert strict.headline == "accuracy"
    assert not score(strict, "Lomdon", MCQ)["accuracy"]
    guessing = load(tmp_path, [MCQ], mcq_fallback="levenshtein")
    scores = score(guessing, "Lomdon", MCQ)
    assert scores["accuracy"]
    assert not scores["accuracy_strict"]
    assert scores["method"] == "levenshtein"


def test_the_first_metric_asked_for_is_the_headline(tmp_path: Path) -> None:
    assert load(tmp_path, [QA]).headline == "normalised_exact"
    assert load(tmp_path, [QA], qa_metrics=["f1", "exact"]).headline == "f1"
    assert load(tmp_path, [QA], qa_metric="contains,f1").headline == "contains"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"qa_metrics": ["numerical"]}, "unknown metric 'numerical' .* Did you mean 'numeric'"),
        ({"qa_metrics": ["judge"]}, "the metric judge needs a judge: --judge-url"),
        ({"judge": {"url": "http://x", "model_id": "m"}}, "nothing asks it"),
        ({"qa_pattern": "x"}, "--qa-metrics regex"),
        ({"evaluator_kwargs": {"x": 1}}, "name it too"),
        ({"evaluator": "exact_mach"}, "Did you mean 'exact_match'"),
        ({"evaluator": "f1", "evaluator_kwargs": {"tolerence": 1}}, "Did you mean 'tolerance'"),
    ],
)
def test_settings_that_fit_no_scorer_are_refused(
    tmp_path: Path, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        load(tmp_path, [QA], **options)


def test_a_judge_stands_where_a_run_looks_for_judges(tmp_path: Path) -> None:
    judge = {"url": "http://127.0.0.1:9/v1", "model_id": "m"}
    spec = load(tmp_path, [QA], qa_metrics=["judge"], judge=judge)
    assert spec.config == {"judge": judge}
    report = CheckReport.of(spec)
    assert report.ok
    assert report.judge_requests == 1


def test_a_built_in_scorer_by_name(tmp_path: Path) -> None:
    spec = load(tmp_path, [MCQ], evaluator="exact_match", evaluator_kwargs={"case_sensitive": True})
    assert score(spec, "B", MCQ) == {"correct": True}
    assert spec.config == {"case_sensitive": True}
    assert load(tmp_path, [QA], evaluator="contains").headline == "contains"
    assert load(tmp_path, [MCQ], evaluator="mcq").headline == "accuracy"


def test_columns_that_are_no_options_decide_nothing(tmp_path: Path) -> None:
    row = {"question": "q", "A": "x", "B": "y", "C": "why", "answer": "B"}
    spec = load(tmp_path, [row], options=["A", "B"])
    assert score(spec, "B", row)["chance"] == 0.5
    assert not score(spec, "C", row)["parsed"]


def test_replies_to_rows_without_an_answer_get_no_score(tmp_path: Path) -> None:
    spec = load(tmp_path, [MCQ, {**MCQ, "answer": None}])
    assert "accuracy" not in score(spec, "B", {**MCQ, "answer": None})
    spec = load(tmp_path, [QA, {"question": "2+2="}])
    assert score(spec, "4", {"question": "2+2="}) == {}


def test_another_style_or_rule_is_another_benchmark(tmp_path: Path) -> None:
    variants: list[dict[str, Any]] = [
        {},
        {"prompt_style": "aisbench"},
        {"prompt_style": "cot"},
        {"mcq_fallback": "levenshtein"},
        {"template": "{question} {options}"},
        {"template": "{question}  {options}"},
        {"system": "Be terse."},
        {"evaluator": "exact_match"},
    ]

    def hashed(**options: Any) -> str:
        spec = load(tmp_path, [MCQ], **options)
        prompts = build_prompts(spec)
        system = None if prompts.system_template is None else prompts.system_template.text
        return benchmark_hash(spec, prompts.template.text, system)

    hashes = [hashed(**options) for options in variants]
    assert len(set(hashes)) == len(variants)
    assert hashed(name="another name") == hashes[0]


@pytest.mark.parametrize(
    ("answers", "replies", "options", "expected"),
    [
        (["42"] * 30, ["The answer is 42."] * 30, {}, "30 of 30 replies state the expected number, but none equals it"),
        (["42"], ["42."], {}, "1 of 1 replies state the expected number, but none equals it"),
        (["1000"] * 3, ["1,000"] * 3, {"qa_metrics": ["contains"]}, "3 of 3 replies state the expected number, but none contains"),
        (["Paris"] * 10, ["Paris", *["paris!"] * 9], {}, "10 of 10 replies contain the expected answer, but only 1 equals it"),
        (["Paris", "7"] * 5, ["It is Paris", "It is 7"] * 5, {}, "10 of 10 replies contain the expected answer, but none equals"),
        (["Paris"] * 4, [" Paris"] * 4, {"qa_metrics": ["exact"]}, "--qa-metrics contains_word (or normalised_exact)"),
        (["Paris"] * 20, [*["Paris"] * 18, "in Paris", "Rome"], {}, None),
        (["Paris"] * 20, ["Rome"] * 20, {}, None),
        (["5"] * 20, ["15"] * 20, {}, None),
        (["42"] * 9, ["The answer is 42."] * 9, {"qa_metrics": ["numeric"]}, None),
        (["42"] * 9, ["The answer is 42."] * 9, {"qa_metrics": ["f1"]}, None),
    ],
)  # fmt: skip
def test_a_headline_far_below_another_metric_is_noted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: list[str],
    replies: list[str],
    options: dict[str, Any],
    expected: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"q{index}", "answer": answer} for index, answer in enumerate(answers)]
    (tmp_path / "f.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    said = {f"q{index}": reply for index, reply in enumerate(replies)}
    result = run(
        "f.jsonl",
        endpoint=ScriptedEndpoint(lambda request: said[request.body["messages"][-1]["content"]]),  # type: ignore[index,call-overload]
        **options,
    )
    notes = [note for note in result.summary.notes if " replies " in note]
    assert result.summary.headline == options.get("qa_metrics", ["normalised_exact"])[0]
    if expected is None:
        assert not notes
    else:
        (note,) = notes
        assert expected in note
        flag = note.split("rescore RUN --qa-metrics ")[1]
        again = rescore(result.run_id, qa_metrics=[flag])
        assert again.summary.metrics[flag].value == 1
        assert not [note for note in again.summary.notes if " replies " in note]
