"""What is wrong with single rows of a question file: every one is named, with its line and the cure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright import run
from benchwright.benchmarks import FileReport, QuestionOptions, load_questions
from benchwright.cli import main


def validated(folder: Path, name: str, text: str, **options: Any) -> FileReport:
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return FileReport.of(load_questions(name, QuestionOptions.of(options), cwd=folder))


def reasons(report: FileReport) -> list[str]:
    return [str(bad) for bad in report.bad_rows]


def test_all_bad_rows_are_named_with_their_lines(tmp_path: Path) -> None:
    report = validated(
        tmp_path,
        "f.csv",
        "question,A,B,C,D,answer,max_tokens\r\n"
        "fine,1,2,3,4,D,\r\n"
        ",1,2,3,4,A,\r\n"
        '"over\r\nlines",1,2,3,4,E,\r\n'
        "gap,1,,3,4,A,\r\n"
        "short,1,2\r\n"
        "length,1,2,3,4,A,many\r\n"
        "one,1,,,,A,\r\n"
        "text,1,2,3,4,Berlin,\r\n",
    )
    assert reasons(report) == [
        'f.csv:3: missing "question": it is empty. Fill it in, or leave the row out with --skip-bad-rows',
        'f.csv:4: answer "E" is not one of A-D',
        "f.csv:6: options A, C, D have a gap: B is missing or empty. Options follow one another from A",
        "f.csv:7: 3 cells, header has 7: write empty cells too",
        'f.csv:8: max_tokens "many" is not a whole number of 0 or more (0 or empty: the run\'s)',
        "f.csv:9: a multiple-choice question needs two or more options (A, B, …); this row has only A",
        'f.csv:10: answer "Berlin" is not one of A-D, nor the text of exactly one option',
    ]
    assert (report.rows, report.bad_total, report.ok) == (1, 7, False)


def test_hundreds_of_bad_rows_are_all_listed(tmp_path: Path) -> None:
    rows = "".join(f"q{n},1,2,{'E' if n % 2 else 'A'}\n" for n in range(1000))
    report = validated(tmp_path, "f.csv", f"question,A,B,answer\n{rows}")
    assert len(report.bad_rows) == report.bad_total == 500
    assert report.bad_rows[-1].line == 1001


@pytest.mark.parametrize(
    ("value", "good"),
    [
        (7, True),
        ("7", True),
        (" 7 ", True),
        ("512.0", True),
        (512.0, True),
        (0, True),
        ("", True),
        (None, True),
        (-1, False),
        ("1.5", False),
        (True, False),
        ("7 tokens", False),
        ([7], False),
        ("nan", False),
        ("1e999", False),
    ],
)
def test_lengths_of_rows_are_whole_numbers(tmp_path: Path, value: Any, good: bool) -> None:
    row = {"question": "q", "answer": "a", "max_tokens": value}
    assert validated(tmp_path, "f.jsonl", json.dumps(row)).ok is good


@pytest.mark.parametrize(
    ("answer", "good"),
    [
        ("B", True),
        ("b", True),
        (" B ", True),
        ("London", True),
        ("london", True),
        ("B) London", True),
        ("D", False),
        ("Berlin", False),
        (["A", "B"], False),
        ("AB", False),
        ("A, C", False),
    ],
)
def test_answers_of_multiple_choice_are_letters_or_the_text_of_one_option(
    tmp_path: Path, answer: Any, good: bool
) -> None:
    row = {"question": "q", "A": "Paris", "B": "London", "C": "Rome", "answer": answer}
    assert validated(tmp_path, "f.jsonl", json.dumps(row), data_type="mcq").ok is good


def test_an_answer_that_is_the_text_of_two_options_is_bad(tmp_path: Path) -> None:
    row = {"question": "q", "A": "same", "B": "same", "answer": "same"}
    (bad,) = validated(tmp_path, "f.jsonl", json.dumps(row)).bad_rows
    assert "nor the text of exactly one option" in bad.reason


@pytest.mark.parametrize("answer", ["x", 4, 4.5, True, ["x", "y", 3], None, ""])
def test_free_answers_may_be_texts_numbers_and_lists(tmp_path: Path, answer: Any) -> None:
    rows = [{"question": "q", "answer": answer}, {"question": "r", "answer": "z"}]
    assert validated(tmp_path, "f.jsonl", "\n".join(map(json.dumps, rows))).ok


@pytest.mark.parametrize("answer", [None, "", "  ", [], ["", " "]])
@pytest.mark.parametrize("options", [{}, {"A": "1", "B": "2"}])
def test_blank_answers_are_none(tmp_path: Path, answer: Any, options: dict[str, str]) -> None:
    rows = [{"question": "q", **options, "answer": answer}, {"question": "r", **options, "answer": "A"}]
    report = validated(tmp_path, "f.jsonl", "\n".join(map(json.dumps, rows)))
    assert (report.ok, report.rows, report.answers) == (True, 2, 1)
    only = load_questions("g.jsonl", QuestionOptions(), cwd=_written(tmp_path, json.dumps(rows[0])))
    assert only.unscored


def _written(folder: Path, text: str) -> Path:
    (folder / "g.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("answer", [{"text": "x"}, [["x"]], ["x", None]])
def test_free_answers_of_another_shape_are_bad(tmp_path: Path, answer: Any) -> None:
    report = validated(tmp_path, "f.jsonl", json.dumps({"question": "q", "answer": answer}))
    assert "expected a text, a number, or a list of them" in report.bad_rows[0].reason


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (None, 'missing "question": it is null'),
        ("  ", 'missing "question": it is empty. Fill it in, or leave the row out with --skip-bad-rows'),
        (["a"], '"question" is a list; expected the text'),
        ({"text": "a"}, '"question" is an object'),
    ],
)
def test_questions_that_are_none_are_bad(tmp_path: Path, question: Any, reason: str) -> None:
    rows = [{"question": question, "answer": "x"}, {"question": 12, "answer": "numbers are asked as text"}]
    report = validated(tmp_path, "f.jsonl", "\n".join(map(json.dumps, rows)))
    assert report.rows == 1
    assert reason in report.bad_rows[0].reason


def test_a_mistyped_question_column_is_said_once_with_the_near_name(tmp_path: Path) -> None:
    report = validated(tmp_path, "f.csv", "questoin,answer\nq,1\nr,2\n")
    assert report.bad_total == 2
    assert 'Did you mean "questoin"?' in report.errors[0]
    assert "--input-columns questoin" in report.errors[0]


def test_a_file_without_header_is_told_where_names_of_columns_stand(tmp_path: Path) -> None:
    report = validated(tmp_path, "bare.csv", "What is 2 + 2?,4\nWhat is 3 + 3?,6\n")
    assert "The first line of a CSV or TSV file contains the names" in report.errors[0]


@pytest.mark.parametrize(
    "first", ["a?,1", "1,a?", "quest?,7", "Antwort?,42", "Is it 7？,3.5", "2,3", "why?,12 %"]
)
def test_a_row_in_the_place_of_the_header_is_never_suggested_as_names(first: str, tmp_path: Path) -> None:
    report = validated(tmp_path, "bare.csv", f"{first}\nb?,2\nc?,3\n")
    assert report.bad_total == 2
    said = "\n".join(report.errors)
    assert "Did you mean" not in said
    assert "add a line above it, such as question,answer" in said
    for cell in first.split(","):
        assert f"-columns {cell}" not in said.replace("'", "")
        assert f"-column {cell}" not in said.replace("'", "")


def test_one_row_without_its_question_is_told_what_it_has(tmp_path: Path) -> None:
    rows = [{"question": "q", "answer": "1"}, {"qestion": "r", "answer": "2"}]
    report = validated(tmp_path, "f.jsonl", "\n".join(map(json.dumps, rows)))
    (bad,) = report.bad_rows
    assert 'the row has: qestion, answer. Did you mean "qestion"?' in bad.reason


def test_options_of_other_types_are_shown_as_text_and_lists_refused(tmp_path: Path) -> None:
    good = {"question": "q", "A": 0, "B": 1.5, "C": True, "answer": "A"}
    assert validated(tmp_path, "f.jsonl", json.dumps(good)).ok
    bad = {"question": "q", "A": "x", "B": ["y"], "answer": "A"}
    report = validated(tmp_path, "f.jsonl", json.dumps(bad))
    assert "option B is a list" in report.bad_rows[0].reason


def test_twenty_six_options(tmp_path: Path) -> None:
    row = {"question": "q", **{chr(65 + n): f"text {n}" for n in range(26)}, "answer": "Z"}
    report = validated(tmp_path, "f.jsonl", json.dumps(row))
    assert dict(report.options) == {26: 1}


def test_a_cell_of_ten_megabytes(tmp_path: Path) -> None:
    long = "x" * 10_000_000
    report = validated(tmp_path, "f.csv", f"question,A,B,answer\n{long},1,2,B\nq,1,2,E\n")
    assert report.rows == 1
    assert reasons(report) == ['f.csv:3: answer "E" is not one of A-B']


def test_duplicate_questions_are_told_and_kept(tmp_path: Path) -> None:
    report = validated(tmp_path, "f.csv", "question,answer\nq,1\nq,1\nq,1\n")
    assert report.ok
    assert report.rows == 3
    assert "2 rows repeat" in report.warnings[0]


def test_rows_partly_without_answers_are_counted(tmp_path: Path) -> None:
    report = validated(tmp_path, "f.csv", "question,answer\nq,1\nr,\n")
    assert (report.rows, report.answers) == (2, 1)
    (warning,) = report.warnings
    assert warning.startswith("1 row has no answer (of 2): left out of every metric")


def test_what_cannot_be_read_to_its_end_is_an_error(tmp_path: Path) -> None:
    report = validated(tmp_path, "f.csv", 'question,answer\nq,1\n"never closed,2\n')
    assert not report.ok
    assert "f.csv:3" in report.errors[0]


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    assert validated(tmp_path, "f.jsonl", "").errors == ("the file has no rows",)
    assert "is empty" in validated(tmp_path, "f.csv", "").errors[0]


DOUBTFUL = "question,A,B,answer\nten squared?,100, 100,A\nfine?,1,2,B\nfine?,1,2,B\nbyte?,1\0,2,A\n"


def test_rows_that_look_wrong_are_told_by_validate_check_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    report = validated(tmp_path, "f.csv", DOUBTFUL)
    again = "1 row repeats what an earlier row asks, word for word"
    assert report.ok
    assert report.warnings == (
        again,
        '1 row has two equal options, of which only one can be right; the first are both "100"',
        '1 row has the character \\0 in a cell, which is sent as it is; the first is in "A"',
    )
    assert main(["check", "f.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["checks"][0]["warnings"] == list(report.warnings)
    assert again in run("f.csv", model="demo").summary.notes


def test_a_file_that_cannot_be_read_has_one_error_and_no_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dup.csv").write_text("question,A,A,answer\n1?,1,2,A\n", encoding="utf-8")
    assert main(["validate", "dup.csv"]) == 2
    error, summary = capsys.readouterr().out.splitlines()
    assert error.startswith("error: dup.csv:1: header names 'A' more than once")
    assert summary == "dup.csv: 0 rows: cannot be run"
    assert main(["check", "dup.csv", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["checks"][0]["data_type"] == ""
