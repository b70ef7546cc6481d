"""Options in lists, dicts, JSON texts and columns of other names; answers as index, label or set: read, and said."""

from __future__ import annotations

import json
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest
import tiny_media
from msgspec.structs import replace

from benchwright.benchmarks import (
    BenchmarkSpec,
    CheckReport,
    FileReport,
    QuestionOptions,
    load_questions,
)
from benchwright.core import UsageError
from benchwright.runs import run
from benchwright.scorers import exact_match

TEXTS = ["ash", "birch", "cedar", "dogwood"]
TWO = ["q1", "q2"]


def rows(name: str, answers: list[Any], options: Any = None, **others: Any) -> list[dict[str, Any]]:
    extra = {} if options is None else {name: options}
    return [{"question": f"q{i}", **extra, **others, "answer": answer} for i, answer in enumerate(answers)]


def load(folder: Path, data: list[dict[str, Any]] | str, **options: Any) -> BenchmarkSpec:
    name = "f.csv" if isinstance(data, str) else "f.jsonl"
    text = data if isinstance(data, str) else "".join(json.dumps(row) + "\n" for row in data)
    (folder / name).write_text(text, encoding="utf-8")
    return load_questions(name, QuestionOptions.of(options), cwd=folder)


def seen(spec: BenchmarkSpec) -> tuple[list[str], list[str], str]:
    """The options of the first prompt, the targets, and what is said; `check` and `validate` agree on it."""
    report: CheckReport = CheckReport.of(spec)
    file = FileReport.of(spec)
    assert (report.rows, report.bad_total, report.warnings) == (file.rows, file.bad_total, file.warnings)
    prompt = str(report.samples[0].messages[-1]["content"]) if report.samples else ""
    options = [line[3:] for line in prompt.splitlines() if line[1:2] == ")"]
    return options, [sample.target for sample in report.samples], "; ".join(report.warnings)


KNOWN = {
    "MMLU": ([{"question": "q", "choices": TEXTS, "answer": n} for n in (3, 0)], ["D", "A"], "from 0"),
    "from 1": ([{"question": "q", "choices": TEXTS, "answer": n} for n in (4, 1)], ["D", "A"], "from 1"),
    "ARC": (
        [
            {"question": "q", "choices": {"text": TEXTS, "label": label}, "answerKey": key}
            for label, key in ((list("ABCD"), "C"), (list("1234"), "2"))
        ],
        ["C", "B"],
        '"answerKey" is the label',
    ),
    "MedQA": (
        [
            {
                "question": "q",
                "options": dict(zip("ABCD", TEXTS, strict=True)),
                "answer": text,
                "answer_idx": key,
            }
            for text, key in (("birch", "B"), ("dogwood", "D"))
        ],
        ["B", "D"],
        'from "options"',
    ),
    "HellaSwag": ([{"ctx": "q", "endings": TEXTS, "label": n} for n in ("3", "0")], ["D", "A"], '"ctx"'),
    "MedMCQA": (
        [
            {"question": "q", "cop": n, **dict(zip(("opa", "opb", "opc", "opd"), TEXTS, strict=True))}
            for n in (0, 2)
        ],
        ["A", "C"],
        "opa, opb, opc, opd",
    ),
    "PIQA": (
        [{"goal": "q", "sol1": "ash", "sol2": "birch", "label": n} for n in (0, 1)],
        ["A", "B"],
        "from 0",
    ),
    "Winogrande": (
        [{"sentence": "q", "option1": "ash", "option2": "birch", "answer": n} for n in ("2", "1")],
        ["B", "A"],
        "from 1",
    ),
    "list of dicts": (
        [
            {
                "question": "q",
                "choices": [{"label": k, "text": t} for k, t in zip("ABCD", TEXTS, strict=True)],
                "answer": a,
            }
            for a in "BA"
        ],
        ["B", "A"],
        'from "choices"',
    ),
    "full width": (
        [{" Question ": "q", "Ａ": "ash", "Ｂ": "birch", "ANSWER": a} for a in "BA"],
        ["B", "A"],
        "columns",
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_datasets_are_read_as_they_are_published(tmp_path: Path, name: str) -> None:
    data, targets, said = KNOWN[name]
    options, found, notes = seen(load(tmp_path, data))
    assert options == TEXTS[: len(options)]
    assert len(options) >= 2
    assert found == targets
    assert said in notes


def test_options_as_json_or_python_text_in_a_csv_cell(tmp_path: Path) -> None:
    text = 'Question,Options,Answer\nq,"[""ash"", ""birch""]",B\nq2,"[\'ash\', \'birch\', \'cedar\']",C\n'
    options, targets, _ = seen(load(tmp_path, text))
    assert (options, targets) == (["ash", "birch"], ["B", "C"])


def test_a_right_and_wrong_ones_are_put_in_an_order_of_their_own(tmp_path: Path) -> None:
    data = [
        {"question": f"q{i}", "distractor1": "x", "distractor2": "y", "correct_answer": "right"}
        for i in range(40)
    ]
    spec = load(tmp_path, data)
    options, targets, said = seen(spec)
    assert options["ABC".index(targets[0])] == "right"
    assert "drawn from each question" in said
    assert spec.shape is not None
    assert {spec.shape(dict(row))["answer"] for row in data} == {"A", "B", "C"}


def test_an_index_that_may_begin_at_either_number_is_refused_until_told(tmp_path: Path) -> None:
    data = rows("choices", [1, 2], TEXTS)
    report = CheckReport.of(load(tmp_path, data))
    assert not report.ok
    assert "--answer-index 0 or --answer-index 1" in str(report.bad_rows[0])
    assert seen(load(tmp_path, data, answer_index=0))[1] == ["B", "C"]
    assert seen(load(tmp_path, data, answer_index=1))[1] == ["A", "B"]


def test_an_index_out_of_range_is_never_the_text_of_an_option(tmp_path: Path) -> None:
    report = CheckReport.of(load(tmp_path, rows("choices", [9, 0], ["9", "8", "7"]), answer_index=0))
    assert report.bad_total == 1
    assert "index 9" in str(report.bad_rows[0])


def test_numbers_that_are_texts_of_options_are_read_as_texts_and_said(tmp_path: Path) -> None:
    _, targets, said = seen(load(tmp_path, rows("choices", ["2"], ["3", "2", "1", "4"])))
    assert targets == ["2"]
    assert "texts of options" in said


@pytest.mark.parametrize("answer_index", [2, -1, True])
def test_counting_begins_at_nothing_else(answer_index: Any) -> None:
    with pytest.raises(UsageError, match="expected 0 or 1"):
        QuestionOptions(answer_index=answer_index)


def test_a_named_column_is_read_as_a_list(tmp_path: Path) -> None:
    options, targets, _ = seen(load(tmp_path, rows("things", ["birch"], TEXTS), options="things"))
    assert (options, targets) == (TEXTS, ["birch"])


def test_columns_that_look_like_something_and_are_not_used_are_said(tmp_path: Path) -> None:
    data = [{"question": "q", "a": "1", "b": "2", "answer": "7", "label": "x", "figure": "3"}]
    said = seen(load(tmp_path, data))[2]
    assert '"a", "b" look like options' in said
    assert '"label" looks like an answer' in said
    assert '"figure" looks like an image' in said
    no_gold = [{"question": "q", "label": "x"}]
    assert "--output-column label" in CheckReport.of(load(tmp_path, no_gold)).errors[0]


def test_another_answer_column_is_only_worth_a_word_where_it_says_something_else(tmp_path: Path) -> None:
    agreeing = rows("choices", ["birch", "ash"], TEXTS, label=1)
    assert '"label"' in seen(load(tmp_path, agreeing))[2]
    agreeing[1]["label"] = 0
    assert '"label"' not in seen(load(tmp_path, agreeing))[2]


@pytest.mark.parametrize("many", [27, 30])
def test_a_27th_option_is_refused(tmp_path: Path, many: int) -> None:
    data = rows("choices", ["A"], [f"o{n}" for n in range(many)])
    assert "more than 26 options" in str(CheckReport.of(load(tmp_path, data)).bad_rows[0])
    header = ",".join(["question", *ascii_uppercase, "AA", "answer"])
    text = f"{header}\nq,{','.join(f'o{n}' for n in range(27))},A\n"
    assert "more than 26 options" in str(CheckReport.of(load(tmp_path, text)).bad_rows[0])


def test_several_right_answers_make_a_file_of_sets(tmp_path: Path) -> None:
    text = 'question,A,B,C,answer\nq1,x,y,z,"A,C"\nq2,x,y,z,B\n'
    spec = load(tmp_path, text)
    report = CheckReport.of(spec)
    assert report.ok
    assert spec.headline == "exact_set"
    assert report.gold is not None
    assert report.gold.right == 2
    assert "letters of all correct options" in str(report.samples[0].messages[-1]["content"])
    assert "mcq_multi" in "; ".join(report.warnings)
    forced = CheckReport.of(load(tmp_path, text, data_type="mcq"))
    assert "--data-type mcq_multi" in str(forced.bad_rows[0])


def test_one_slip_does_not_make_a_file_of_sets(tmp_path: Path) -> None:
    text = "question,A,B,C,answer\n" + "q,x,y,z,B\n" * 40 + "q,x,y,z,AC\n"
    spec = load(tmp_path, text)
    assert spec.headline == "accuracy"
    assert CheckReport.of(spec).bad_total == 1


def test_guesses_of_one_letter_are_refused_for_sets(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mcq_fallback guesses one letter"):
        load(tmp_path, 'question,A,B,answer\nq,x,y,"A,B"\n', mcq_fallback="levenshtein")


@pytest.mark.parametrize(
    ("method", "prompt", "choices"),
    [
        ("logprob", "Question: q\nA. ash\nB. birch\nAnswer:", (" A", " B")),
        ("logprob_text", "Question: q\nAnswer:", (" ash", " birch")),
    ],
)
def test_options_are_ranked_without_python(
    tmp_path: Path, method: str, prompt: str, choices: tuple[str, ...]
) -> None:
    spec = load(tmp_path, "question,A,B,answer\nq,ash,birch,B\nq,ash,birch,ash\n", infer_method=method)
    report = CheckReport.of(spec)
    assert report.ok
    assert report.strategy == "choices"
    assert report.gold is not None
    assert report.gold.right == 2
    assert report.samples[0].messages[-1]["content"] == prompt
    assert report.samples[0].choices == choices
    result = run(tmp_path / "f.csv", infer_method=method, workspace=tmp_path)
    assert result["chance"] == 0.5
    assert {"acc", "acc_norm"} <= result.summary.metrics.keys()


def test_ranking_is_refused_where_it_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="these are qa"):
        load(tmp_path, "question,answer\nq,x\n", infer_method="logprob")
    with pytest.raises(UsageError, match="prompt_style is about replies"):
        load(tmp_path, "question,A,B,answer\nq,x,y,A\n", infer_method="logprob", prompt_style="cot")


def test_two_images_under_one_question_are_no_copies(tmp_path: Path) -> None:
    for name in ("cat.png", "dog.png"):
        (tmp_path / name).write_bytes(tiny_media.PNG)
    data = [
        {"question": "What is it?", "answer": a, "type": "image", "path": f"{a}.png"} for a in ("cat", "dog")
    ]
    assert not CheckReport.of(load(tmp_path, data)).warnings
    assert "repeats what an earlier row asks" in CheckReport.of(load(tmp_path, [*data, data[0]])).warnings[0]


def test_targets_and_responses_stand_at_dotted_paths(tmp_path: Path) -> None:
    data = [{"q": "?", "gold": {"text": ["x", "y"]}, "out": {"reply": "x"}}]
    spec = BenchmarkSpec(
        name="d", key="d", dataset=data, prompt="{q}", scorer=exact_match, target_field="gold.text.0",
        response_field="out.reply", base_dir=tmp_path,
    )  # fmt: skip
    report = CheckReport.of(spec)
    assert (report.ok, report.samples[0].target) == (True, "x")
    assert report.gold is not None
    assert report.gold.right == 1
    assert not CheckReport.of(replace(spec, target_field="gold.nothing")).ok
    assert not CheckReport.of(replace(spec, response_field="out.nothing")).ok


def test_a_named_column_of_options_that_holds_no_lists_is_refused(tmp_path: Path) -> None:
    text = "question,choices,answer\n2+2=,see above,4\n2+1=,see above,3\n"
    with pytest.raises(UsageError, match=r'"choices", and no cell of it is a list of options: \'see above\''):
        load(tmp_path, text, options=["choices"])
    options, _, said = seen(load(tmp_path, text))
    assert options == []
    assert "not used" in said
    assert "--options" not in said, "it would be refused"


def test_columns_that_users_name_are_found_in_any_case(tmp_path: Path) -> None:
    text = 'Stem ,Options,Gold\n2+2=,"[""3"", ""4""]",B\n2+1=,"[""3"", ""4""]",A\n'
    spec = load(tmp_path, text, input_columns=["stem"], output_column="GOLD", options=["options"])
    assert seen(spec)[:2] == (["3", "4"], ["B", "A"])


LISTED = {
    "labels and slashes": "a) 1 / b) 2 / c) 3",
    "tight slashes": "a) 1/b) 2/c) 3",
    "slashes": "1 / 2 / 3",
    "lines": "1\n2\n3",
    "semicolons": "1; 2; 3",
}


@pytest.mark.parametrize("cell", LISTED.values(), ids=LISTED)
@pytest.mark.parametrize(
    "name", ["Möglichkeiten", "Auswahl", "Antwortmöglichkeiten", "Choix", "Opciones", "Scelte"]
)
def test_a_column_of_options_is_read_by_its_name_in_other_languages(
    name: str, cell: str, tmp_path: Path
) -> None:
    data = [{"Frage": f"q{n}", name: cell, "Korrekt": letter} for n, letter in enumerate("bca")]
    for options in ({}, {"output_column": "Korrekt"}):
        spec = load(tmp_path, data, **options)
        read, targets, said = seen(spec)
        assert (spec.data_type, read, targets) == ("mcq", ["1", "2", "3"], ["b", "c"])
        assert f'options are read from "{name}"' in said


@pytest.mark.parametrize("cell", LISTED.values(), ids=LISTED)
def test_lists_in_a_column_of_any_name_are_reported_if_the_answers_are_letters(
    cell: str, tmp_path: Path
) -> None:
    data = [{"Frage": f"q{n}", "Zum Ankreuzen": cell, "Lösung": letter} for n, letter in enumerate("bca")]
    said = seen(load(tmp_path, data))[2]
    assert 'column "Zum Ankreuzen" contains lists' in said
    assert "--options 'Zum Ankreuzen'" in said
    assert seen(load(tmp_path, data, options="Zum Ankreuzen"))[0] == ["1", "2", "3"]
    assert "contains lists" not in seen(load(tmp_path, data, data_type="qa"))[2]
    texts = [{**row, "Lösung": "Berlin"} for row in data]
    assert "contains lists" not in seen(load(tmp_path, texts))[2]


def test_units_with_a_slash_are_one_option(tmp_path: Path) -> None:
    data = rows("options", ["a", "b"], "a) m/s b) km/h")
    assert seen(load(tmp_path, data))[0] == ["m/s", "km/h"]


def test_an_answer_in_another_form_of_date_is_told_how_options_are_read(tmp_path: Path) -> None:
    data = [{"question": "q", "A": "2026-12-31", "B": "2027-01-31", "answer": "31.12.2026"}]
    (bad,) = FileReport.of(load(tmp_path, data)).bad_rows
    assert "Cells with dates are read as 2026-12-31, 2027-01-31" in bad.reason


def test_messages_list_only_columns_of_the_file(tmp_path: Path) -> None:
    data = [{"Nr.": n, "Frage": "q", "Auswahl": "x; y", "Note": "gut"} for n in (1, 2)]
    said = " ".join(FileReport.of(load(tmp_path, data, output_column="Ergebnis")).errors)
    assert "the rows have: Nr., Frage, Auswahl, Note." in said
