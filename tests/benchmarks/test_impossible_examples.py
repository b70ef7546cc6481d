"""Few-shot examples that no row of the pool can give: found by check, refused by a run, never zero-shot unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks import BenchmarkSpec, check_benchmark, resolve_fewshot
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
def test_the_field_is_named_and_nothing_is_ready(parameters: dict[str, Any], words: list[str]) -> None:
    spec = spec_of(**parameters)
    with pytest.raises(BenchmarkError) as caught:
        resolve_fewshot(spec)
    for word in [*words, "--num-fewshot 0"]:
        assert word in str(caught.value)
    report = check_benchmark(spec)
    assert not report.ok
    assert report.errors == (str(caught.value),)
    assert not any("evaluated too" in warning for warning in report.warnings)
    assert check_benchmark(spec, num_fewshot=0).ok


def test_a_run_is_refused_too(tmp_path: Path) -> None:
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

    with pytest.raises(BenchmarkError, match="questoin"):
        run(check, workspace=tmp_path / "work")


def test_some_usable_rows_are_enough() -> None:
    rows = [{"question": "a"}, {"question": "b", "answer": "c"}, {"answer": "d"}]
    fewshot = resolve_fewshot(spec_of(fewshot_dataset=rows))
    assert fewshot is not None
    assert [example.text for example in fewshot.examples] == ["b c"]


def test_a_dataset_without_rows_has_no_overlap_to_warn_of() -> None:
    fewshot = resolve_fewshot(spec_of(dataset=[]))
    assert fewshot is not None
    assert not any("evaluated too" in warning for warning in fewshot.warnings)
