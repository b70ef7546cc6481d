"""Short questions in a pool with other column names: a row does not see itself, and others are not taken for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks import BenchmarkSpec, CheckReport
from benchwright.benchmarks._fewshot import resolve_fewshot
from benchwright.benchmarks._prompts import build_prompts

Rows = list[dict[str, Any]]


def asked(row: dict[str, Any], pool: Rows, **parameters: Any) -> str:
    """The prompt of a row behind as many of the pool as there are."""
    settings: dict[str, Any] = {
        "prompt": "{q}",
        "dataset": [row],
        "base_dir": Path(),
        "target_field": "a",
        "num_fewshot": len(pool),
        "fewshot_dataset": pool,
        "fewshot_template": "{frage} {antwort}",
        "fewshot_separator": "|",
    }
    spec = BenchmarkSpec(name="x", key="x", scorer=lambda s: {"correct": True}, **{**settings, **parameters})
    return build_prompts(spec, resolve_fewshot(spec)).build(row).text


def test_a_short_sum_is_not_asked_behind_itself() -> None:
    rows: Rows = [{"q": f"{n}+{n}=?", "a": str(2 * n)} for n in range(30)]
    pool = [{"frage": row["q"], "antwort": row["a"]} for row in rows]
    for row in rows:
        before, _, question = asked(row, pool).rpartition("|")
        assert question == row["q"]
        examples = before.split("|")
        assert f"{row['q']} {row['a']}" not in examples
        assert len(examples) == 29


@pytest.mark.parametrize("copy", [" 0+0=?", "0+0=?\n", {"text": "0+0=?"}, ["0+0=?"]])
def test_white_space_and_depth_do_not_hide_it(copy: Any) -> None:
    assert asked({"q": "0+0=?", "a": "0"}, [{"frage": copy, "antwort": 7}]) == "0+0=?"


def test_a_question_made_of_several_fields_is_one_value_of_the_example() -> None:
    pool: Rows = [{"frage": "0+1=?", "antwort": "1"}]
    assert asked({"x": 0, "y": 1, "a": "1"}, pool, prompt="{x}+{y}=?") == "0+1=?"
    assert asked({"x": 1, "y": 1, "a": "2"}, pool, prompt="{x}+{y}=?") == "0+1=? 1|1+1=?"


def test_a_solved_question_in_one_text_is_recognised() -> None:
    pool: Rows = [{"shot": "0+0=? 0"}]
    assert asked({"q": "0+0=?", "a": 0}, pool, fewshot_template="{shot}") == "0+0=?"
    assert asked({"q": "0+0=?", "a": 0}, pool, fewshot_template="<{shot}>") == "0+0=?"


@pytest.mark.parametrize(
    ("row", "example", "same"),
    [
        ({"q": "A", "a": "first"}, {"frage": "A", "antwort": "first"}, True),
        ({"q": "A", "a": "first"}, {"frage": "Which letter?", "antwort": "A"}, False),
        ({"q": "A", "a": "first"}, {"frage": "A", "antwort": "last"}, False),
        ({"q": "7", "a": "odd"}, {"frage": 7, "antwort": "odd"}, True),
        ({"q": 7, "a": "odd"}, {"frage": "7", "antwort": "odd"}, True),
        ({"q": "1234", "a": "even"}, {"frage": "617+617", "antwort": "1234"}, False),
        ({"q": "1", "a": "1"}, {"frage": "1", "antwort": "2"}, False),
        ({"q": "1", "a": "1"}, {"frage": "1", "antwort": "1"}, True),
        ({"q": "A"}, {"frage": "A", "antwort": ""}, False),
        ({"q": "1+1", "a": "2"}, {"frage": "1+1+1", "antwort": "3"}, False),
        ({"q": "cat", "a": "chat"}, {"frage": "catalogue", "antwort": "catalogue"}, False),
    ],
)
def test_trivial_questions_need_the_answer_as_well(
    row: dict[str, Any], example: dict[str, Any], same: bool
) -> None:
    shown = f"{example['frage']} {example['antwort']}|"
    assert asked(row, [example]) == ("" if same else shown) + str(row["q"])


def test_check_counts_such_rows() -> None:
    rows: Rows = [{"q": f"{n}+{n}=?", "a": str(2 * n)} for n in range(3)]
    spec = BenchmarkSpec(
        name="x",
        key="x",
        dataset=rows,
        prompt="{q}",
        base_dir=Path(),
        target_field="a",
        scorer=lambda s: {"correct": s.response == s.target},
        num_fewshot=1,
        fewshot_dataset=[{"frage": "1+1=?", "antwort": "2"}],
        fewshot_template="{frage} {antwort}",
    )
    (told,) = CheckReport.of(spec).warnings
    assert told.startswith("1 evaluated row is also among the few-shot examples")
