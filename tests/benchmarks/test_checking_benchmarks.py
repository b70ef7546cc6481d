"""Checks before a run: every bad row with its line, gold answers, leaks, fields, estimates; no request spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks import AskableRows, BenchmarkSpec, CheckReport, RowSettings
from benchwright.benchmarks._gold import check_gold
from benchwright.benchmarks._missing_fields import target_problem
from benchwright.benchmarks._prompts import build_prompts
from benchwright.benchmarks._scan import scan_rows
from benchwright.benchmarks._warnings import definition_warnings
from benchwright.datasets import open_dataset
from benchwright.scorers import (
    JudgeConfig,
    JudgeFailedError,
    ScorerInput,
    any_of,
    exact_match,
    f1_token,
    judge_score,
    mcq_letter_extract,
    multiple_choice_acc,
    multiple_choice_acc_verbatim,
)


def spec_of(dataset: Any, scorer: Any = exact_match, **parameters: Any) -> BenchmarkSpec:
    settings: dict[str, Any] = {"prompt": "Q: {question}", "target_field": "answer", "base_dir": Path()}
    return BenchmarkSpec(name="X y", key="x_y", dataset=dataset, scorer=scorer, **{**settings, **parameters})


def check(
    dataset: Any, scorer: Any = exact_match, options: dict[str, Any] | None = None, **parameters: Any
) -> CheckReport:
    return CheckReport.of(spec_of(dataset, scorer, **parameters), RowSettings(**(options or {})))


def rows_of(count: int) -> list[dict[str, Any]]:
    return [{"id": i, "question": f"what is {i}?", "answer": str(i)} for i in range(count)]


def test_a_sound_benchmark_is_sound() -> None:
    report = check(rows_of(10), system_prompt="Be brief.")
    assert report.ok
    assert (report.errors, report.warnings, report.bad_rows) == ((), (), ())
    assert (report.rows, report.requests, report.strategy) == (10, 10, "generate")
    assert report.prompt_tokens_estimate == -(-(10 * (len("Q: what is 0?") + len("Be brief."))) // 4)
    assert (report.template_fields, report.dataset_fields) == (("question",), ("id", "question", "answer"))
    assert report.unused_fields == ()
    assert report.gold is not None
    assert (report.gold.checked, report.gold.right, report.gold.key) == (10, 10, "correct")
    assert report.samples[0].messages == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Q: what is 0?"},
    )
    assert report.samples[1].target == "1"


def test_what_is_printed_of_a_report_and_its_parts_does_not_grow_with_the_rows() -> None:
    good, bad = check(rows_of(3)), check([*rows_of(500), {"id": 9}])
    assert str(good) == "X y: ok (rows 3, requests 3, warnings 0)"
    assert "[<CheckReport X y: errors 0, bad rows 1 (rows 500, " in str([bad])
    spec = spec_of(rows_of(500))
    rows = AskableRows.of(spec, RowSettings())
    batch = next(open_dataset(rows_of(500)).batches())
    assert all(len(repr(value)) < 100 for value in (good, bad, spec, rows, batch))


def test_every_bad_row_is_found_with_file_line_and_cure(tmp_path: Path) -> None:
    lines = [json.dumps(row) for row in rows_of(5)]
    lines[1] = json.dumps({"id": 1, "questoin": "?"})
    lines[3] = "not json"
    (tmp_path / "qa.jsonl").write_text("\n".join(lines))
    report = check("qa.jsonl", base_dir=tmp_path)
    assert not report.ok
    assert (report.rows, report.bad_total) == (3, 2)
    assert [bad.line for bad in report.bad_rows] == [2, 4]
    assert str(report.bad_rows[0]) == (
        'qa.jsonl:2: field "question" is missing; the row has: id, questoin. Did you mean "questoin"? '
        'Map it with field_mapping={"questoin": "question"}'
    )
    assert report.bad_rows[0].field == "question"


def test_listing_is_limited_and_counting_is_not() -> None:
    report = check([*rows_of(1), *({"x": i} for i in range(100))])
    assert (len(report.bad_rows), report.bad_total, report.rows) == (20, 100, 1)


def test_a_field_that_no_row_has_is_one_error_with_near_names() -> None:
    report = check([{"questoin": "a", "answer": "b"}], system_prompt="{lang}")
    assert report.errors == (
        'no row has the field "question" that the prompt reads; the rows have: questoin, answer. Did you mean '
        '"questoin"? Write {questoin} in the prompt, or map the column: field_mapping={"questoin": "question"}',
        'no row has the field "lang" that the system_prompt reads; the rows have: questoin, answer. Write one of '
        'them in the system_prompt, as {questoin}, or map the column: field_mapping={"…": "lang"}',
    )
    assert [bad.reason for bad in report.bad_rows] == ['field "question" is missing']


def test_what_no_row_has_is_said_once_and_not_row_by_row(tmp_path: Path) -> None:
    (tmp_path / "qa.csv").write_text("Frage;Antwort\n" + "x;y\n" * 100 + "x\n")
    spec = spec_of("qa.csv", prompt="{Frge}", target_field="Antwort", base_dir=tmp_path)
    scan = scan_rows(spec, open_dataset("qa.csv", base_dir=tmp_path), build_prompts(spec))
    assert (scan.bad_total, scan.rows) == (101, 0)
    assert [str(bad) for bad in scan.bad_rows] == [
        'qa.csv:2: no row has the field "Frge" that the prompt reads; the rows have: Frage, Antwort. Did you mean '
        '"Frage"? Write {Frage} in the prompt, or map the column: field_mapping={"Frage": "Frge"}',
        'qa.csv:3: field "Frge" is missing as well',
        'qa.csv:4: field "Frge" is missing as well',
        "qa.csv:102: 1 cell, header has 2: write empty cells too",
    ]


@pytest.mark.parametrize(
    ("parameters", "cure"),
    [
        ({"prompt": "{# #}{{ Frge }}"}, 'Did you mean "Frage"? Write {{ Frage }} in the prompt, or map'),
        ({"prompt": "{answers.en}"}, "Write one of them in the prompt, as {Frage}, or map the column"),
        (
            {"prompt": "{Frage}", "turns_field": "Wedn"},
            "turns_field names; the rows have: Frage, Wenden, x.y. Did you",
        ),
        (
            {"prompt": "", "turns_field": "Wedn"},
            'Did you mean "Wenden"? Write turns_field="Wenden" in @benchmark',
        ),
        (
            {"response_field": "said"},
            "that response_field names; the rows have: Frage, Wenden, x.y. Write the right",
        ),
        (
            {"prompt": "{Frage}", "choices_field": "Weden", "endpoint_type": "completions_logprob"},
            'Write choices_field="Wenden" in @benchmark',
        ),
        ({"prompt": "{x_y}"}, 'Did you mean "x.y"? Map the column: field_mapping={"x.y": "x_y"}'),
        (
            {"prompt": "{Frage}", "field_mapping": {"Frage": "question"}},
            'field_mapping has renamed it to "question". Did you mean "question"? Write {question} in the prompt',
        ),
        (
            {"prompt": "{Frge}", "field_mapping": {"Wenden": "turns"}},
            'Write {Frage} in the prompt, or add {"Frage": "Frge"} to field_mapping',
        ),
        (
            {"prompt": "{question}", "field_mapping": {"Fage": "question"}},
            'field_mapping makes it of "Fage", which no row has either.',
        ),
    ],
)
def test_the_cure_begins_where_the_slip_is(parameters: dict[str, Any], cure: str) -> None:
    report = check([{"Frage": "a", "Wenden": ["b"], "x.y": 1}], target_field="x.y", **parameters)
    assert cure in report.errors[0]


def test_only_the_rows_of_a_limit_are_looked_at() -> None:
    rows = [*rows_of(3), {"broken": 1}]
    assert check(rows, options={"limit": 3}).ok
    assert not check(rows).ok


def test_what_cannot_be_opened_or_compiled_is_an_error_in_the_report(tmp_path: Path) -> None:
    assert "lost.jsonl" in check("lost.jsonl", base_dir=tmp_path).errors[0]
    assert "names no field" in check(rows_of(1), prompt="{}").errors[0]
    assert check([]).errors == ("the dataset has no rows",)
    report = check(rows_of(1), options={"model_type": "completions_logprob"})
    assert "ranks choices" in report.errors[0]


def test_doubtful_data_is_told() -> None:
    rows = [
        *rows_of(3),
        {"id": 0, "question": "what is 1?", "answer": None},
        {"question": None, "answer": "x"},
    ]
    report = check(rows)
    assert report.ok
    assert report.warnings == (
        '1 row without a target in "answer"; it is taken as empty',
        'field "question" is null in 1 row; it is written as "None" in the prompt',
        "1 row repeats what an earlier row asks, word for word",
        "1 row repeats the id of an earlier row",
    )


def test_a_target_column_that_is_nowhere_is_told() -> None:
    rows = [{"question": "a", "anwser": "b"}]
    report = check(rows)
    assert report.errors == (
        'no row has the field "answer" that target_field names; the rows have: question, anwser. Did you mean '
        '"anwser"? Write target_field="anwser" in @benchmark',
    )
    unnamed = check(rows, target_field="target")  # some scorers need no target
    assert unnamed.ok
    assert unnamed.warnings == (
        'no row has the field "target", which contains the expected answer unless target_field names '
        'another field; the rows have: question, anwser. Write the right one in @benchmark: target_field="…"',
    )
    assert check([{"question": "a", "answer": None}]).warnings == (
        '1 row without a target in "answer"; it is taken as empty',
    )


def test_whether_a_target_column_exists_can_be_asked_for_by_itself() -> None:
    def problem(row: dict[str, Any]) -> str | None:
        spec = spec_of([row])
        return target_problem(spec, scan_rows(spec, open_dataset([row]), build_prompts(spec)))

    assert problem({"question": "a", "answer": None}) is None
    assert 'Write target_field="answers"' in (problem({"question": "a", "answers": "b"}) or "")
    spec = spec_of([])
    assert target_problem(spec, scan_rows(spec, open_dataset([]), build_prompts(spec))) is None


def test_a_doubtful_definition_is_told(tmp_path: Path) -> None:
    report = check(
        rows_of(2),
        prompt="prompt.txt",
        base_dir=tmp_path,
        choices=("a",),
        choices_field="c",
        config={"num_fewshots": 3},
        requirements=("pytest>=1", "surely-not-installed>=2"),
        fewshot_template="constant",
    )
    told = "\n".join(report.warnings)
    assert "prompt 'prompt.txt' looks like a file, but there is none" in told
    assert "choices and choices_field are both set" in told
    assert "num_fewshots" not in told  # `extra` holds what the user put there on purpose
    assert "reads no field" not in told
    assert "required packages are not installed: surely-not-installed>=2" in told
    assert "fewshot_template shows no field" in told


def test_a_prompt_that_reads_no_field_is_told_with_the_plain_form() -> None:
    rows = [{"Frage": "a", "target": "b"}]
    assert list(definition_warnings(spec_of(rows, prompt="F: {{ Frage }}"))) == [
        'the prompt uses no field, so every row asks the same question: {{ Frage }} is sent as "{ Frage }", since Jinja2 is '
        "used only for .jinja and .jinja2 files and for texts with {% or {#. The plain form is {Frage}"
    ]
    assert (
        "The plain form is {Frage}" in check(rows, prompt="{{Frage|trim}}", target_field="target").warnings[0]
    )
    (constant,) = definition_warnings(spec_of(rows, prompt='Say {{"a": 1}}'))
    assert constant.endswith("every row asks the same question; name a column in braces, such as {question}")
    sound: list[dict[str, Any]] = [
        {"prompt": 'As {{"answer": …}}: {Frage}'},
        {"prompt": "Hello!", "next_turn": lambda conversation: None},
        {"prompt": "", "response_field": "Frage"},
    ]
    assert [list(definition_warnings(spec_of(rows, **parameters))) for parameters in sound] == [[], [], []]


def test_choices_that_run_into_the_prompt_are_told() -> None:
    def told(prompt: str, *choices: str) -> tuple[str, ...]:
        rows = [{"question": "The capital of France is", "answer": choices[0]}]
        parameters: dict[str, Any] = {"endpoint_type": "completions_logprob", "choices": choices}
        return check(rows, multiple_choice_acc, prompt=prompt, **parameters).warnings

    assert told("{question}", "Paris", "Rome") == (
        'choices are appended as written, and <list>:1 ends in "…of France isParis"; begin each choice with a '
        'space: " Paris"',
    )
    assert len(told("{question}:", " Paris", "Rome")) == 1
    assert told("{question}", " Paris", " Rome") == ()
    assert told("{question} (", "A)", "B)") == ()
    assert told("{question}\n", "A", "B") == ()
    assert told("{question}", ".", "!") == ()
    assert told("{question}フランスの首都は", "パリ", "ローマ") == ()


def test_targets_that_are_read_as_another_candidate_are_told() -> None:
    rows = [{"question": f"{n}?", "answer": "2"} for n in range(3)] + [{"question": "four?", "answer": "4"}]
    parameters: dict[str, Any] = {
        "prompt": "{question} =",
        "endpoint_type": "completions_logprob",
        "choices": (" 3", " 2", " 1", " 4"),
    }
    (warning,) = check(rows, multiple_choice_acc, **parameters).warnings
    assert warning == (
        "3 rows have targets that are the text of one candidate and the index or letter of another: '2' in line 1 is "
        "read as '1'. To read targets as texts first, score with multiple_choice_acc_verbatim"
    )
    assert check(rows, multiple_choice_acc_verbatim, **parameters).warnings == ()


def test_settings_of_judges_are_checked_before_anyone_is_asked() -> None:
    good = {"url": "http://x/v1", "model_id": "m", "api_key": "KEY_A"}
    config = {
        "judge": good,
        "judge_1": {**good, "temprature": 1},
        "judge_2": {"url": "http://x/v1"},
        "judge_3": {**good, "api_key": "sk-123456"},
        "judge_strict": JudgeConfig("http://y/v1", "n", "KEY_B"),
        "judge_again": {**good, "max_tokens": 0},
        "judge_threshold": 0.5,
        "judge_4": "http://x/v1",
        "judge_5": None,
        "level": 3,
    }
    spec = spec_of(rows_of(3), judge_score, config=config)
    assert [text.split(";")[0] for text in spec.judge_problems()] == [
        "\"judge_1\": unknown setting 'temprature'. Did you mean 'temperature'? Known: "
        + ", ".join(JudgeConfig.__struct_fields__),
        '"judge_2" lacks model_id',
        '"judge_3": "api_key" must be the name of an environment variable, such as JUDGE_API_KEY, not the key '
        "itself: export JUDGE_API_KEY=… and name the variable here",
        '"judge_again": "max_new_tokens" is 0',
        '"judge_4" is str',
    ]
    assert spec.judge_keys() == ["KEY_A", "KEY_B"]
    report = CheckReport.of(spec)
    assert report.errors == tuple(spec.judge_problems())
    assert report.gold is not None
    assert (report.gold.skipped, report.gold.failed) == ("the scorer asks a judge", 0)
    assert "sk-123456" not in str(report.errors)
    assert spec_of([]).judge_problems() == spec_of([]).judge_keys() == []


def test_gold_answers_that_do_not_score_are_listed() -> None:
    def never(sample: ScorerInput) -> dict[str, bool]:
        return {"correct": sample.target == "1"}

    report = check(rows_of(8), never)
    assert report.ok
    assert report.gold is not None
    assert (report.gold.checked, report.gold.right, len(report.gold.wrong)) == (8, 1, 5)
    assert report.warnings[0].startswith(
        "7 of 8 gold answers do not score as right (correct): <list>:1: target '0' gives correct = false; <list>:3"
    )


def test_gold_is_tried_in_the_spellings_of_a_model() -> None:
    letters = [{"question": "?", "answer": i} for i in range(4)]
    gold = check(letters, mcq_letter_extract).gold
    assert gold is not None
    assert gold.checked == gold.right == 4

    def any_item(sample: ScorerInput) -> dict[str, bool]:
        return {"correct": sample.response in sample.target}

    gold = check([{"question": "?", "answer": ["Paris", "paris, France"]}], any_item).gold
    assert gold is not None
    assert gold.right == 1


def test_a_scorer_that_fails_on_gold_is_told_with_its_words() -> None:
    report = check([{"question": "?", "answer": 5}], lambda sample: sample.target.strip())
    assert report.gold is not None
    assert report.gold.failed == 1
    assert report.warnings == (
        "the scorer fails on the gold answers of 1 row: <list>:1: AttributeError: 'int' object has no attribute 'strip'",
    )
    always = check(rows_of(8), lambda sample: sample.config["absent"])
    assert always.warnings == (
        "the scorer fails on the gold answers of 8 rows: <list>:1: KeyError: 'absent' (and 7 more)",
    )
    other = check(rows_of(8), lambda sample: sample.config[sample.target])
    assert other.warnings[0].endswith("<list>:5: KeyError: '4'; and 3 other texts")
    not_a_dict = check(rows_of(1), lambda sample: 0.5)
    assert "the scorer returned float 0.5; return a dict such as" in not_a_dict.warnings[0]


def test_scores_without_right_or_wrong_are_not_judged() -> None:
    gold = check(rows_of(3), f1_token).gold
    assert gold is not None
    assert (gold.checked, gold.skipped) == (
        0,
        "the scorer gives no right-or-wrong score",
    )


def test_judges_are_not_asked() -> None:
    report = check(rows_of(3), judge_score, config={"judge": {"url": "http://x/v1", "model_id": "m"}})
    assert report.gold is not None
    assert report.gold.skipped == "the scorer asks a judge"
    assert (report.requests, report.judge_requests) == (3, 3)
    assert report.warnings == (
        "judges are called too: about 3 further requests per repeat, one for each sample and judge",
    )


def test_that_a_judge_is_asked_is_seen_and_not_guessed() -> None:
    judge = {"url": "http://x/v1", "model_id": "m"}

    def lenient(sample: ScorerInput) -> Any:
        try:
            return judge_score(sample)
        except JudgeFailedError:
            return {"correct": False}

    cases: list[tuple[Any, Any]] = [
        (rows_of(3), lenient),
        ([{**row, "answer": ""} for row in rows_of(3)], judge_score),
        (rows_of(3), any_of(exact_match, judge_score)),
    ]
    for rows, scorer in cases:
        gold = check(rows, scorer, config={"judge": judge}).gold
        assert gold is not None
        assert (gold.skipped, gold.judged, gold.checked) == ("the scorer asks a judge", True, 0)

    def seldom(sample: ScorerInput) -> Any:
        return {"correct": True} if sample.response == sample.target else judge_score(sample)

    report = check(rows_of(3), seldom, config={"judge": judge, "judge_1": judge})
    assert report.gold is not None
    assert (report.gold.right, report.gold.judged, report.judge_requests) == (3, False, 6)
    assert "up to 6 further requests" in report.warnings[0]


def test_async_and_two_argument_scorers_are_tried_as_well() -> None:
    async def later(sample: ScorerInput, config: dict[str, Any]) -> dict[str, bool]:
        return {"correct": sample.response == sample.target and config["on"]}

    gold = check(rows_of(3), later, config={"on": True}, passes_config=True).gold
    assert gold is not None
    assert gold.right == 3


def test_a_slow_scorer_is_not_waited_for() -> None:
    spec = spec_of(rows_of(20))
    rows = AskableRows.of(spec, RowSettings())
    seconds = iter(range(0, 100, 4))
    gold = check_gold(spec, rows.scan.first, rows.strategy, clock=lambda: next(seconds))
    assert gold.checked == 2
    assert gold.skipped == "stopped after 2 rows: the scorer is slow"


def test_choices_are_checked_row_by_row() -> None:
    rows = [
        {"question": "a", "options": [" x", " y"], "answer": 1},
        {"question": "b", "options": {"text": [" x"]}, "answer": "E"},
        {"question": "c", "options": "x or y", "answer": 0},
    ]
    parameters: dict[str, Any] = {"endpoint_type": "completions_logprob", "choices_field": "options"}
    report = check(rows, multiple_choice_acc, **parameters)
    assert (report.strategy, report.rows, report.requests) == ("choices", 2, 3)
    assert [str(bad) for bad in report.bad_rows] == [
        '<list>:3: choices_field "options" contains str where a list of candidates is expected'
    ]
    assert report.samples[0].choices == (" x", " y")
    assert report.gold is not None
    assert (report.gold.checked, report.gold.right) == (2, 1)
    assert "<list>:2: target 'E' gives acc = false" in report.warnings[-1]
    missing = check([{"question": "a"}], multiple_choice_acc, **parameters)
    assert 'field "options" is missing' in str(missing.bad_rows[0])
    assert "that choices_field names" in missing.errors[0]


def test_ready_made_responses_need_no_prompt_fields() -> None:
    rows = [{"reply": "1", "answer": "1"}, {"answer": "2"}]
    report = check(rows, response_field="reply")
    assert (report.strategy, report.rows, report.requests, report.prompt_tokens_estimate) == (
        "score_only",
        1,
        0,
        0,
    )
    assert 'field "reply" is missing' in str(report.bad_rows[0])
    assert report.errors == ()


def test_conversations_are_measured_turn_by_turn() -> None:
    row = {"question": "abcd", "turns": ["efgh", "ij"], "answer": "x"}
    report = check([row], prompt="{question}", turns_field="turns")
    assert (report.strategy, report.requests) == ("multi_turn", 3)
    assert report.prompt_tokens_estimate == (4 + 8 + 10 + 3) // 4
    doubled = check([{**row, "turns": ["abcd", "x"]}], prompt="{question}", turns_field="turns")
    assert "begins with the prompt itself" in doubled.warnings[-1]
    broken = check([{**row, "turns": None}], prompt="{question}", turns_field="turns")
    assert "a list of turns is expected" in str(broken.bad_rows[0])


def test_few_shot_source_and_overlap_are_reported() -> None:
    report = check(rows_of(20), num_fewshot=2)
    assert report.fewshot is not None
    assert (report.fewshot.source, report.fewshot.overlapping) == ("overlapping_rows", True)
    assert "evaluated too" in report.warnings[0]
    assert report.samples[0].messages[0]["content"].count("Q:") == 3  # type: ignore[union-attr]
    strict = check(rows_of(20), num_fewshot=2, options={"fewshot_strict": True})
    assert "source of their own" in strict.errors[0]
    outside = check(rows_of(20), num_fewshot=2, options={"limit": 5, "fewshot_strict": True})
    assert outside.ok
    assert check(rows_of(20), num_fewshot=2, options={"num_fewshot": 0}).fewshot is None


def test_jinja_fields_with_a_default_are_not_demanded() -> None:
    report = check(rows_of(2), prompt="{# #}{{ hint | default('') }}{{ question }}")
    assert report.ok
    assert report.template_fields == ("hint", "question")


def test_the_scan_counts_in_one_pass() -> None:
    spec = spec_of([])
    rows = [*rows_of(60), {"other": 1}]
    scan = scan_rows(spec, open_dataset(rows), build_prompts(spec))
    assert (scan.rows, scan.bad_total, scan.missing_fields) == (60, 1, {"question": 1})
    assert scan.columns == ("id", "question", "answer", "other")
    assert len(scan.first) == 50
    assert (scan.first[7].index, scan.first[7].line, scan.first[7].row["id"]) == (7, 8, 7)


def test_unreadable_rows_are_handed_on_whether_listed_or_not() -> None:
    spec = spec_of([])
    told: list[int] = []
    rows: Any = [*rows_of(2), "no row", 5, {"other": 1}]
    scan = scan_rows(
        spec, open_dataset(rows), build_prompts(spec), 1, on_unreadable=lambda bad: told.append(bad.line)
    )
    assert told == [3, 4]
    assert (scan.rows, scan.bad_total, len(scan.bad_rows)) == (2, 3, 1)


def test_rows_whose_ids_cannot_be_compared_are_left_alone() -> None:
    rows = [{"id": [1], "question": "a", "answer": "b"}, {"id": [1], "question": "c", "answer": "d"}]
    assert check(rows).warnings == ()


@pytest.mark.parametrize("scorer", [exact_match, mcq_letter_extract])
def test_the_rows_given_to_scorers_are_copies(scorer: Any) -> None:
    rows = rows_of(3)

    def meddling(sample: ScorerInput) -> Any:
        result = scorer(sample)
        sample.metadata.clear()
        return result

    check(rows, meddling)
    assert rows == rows_of(3)
