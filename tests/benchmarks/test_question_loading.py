"""A bare file becomes a benchmark: its type is found in all rows, its name keeps all but the known suffixes."""

from __future__ import annotations

import gzip
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks import (
    BenchmarkSpec,
    CheckReport,
    QuestionOptions,
    load_questions,
    strategy_of,
    written_as,
)
from benchwright.core import NotFoundError, UsageError

MCQ = "question,A,B,C,answer\n1+1=,1,2,3,B\n2+2=,3,4,5,B\n"
QA = "question,answer\n1+1=,2\n2+2=,4\n"


def load(folder: Path, name: str, text: str | bytes, **options: object) -> BenchmarkSpec:
    path = folder / name
    if isinstance(text, str):
        path.write_text(text, encoding="utf-8", newline="")
    else:
        path.write_bytes(text)
    return load_questions(name, QuestionOptions.of(options), cwd=folder)


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("target", "yes"),
    [
        ("test.csv", True),
        ("test.TSV", True),
        ("a/b.jsonl", True),
        ("x.json.gz", True),
        ("x.parquet", True),
        ("x.csv.zst", True),
        ("hf://org/name", True),
        ("mine://somewhere", True),
        ("bench.py", False),
        ("bench.py:name", False),
        ("package.module", False),
        ("csv", False),
        ("suite.toml", False),
    ],
)
def test_data_is_told_from_code_by_its_name(target: str, yes: bool) -> None:
    assert (written_as(target) == "questions") is yes


@pytest.mark.parametrize(
    ("file", "name"), [("x.y.csv", "x.y"), ("test.csv.gz", "test"), ("data.v2.CSV", "data.v2")]
)
def test_only_known_suffixes_are_dropped_from_the_name(tmp_path: Path, file: str, name: str) -> None:
    text: str | bytes = gzip.compress(QA.encode()) if file.endswith(".gz") else QA
    assert load(tmp_path, file, text).name == name


def test_a_name_without_any_letter_still_has_a_key(tmp_path: Path) -> None:
    assert load(tmp_path, "!!!.csv", QA).key == "questions"


def test_options_in_any_row_make_multiple_choice(tmp_path: Path) -> None:
    text = lines({"question": "a", "answer": "x"}, {"question": "b", "A": "1", "B": "2", "answer": "A"})
    spec = load(tmp_path, "late.jsonl", text)
    assert spec.family == "mcq"
    report = CheckReport.of(spec)
    assert [str(bad) for bad in report.bad_rows] == [
        "late.jsonl:1: a multiple-choice question needs two or more options (A, B, …); this row has none"
    ]


@pytest.mark.parametrize(
    "header", ["question,answer", "question,A,answer", "question,a,b,answer", "question,A,C,answer"]
)
def test_without_two_options_from_a_it_is_qa(tmp_path: Path, header: str) -> None:
    cells = ",".join("x" for _ in header.split(","))
    assert load(tmp_path, "f.csv", f"{header}\n{cells}\n").family == "qa"


def test_options_that_are_empty_in_every_row_are_no_options(tmp_path: Path) -> None:
    assert load(tmp_path, "f.csv", "question,A,B,answer\nq,,,4\nr, ,x,5\n").family == "qa"


def test_lower_case_columns_whose_answers_do_not_fit_come_with_a_hint_that_works(tmp_path: Path) -> None:
    text = "question,a,b,c,answer\n1+1=,1,2,3,7\n"
    doubt = "; ".join(load(tmp_path, "f.csv", text).doubts)
    assert 'columns "a", "b", "c" look like options' in doubt
    assert "--options a,b,c" in doubt
    text = "question,a,b,c,answer\n1+1=,1,2,3,b\n"
    spec = load(tmp_path, "f.csv", text, options="a,b,c")
    assert spec.family == "mcq"
    assert spec.doubts == ()
    assert CheckReport.of(spec).ok


def test_a_gap_among_the_columns_is_said_aloud(tmp_path: Path) -> None:
    (doubt,) = load(tmp_path, "f.csv", "question,A,C,answer\nq,1,2,A\n").doubts
    assert "A, C look like options" in doubt
    assert "there is no B" in doubt


def test_a_forced_type_that_the_rows_contradict_is_refused_with_what_was_found(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no row of f.csv has two options .* makes it qa"):
        load(tmp_path, "f.csv", QA, data_type="mcq")
    with pytest.raises(UsageError, match=r"have options \(A, B, C\), which makes it mcq"):
        load(tmp_path, "f.csv", MCQ, data_type="qa")
    assert load(tmp_path, "f.csv", MCQ, data_type="mcq").family == "mcq"


def test_other_methods_are_refused_with_the_legal_ones() -> None:
    with pytest.raises(UsageError, match="infer_method is 'ppl'; expected gen or logprob or logprob_text"):
        QuestionOptions.of({"infer_method": "ppl"})


def test_a_file_that_is_not_there_is_not_found_with_near_names(tmp_path: Path) -> None:
    (tmp_path / "test_mcq.csv").write_text(MCQ, encoding="utf-8")
    with pytest.raises(NotFoundError, match=r"Did you mean 'test_mcq.csv'"):
        load_questions("tset_mcq.csv", QuestionOptions(), cwd=tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.tsv", "question\tA\tB\tanswer\nq\t1\t2\tB\n"),
        ("f.json", json.dumps([{"question": "q", "A": 1, "B": 2, "answer": "B"}])),
        ("f.csv", "\ufeffquestion,A,B,answer\r\n\r\nq,1,2,B\r\n\r\n"),
        ("f.jsonl", '\ufeff{"question": "q", "A": 1, "B": 2, "answer": "B"}\r\n\r\n'),
        ("f.jsonl.gz", gzip.compress(b'{"question": "q", "A": "1", "B": "2", "answer": "B"}\n', mtime=0)),
    ],
)
def test_formats_and_their_peculiarities(tmp_path: Path, name: str, text: str | bytes) -> None:
    report = CheckReport.of(load(tmp_path, name, text))
    assert report.ok
    assert (report.data_type, report.rows, dict(report.options)) == ("mcq", 1, {2: 1})
    assert report.samples[0].messages[0]["content"] == (
        "q\n\nA) 1\nB) 2\nReply with the letter of the correct option only."
    )


def test_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"question": ["q", "r"], "A": [1, 2], "B": [3, None], "answer": ["A", None]})
    pq.write_table(table, tmp_path / "f.parquet")
    spec = load_questions("f.parquet", QuestionOptions(), cwd=tmp_path)
    report = CheckReport.of(spec)
    assert report.data_type == "mcq"
    assert [bad.line for bad in report.bad_rows] == [2]


def test_data_without_answers_are_asked_and_not_scored(tmp_path: Path) -> None:
    for name, text in (("f.csv", "question\nq\n"), ("g.csv", "question,answer\nq,\n")):
        spec = load(tmp_path, name, text)
        assert "no answers" in spec.unscored
        assert CheckReport.of(spec).ok
    spec = load(tmp_path, "h.csv", "question,A,B\nq,1,2\n")
    assert (spec.family, bool(spec.unscored)) == ("mcq", True)


def test_a_mistyped_answer_column_is_not_taken_for_none(tmp_path: Path) -> None:
    report = CheckReport.of(load(tmp_path, "f.csv", "question,anwser\nq,1\n"))
    assert not report.ok
    assert 'Did you mean "anwser"? Name the column: --output-column anwser' in report.errors[0]


@pytest.mark.parametrize("name", ["gold", "target", "answr"])
def test_a_named_answer_column_must_be_there(tmp_path: Path, name: str) -> None:
    report = CheckReport.of(load(tmp_path, "f.csv", MCQ, output_column=name))
    assert f'no row has the field "{name}"' in report.errors[0]
    assert 'Did you mean "answer"? Name the column: --output-column answer' in report.errors[0]


QUESTION_NAMES = ["Q", "prompt", "Aufgabe", "query", "Fragestellung", "Task", "instruction", "Questoin"]
ANSWER_NAMES = [
    "Solution", "completion", "Ergebnis", "Korrekt", "correct", "Right answer", "A", "ans", "Musterlösung", "Loesung", "Expected",
    "expected_output", "ground truth", "Reference answer", "Output", "anwser", "correctAnswer", "Sollantwort", "Respuesta esperada",
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWER_NAMES)
def test_advice_tells_questions_from_answers_and_can_be_followed(tmp_path: Path, answer: str) -> None:
    for question in ("question", *QUESTION_NAMES):
        for header in ([question, answer], [answer, question], ["id", question, answer]):
            cells = {"id": ["x", "y"], question: ["ask one", "ask two"], answer: ["one", "two"]}
            lines = [",".join(header), *(",".join(cells[name][row] for name in header) for row in (0, 1))]
            text = "\n".join(lines) + "\n"
            spec = load(tmp_path, "f.csv", text)
            report = CheckReport.of(spec)
            options: dict[str, Any] = {}
            if not report.ok:
                said = shlex.split(" ".join([*report.errors, *(bad.reason for bad in report.bad_rows)]))
                if "--input-columns" in said:
                    options["input_columns"] = [said[said.index("--input-columns") + 1].rstrip(".")]
                if "--output-column" in said:
                    options["output_column"] = said[said.index("--output-column") + 1].rstrip(".")
                report = CheckReport.of(load(tmp_path, "f.csv", text, **options))
            assert report.ok, (header, options, report.errors)
            assert not load(tmp_path, "f.csv", text, **options).unscored
            assert report.samples[0].target == "one"
            assert "ask one" in str(report.samples[0].messages)


@pytest.mark.parametrize(
    "header",
    ["question,Lösung", "question,topic", "question,answer_type", "question,A,C", "question,Resolution"],
)
def test_data_without_answers_still_run(tmp_path: Path, header: str) -> None:
    blank = "" if "Lösung" in header else "x"
    row = ",".join(["q", *[blank] * header.count(",")])
    spec = load(tmp_path, "f.csv", f"{header}\n{row}\n{row}2\n" if blank else f"{header}\n{row}\n{row}\n")
    assert spec.unscored
    assert CheckReport.of(spec).ok


def test_a_mistyped_answer_of_one_row_is_named(tmp_path: Path) -> None:
    good, bad = {"question": "q", "answer": "1"}, {"question": "r", "anwser": "2"}
    text = "".join(json.dumps(row) + "\n" for row in (good, good, bad))
    (said,) = (one for one in CheckReport.of(load(tmp_path, "f.jsonl", text)).warnings if "no answer" in one)
    assert 'column "anwser" looks like an answer and is not used' in said


@pytest.mark.parametrize("options", [["X", "Y"], ["Y", "X"]])
def test_any_columns_may_be_named_as_options(tmp_path: Path, options: list[str]) -> None:
    spec = load(tmp_path, "f.csv", "question,X,Y,answer\nq,red,blue,A\n", options=options)
    content = CheckReport.of(spec).samples[0].messages[0]["content"]
    texts = {"X": "red", "Y": "blue"}
    assert f"A) {texts[options[0]]}\nB) {texts[options[1]]}\n" in content


def test_options_must_be_there(tmp_path: Path) -> None:
    row = {"question": "q", "A": "1", "B": "2", "answer": "A"}
    plain, late = (
        "".join(json.dumps(one) + "\n" for one in (row, {**row, **more})) for more in ({}, {"C": "3"})
    )
    assert CheckReport.of(load(tmp_path, "f.jsonl", late, options=["A", "B", "C"])).ok
    for options, reason in (
        (["A", "B", "C"], "names C, and no row of f.jsonl"),
        (["chioces"], "no row has it"),
    ):
        with pytest.raises(UsageError, match=reason):
            load(tmp_path, "f.jsonl", plain, options=options)


def test_other_columns_may_hold_question_and_answer(tmp_path: Path) -> None:
    text = "context,stem,gold,answer\nOnce.,What?,x,decoy\n"
    spec = load(tmp_path, "f.csv", text, input_columns=["context", "stem"], output_column="gold")
    report = CheckReport.of(spec)
    assert report.samples[0].messages[0]["content"] == "Once.\nWhat?"
    assert report.samples[0].target == "x"


def test_options_restrict_which_letters_count(tmp_path: Path) -> None:
    text = "question,A,B,C,answer\nq,1,2,a note,B\n"
    report = CheckReport.of(load(tmp_path, "f.csv", text, options=["A", "B"]))
    assert dict(report.options) == {2: 1}
    assert "a note" not in str(report.samples[0].messages)
    assert report.gold is not None
    assert report.gold.right == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["B", "C"], "follow one another from A"),
        (["A"], "expected 2 to 26"),
        (["x", "y"], "has no such columns, only: question, A, B, C, answer"),
        (["C", "question"], "has a column A already"),
    ],
)
def test_options_that_cannot_be_lettered_are_refused(tmp_path: Path, options: list[str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        load(tmp_path, "f.csv", MCQ, options=options)


def test_ranking_by_log_probability_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--model-type chat or completions"):
        strategy_of(load(tmp_path, "f.csv", MCQ), "completions_logprob")


def test_type_and_rules_have_their_place_in_the_evaluation_type(tmp_path: Path) -> None:
    assert load(tmp_path, "My Test.csv", MCQ).eval_type == "mcq.my_test"
    assert load(tmp_path, "f.csv", QA).eval_type == "qa.f"


def test_options_survive_their_record() -> None:
    options = QuestionOptions(
        data_type="qa", qa_metrics=("f1", "exact"), options=("a", "b"), judge={"url": "u"}, compat=True
    )
    assert QuestionOptions.from_json(json.loads(json.dumps(options.to_json()))) == options
    assert QuestionOptions.from_json({**options.to_json(), "of_a_later_version": 1}) == options


def test_options_understand_the_names_of_other_configurations() -> None:
    rounds = {"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "A: {answer}"}]}
    options = QuestionOptions.of({"abbr": "sums", "template": rounds, "test_range": 5, "meta_path": None})
    assert (options.name, options.human_prompt, options.bot_prompt) == ("sums", "{question}", "A: {answer}")
    assert options.test_range == "5"
    with pytest.raises(UsageError, match=r"entry 1: 'promt_style' is not known. Did you mean 'prompt_style'"):
        QuestionOptions.of({"promt_style": "cot"}, "entry 1")
