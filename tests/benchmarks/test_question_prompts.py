"""How a row of a question file asks. No prompt holds the expected answer, and inserted text is never read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks import BenchmarkSpec, CheckReport, QuestionOptions, load_questions
from benchwright.benchmarks._fewshot import resolve_fewshot
from benchwright.benchmarks._prompts import Prompt, build_prompts
from benchwright.core import UsageError

SUM = {"question": "165+833+650+615=", "A": "2258", "B": "2263", "C": "2281", "answer": "B"}
FREE = {"question": "1+1=", "answer": "2"}


def load(folder: Path, rows: list[dict[str, Any]], **options: Any) -> BenchmarkSpec:
    (folder / "f.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return load_questions("f.jsonl", QuestionOptions.of(options), cwd=folder)


def asked(folder: Path, row: dict[str, Any], **options: Any) -> str:
    return build_prompts(load(folder, [row], **options)).build(row).text


def test_multiple_choice_asks_for_the_letter(tmp_path: Path) -> None:
    assert asked(tmp_path, SUM) == (
        "165+833+650+615=\n\nA) 2258\nB) 2263\nC) 2281\nReply with the letter of the correct option only."
    )


def test_multiple_choice_with_thinking_ends_in_a_line_for_the_letter(tmp_path: Path) -> None:
    text = asked(tmp_path, SUM, prompt_style="cot")
    assert text.startswith("165+833+650+615=\n\nA) 2258\nB) 2263\nC) 2281\nThink step by step.")
    assert "ANSWER: <letter>" in text


def test_the_prompts_of_aisbench(tmp_path: Path) -> None:
    assert asked(tmp_path, SUM, prompt_style="aisbench") == (
        "Question: 165+833+650+615=\nA. 2258\nB. 2263\nC. 2281\nAnswer: "
    )
    assert asked(tmp_path, FREE, prompt_style="aisbench") == "Question: 1+1=\nAnswer: "
    assert asked(tmp_path, {"question": "1+1="}, prompt_style="aisbench") == "1+1="


def test_a_free_question_stands_alone(tmp_path: Path) -> None:
    assert asked(tmp_path, FREE) == "1+1="
    assert asked(tmp_path, {"question": 7, "answer": "x"}) == "7"


def test_each_row_shows_its_own_options(tmp_path: Path) -> None:
    rows = [
        {"question": "q", **{letter: letter.lower() for letter in letters}, "answer": "A"}
        for letters in ("ABC", "AB", "ABCDE", "AB", "ABCD")
    ]
    build = build_prompts(load(tmp_path, rows)).build
    for row in rows:
        shown = [line[0] for line in build(row).text.splitlines() if line[1:3] == ") "]
        assert shown == [letter for letter in "ABCDE" if letter in row]


def test_empty_cells_are_no_options(tmp_path: Path) -> None:
    row = {"question": "q", "A": "x", "B": "y", "C": "", "D": "  ", "E": None, "answer": "A"}
    assert "C)" not in asked(tmp_path, row)


def test_values_of_other_types_are_shown_as_text(tmp_path: Path) -> None:
    row = {"question": 5, "A": 0, "B": 1.5, "C": True, "answer": "A"}
    assert asked(tmp_path, row).startswith("5\n\nA) 0\nB) 1.5\nC) True\n")


@pytest.mark.parametrize("style", ["benchwright", "cot", "aisbench"])
def test_braces_and_percent_signs_in_the_data_stay_as_they_are(tmp_path: Path, style: str) -> None:
    row = {"question": "{A} %s {answer} {{x}}", "A": "{B}", "B": "%d {question}", "answer": "B"}
    text = asked(tmp_path, row, prompt_style=style)
    assert "{A} %s {answer} {{x}}" in text
    assert "A) {B}" in text or "A. {B}" in text
    assert "%d {question}" in text


def test_a_template_of_ones_own_is_filled_in_one_pass(tmp_path: Path) -> None:
    row = {"question": "{A}?", "A": "x", "B": "y", "topic": "sums", "answer": "B"}
    text = asked(tmp_path, row, template="[{topic}] {question}\n{options}\nor {A}")
    assert text == "[sums] {A}?\nA) x\nB) y\nor x"
    assert asked(tmp_path, row, template="{options}", prompt_style="aisbench") == "A. x\nB. y"


def test_a_template_may_be_a_file_and_jinja(tmp_path: Path) -> None:
    (tmp_path / "ask.jinja").write_text(
        "{{ question }}{% if A %}: {{ options }}{% endif %}", encoding="utf-8"
    )
    assert asked(tmp_path, SUM, template="ask.jinja").startswith("165+833+650+615=: A) 2258\nB)")
    with pytest.raises(UsageError, match=r"template: there is no file asks.jinja"):
        load(tmp_path, [SUM], template="asks.jinja")


def test_a_column_called_options_is_that_column(tmp_path: Path) -> None:
    row = {**SUM, "options": "as the data say"}
    assert asked(tmp_path, row, template="{question} {options}") == "165+833+650+615= as the data say"


def test_an_unknown_placeholder_is_an_error_before_the_run(tmp_path: Path) -> None:
    report = CheckReport.of(load(tmp_path, [SUM], template="{qestion} {options}"))
    assert not report.ok
    assert 'no row has the field "qestion"' in report.errors[0]
    assert 'Did you mean "question"' in report.errors[0]
    with pytest.raises(UsageError, match="the rows have none"):
        load(tmp_path, [FREE], template="{options}")


SECRET = {"question": "q", "A": "x", "B": "y", "C": "z", "answer": "the gold is here: z"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prompt_style": "cot"},
        {"prompt_style": "aisbench"},
        {"template": "{question} {options} {answer}"},
        {"template": "{% if answer %}{{ answer }}{% endif %}{{ question }}"},
        {"human_prompt": "{question}", "bot_prompt": "So: {answer}"},
        {"human_prompt": "{question}", "prompt_style": "aisbench"},
    ],
)
def test_no_prompt_holds_the_answer(tmp_path: Path, options: dict[str, Any]) -> None:
    row = {**SECRET, "answer": "gold!"}
    spec = load(tmp_path, [{**SECRET, "answer": "C"}], **options)
    assert "gold!" not in build_prompts(spec).build(row).flat


def test_the_system_prompt_of_an_earlier_versions_record_is_still_a_template(tmp_path: Path) -> None:
    spec = load(tmp_path, [SUM], system="Options: {A}.")
    assert build_prompts(spec).build(SUM) == Prompt(asked(tmp_path, SUM), f"Options: {SUM['A']}.")


def test_turns_of_other_configurations_make_one_prompt_with_an_open_answer(tmp_path: Path) -> None:
    text = asked(tmp_path, SUM, human_prompt="Q: {question}\n{A} {B}", bot_prompt="Answer: {answer}")
    assert text == "Q: 165+833+650+615=\n2258 2263\nAnswer: "
    assert asked(tmp_path, FREE, human_prompt="{question}", prompt_style="aisbench") == "1+1=\nAnswer: "
    with pytest.raises(UsageError, match="give one of them"):
        QuestionOptions(template="a", human_prompt="b")


def test_thinking_first_is_for_multiple_choice(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="prompt_style cot asks for a letter"):
        load(tmp_path, [FREE], prompt_style="cot")


def shown_examples(spec: BenchmarkSpec, count: int) -> list[str]:
    fewshot = resolve_fewshot(spec, num_fewshot=count)
    assert fewshot is not None
    return [example.text for example in fewshot.examples]


@pytest.mark.parametrize(
    ("options", "ending"),
    [
        ({}, "C) 2281\nReply with the letter of the correct option only.\nB"),
        ({"prompt_style": "aisbench"}, "C. 2281\nAnswer: B"),
        ({"prompt_style": "cot"}, "\nANSWER: B"),
        ({"template": "{question} Pick: {answer}"}, "615= Pick: B"),
        ({"template": "{question}"}, "615=\nB"),
    ],
)
def test_an_example_is_the_prompt_and_its_letter(
    tmp_path: Path, options: dict[str, Any], ending: str
) -> None:
    solved = {**SUM, "answer": "2263"}  # a text in the data, a letter in the example
    (tmp_path / "solved.jsonl").write_text(json.dumps(solved), encoding="utf-8")
    other = {**SUM, "question": "1+1="}
    spec = load(tmp_path, [other], fewshot_dataset="solved.jsonl", **options)
    (example,) = shown_examples(spec, 1)
    assert example.endswith(ending)
    assert build_prompts(spec, resolve_fewshot(spec, num_fewshot=1)).build(other).text.startswith(example)


def test_examples_of_free_questions_show_the_first_of_several_answers(tmp_path: Path) -> None:
    rows = [{"question": f"q{n}", "answer": [f"a{n}", "or this"]} for n in range(3)]
    assert shown_examples(load(tmp_path, rows), 3) == ["q0\na0", "q1\na1", "q2\na2"]
    spec = load(tmp_path, rows, prompt_style="aisbench")
    assert shown_examples(spec, 3)[0] == "Question: q0\nAnswer: a0"


def test_rows_without_an_answer_are_no_examples(tmp_path: Path) -> None:
    rows = [{"question": "q0"}, {"question": "q1", "answer": ""}, {"question": "q2", "answer": "a2"}]
    assert shown_examples(load(tmp_path, rows), 3) == ["q2\na2"]


def test_a_row_is_not_shown_itself_as_an_example(tmp_path: Path) -> None:
    rows = [{**SUM, "question": f"{n}+1="} for n in range(6)]
    spec = load(tmp_path, rows)
    prompts = build_prompts(spec, resolve_fewshot(spec, num_fewshot=3))
    for row in rows:
        assert prompts.build(row).text.count(row["question"] + "\n") == 1


@pytest.mark.parametrize(
    ("template", "sent"),
    [
        ("{question} ({hint})", "a? ()"),
        ("{% if hint %}{{ hint }}{% endif %}{{ question }}|{{ hint }}|", "a?||"),
        ("{question} [{meta[hint]}]", "a? []"),
        ("{question} {hint:>3}|", "a?    |"),
    ],
)
@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_null_in_a_template_is_empty_as_a_cell_of_a_csv_file(
    template: str, sent: str, nothing: object, tmp_path: Path
) -> None:
    row = {"question": "a?", "hint": nothing, "meta": {"hint": nothing}, "answer": "x"}
    other = {**row, "hint": "h", "meta": {"hint": "h"}}
    report = CheckReport.of(load(tmp_path, [row, other], template=template))
    assert report.samples[0].messages[-1]["content"] == sent
    assert not any("None" in note for note in report.warnings)
    if template.startswith("{question} ("):
        assert 'field "hint" is null in 1 row; it is empty in the prompt' in report.warnings
