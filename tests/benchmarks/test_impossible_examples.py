"""Few-shot examples that no row of the pool can give: found by check, never zero-shot unsaid, refused when strict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchwright import ScorerInput, benchmark, run, scorer
from benchwright.benchmarks import BenchmarkSpec, CheckReport, RowSettings
from benchwright.benchmarks._fewshot import resolve_fewshot
from benchwright.core import BenchmarkError

ROWS = [{"question": f"What is {n} + {n}?", "answer": str(2 * n)} for n in range(20)]


def spec_of(**parameters: Any) -> BenchmarkSpec:
    settings: dict[str, Any] = {
        "prompt": "{question}",
        "dataset": ROWS,
        "base_dir": Path(),
        "target_field": "answer",
        "num_fewshot": 2,
    }
    return BenchmarkSpec(
        name="sums", key="sums", scorer=lambda s: {"correct": True}, **{**settings, **parameters}
    )


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            {"fewshot_template": "Q: {questoin} A: {answer}"},
            ['"questoin" that the fewshot_template reads', 'Did you mean "question"?', "Write {question} in"],
        ),
        (
            {"fewshot_template": "{# #}{{ questoin }}", "prompt": "{# #}{{ question }}"},
            ['"questoin" that the fewshot_template reads', "Write {{ question }} in"],
        ),
        (
            {"fewshot_template": "{zzz}"},
            ['"zzz"', "the rows have: question, answer", "Write {…} in the fewshot_template"],
        ),
        (
            {"fewshot_dataset": [{"questions": "a", "answer": "b"}]},
            [
                "no row of the few-shot dataset",
                '"question" that the prompt reads',
                'Did you mean "questions"?',
            ],
        ),
        (
            {"fewshot_dataset": [{"question": "a", "answers": "b"}]},
            ['"answer", the expected answer', 'Did you mean "answers"?', "target_field"],
        ),
        ({"fewshot_dataset": [{"question": "a", "answer": None}]}, ['"answer"', "null in all of them"]),
        (
            {"fewshot_dataset": [{"question": "a", "answer": {}}], "fewshot_template": "{answer[text]}"},
            ["The first one:", "answer[text]"],
        ),
    ],
)
def test_the_field_is_named_and_the_run_called_zero_shot(
    parameters: dict[str, Any], words: list[str]
) -> None:
    spec = spec_of(**parameters)
    fewshot = resolve_fewshot(spec)
    assert fewshot is not None
    assert not fewshot.examples
    for word in ["this is a zero-shot run", *words, "--num-fewshot 0"]:
        assert word in fewshot.warnings[0]
    if spec.fewshot_dataset is not None:  # else the overlap is refused before
        with pytest.raises(BenchmarkError, match="can be a few-shot example"):
            resolve_fewshot(spec, strict=True)
    report = CheckReport.of(spec)
    assert report.ok
    assert fewshot.warnings[0] in report.warnings
    assert not any("evaluated too" in warning for warning in report.warnings)
    silent = CheckReport.of(spec, RowSettings(num_fewshot=0))
    assert not any("zero-shot" in warning for warning in silent.warnings)


def test_a_run_says_so_beside_its_numbers(tmp_path: Path) -> None:
    from benchwright import benchmark, run, scorer

    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    @benchmark(
        name="impossible examples",
        dataset=str(tmp_path / "rows.jsonl"),
        prompt="{question}",
        target_field="answer",
        num_fewshot=2,
        fewshot_template="{questoin}",
    )
    @scorer
    def check(sample: Any) -> dict[str, bool]:
        return {"correct": True}

    result = run(check, workspace=tmp_path / "work")
    assert any("zero-shot run" in note and "questoin" in note for note in result.summary.notes)


def test_some_usable_rows_are_enough() -> None:
    rows = [{"question": "a"}, {"question": "b", "answer": "c"}, {"answer": "d"}]
    fewshot = resolve_fewshot(spec_of(fewshot_dataset=rows))
    assert fewshot is not None
    assert [example.text for example in fewshot.examples] == ["b c"]


def test_a_dataset_without_rows_has_no_overlap_to_warn_of() -> None:
    fewshot = resolve_fewshot(spec_of(dataset=[]))
    assert fewshot is not None
    assert not any("evaluated too" in warning for warning in fewshot.warnings)


def test_results_tell_how_many_examples_rows_were_shown_and_strict_acts_on_it(tmp_path: Path) -> None:
    pool = [ROWS[0], {"question": "What is 90 + 9?", "answer": "99"}]

    @benchmark(
        name="shown", dataset=ROWS[:4], prompt="{question}", target_field="answer", fewshot_dataset=pool, num_fewshot=2
    )  # fmt: skip
    @scorer
    def shown(sample: ScorerInput) -> dict[str, bool]:
        return {"correct": sample.response == sample.target}

    result = run(shown, workspace=tmp_path)
    (task,) = yaml.safe_load((result.folder / "results.yml").read_text())["results"]["tasks"].values()
    assert task["dataset"]["fewshot_shown"] == {"min": 1, "mean": 1.75}
    with pytest.raises(BenchmarkError, match="not every row is shown 2 examples"):
        run(shown, workspace=tmp_path, fewshot_strict=True)
