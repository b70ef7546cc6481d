"""Workbooks, encodings and what else spreadsheets leave in files."""

from __future__ import annotations

import datetime
import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

import benchwright
from benchwright import load_dataset
from benchwright.core import DatasetError
from benchwright.datasets import open_dataset


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_values_of_a_sheet_and_what_is_empty_around_them(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "b.xlsx",
        Q=[
            [],
            ["question", "n", "share", "day", "at", "ok", None, None],
            [
                "What?",
                4,
                0.5,
                datetime.date(2024, 5, 1),
                datetime.datetime.fromisoformat("2024-05-01 09:30"),
                True,
                None,
                None,
            ],
            [None, None],
            ["  padded ", "007", None, None, None, False],
            [None, "  ", None],
            [],
        ],
    )
    reader = open_dataset(path)
    (batch,) = reader.batches()
    assert batch.rows == [
        {
            "question": "What?",
            "n": 4,
            "share": 0.5,
            "day": "2024-05-01",
            "at": "2024-05-01 09:30:00",
            "ok": True,
        },
        {"question": "  padded ", "n": "007", "share": "", "day": "", "at": "", "ok": False},
    ]
    assert batch.lines == [3, 5], "numbers of the rows as the spreadsheet shows them"
    assert reader.notes() == []


def test_a_sheet_is_named_or_the_first_one_is_noted(tmp_path: Path) -> None:
    path = workbook(tmp_path / "b.xlsx", Empty=[], First=[["q"], ["1"]], Second=[["q"], ["2"], ["3"]])
    assert load_dataset(f"{path}?sheet=Second") == [{"q": "2"}, {"q": "3"}]
    reader = open_dataset(path)
    assert reader.head(9) == [{"q": "1"}]
    (note,) = reader.notes()
    assert "sheet 'First'" in note
    assert "'Second'" in note
    assert open_dataset(f"{path}?sheet=Second").fingerprint() != reader.fingerprint()
    with pytest.raises(
        DatasetError, match=r"no sheet 'Secnd'; there are: Empty, First, Second. Did you mean 'Second'"
    ):
        load_dataset(f"{path}?sheet=Secnd")
    with pytest.raises(
        DatasetError, match=r"unknown option 'shet'; known: encoding, sheet, header_row. Did you mean 'sheet'"
    ):
        load_dataset(f"{path}?shet=Second")


def test_workbooks_that_cannot_be_read_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stray = workbook(tmp_path / "stray.xlsx", Q=[["q", None], ["1", None], ["2", "stray"]])
    with pytest.raises(
        DatasetError, match=r"stray.xlsx:3: sheet 'Q', cell B3 \(stray\): the column has no header"
    ):
        load_dataset(stray)
    with pytest.raises(DatasetError, match="header names 'q' more than once"):
        load_dataset(workbook(tmp_path / "twice.xlsx", Q=[["q", "q"], ["1", "2"]]))
    (tmp_path / "cut.xlsx").write_bytes(stray.read_bytes()[:500])
    with pytest.raises(DatasetError, match=r"cut.xlsx: cannot be read as a workbook"):
        load_dataset(tmp_path / "cut.xlsx")
    monkeypatch.setattr("benchwright.datasets._readers.xlsx_cells.MOST_BYTES", 100)
    with pytest.raises(DatasetError, match="unpacks to"):
        load_dataset(stray)


def test_a_workbook_of_questions_is_run_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [["question", "A", "B", "answer", None]] + [[f"q{n}", "x", "y", "A", None] for n in range(4)]
    workbook(tmp_path / "quiz.xlsx", Notes=[["read me"]], Quiz=rows)
    result = benchwright.run("quiz.xlsx", sheet="Quiz", model="demo")
    assert result.summary.evaluated == 4
    assert benchwright.run("quiz.xlsx?sheet=Quiz", model="demo").summary.evaluated == 4
    again = benchwright.rescore(result.run_id)
    assert again.summary.evaluated == 4


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "csv.gz"])
def test_a_named_encoding_is_read(tmp_path: Path, encoding: str, ending: str) -> None:
    rows = [{"q": f"café {n} “x”" if encoding != "latin-1" else f"café {n}", "a": "ü"} for n in range(3000)]
    if ending == "jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        text = "q,a\n" + "".join(f"{row['q']},{row['a']}\n" for row in rows)
    data = text.encode(encoding)
    path = tmp_path / f"d.{ending}"
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    assert load_dataset(f"{path}?encoding={encoding}") == rows


@pytest.mark.parametrize(("encoding", "named"), [("cp1252", "cp1252"), ("utf-16", "utf-16")])
def test_other_encodings_are_refused_with_the_cure(tmp_path: Path, encoding: str, named: str) -> None:
    for name, text in (("d.csv", "q,a\ncafé,1\n"), ("d.jsonl", '{"q": "café"}\n')):
        (tmp_path / name).write_bytes(text.encode(encoding))
        with pytest.raises(DatasetError, match=f"--encoding {named}"):
            load_dataset(tmp_path / name)
    with pytest.raises(DatasetError, match=r"encoding is 'cp1251x', which is unknown"):
        load_dataset(f"{tmp_path / 'd.csv'}?encoding=cp1251x")


@pytest.mark.parametrize("separator", [";", ",", "|", "\t"])
def test_the_first_line_may_name_the_separator(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text(f"sep={separator}\r\nq{separator}a\r\n1{separator}2\r\n")
    (batch,) = open_dataset(path).batches()
    assert (batch.rows, batch.lines) == ([{"q": "1", "a": "2"}], [3])


def test_empty_columns_at_the_end_are_passed_over_and_filled_ones_are_not(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("q,a,,\n1,2,,\n3,4\n5,6,,x\n")
    bad: list[Any] = []
    rows = [row for batch in open_dataset(path).batches(on_bad=bad.append) for row in batch.rows]
    assert rows == [{"q": "1", "a": "2"}, {"q": "3", "a": "4"}]
    assert [found.line for found in bad] == [4]


@pytest.mark.parametrize("name", ["d.jsonl.gz", "d.json.gz", "d.csv.gz"])
def test_a_row_that_unpacks_to_too_much_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_MAX_ROW_MB", "1")
    long = "x" * 3_000_000
    text = {
        "d.jsonl.gz": '{"q": "1"}\n{"q": "' + long + '"}\n',
        "d.json.gz": '[{"q": "1"},\n{"q": "' + long + '"}]',
        "d.csv.gz": f'q\n"{long}"\n',
    }[name]
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(DatasetError, match=rf"{name}:2: a row of more than 1 MB.*BENCHWRIGHT_MAX_ROW_MB="):
        load_dataset(path)
    monkeypatch.setenv("BENCHWRIGHT_MAX_ROW_MB", "8")
    assert load_dataset(path)[-1] == {"q": long}
    monkeypatch.setenv("BENCHWRIGHT_MAX_ROW_MB", "much")
    with pytest.raises(DatasetError, match="BENCHWRIGHT_MAX_ROW_MB is 'much'"):
        load_dataset(path)


def test_an_exported_workbook_holds_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n=1+1\x07 <b>&,2\nlong,3\n", encoding="utf-8")
    benchwright.run("q.csv", model="demo")
    from benchwright.cli import main

    assert main(["export", "last", "-o", "out.xlsx"]) == 0
    assert zipfile.ZipFile(tmp_path / "out.xlsx").testzip() is None
    rows = load_dataset(f"{tmp_path / 'out.xlsx'}?sheet=samples")
    assert [row["target"] for row in rows] == ["2", "3"]
    assert "=1+1 <b>&" in str(rows[0]["prompt"]), "text stays text, and is no formula"
    assert rows[0]["success"] is True
    assert main(["export", "last", "-o", "out.docx"]) == 2


def saved_by_a_spreadsheet(path: Path, cells: dict[str, str]) -> None:
    """Put the values of formulas into a workbook, as programs do that calculate them."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    (sheet,) = (name for name in parts if name.startswith("xl/worksheets/"))
    text = parts[sheet].decode()
    for cell, value in cells.items():
        start, end = text.split(f'<c r="{cell}"', 1)
        end = end.replace("<v></v>", f"<v>{value}</v>", 1).replace("<v />", f"<v>{value}</v>", 1)
        text = f'{start}<c r="{cell}"{end}' if value else f'{start}<c r="{cell}" t="str"{end}'
    parts[sheet] = text.encode()
    with zipfile.ZipFile(path, "w") as book:
        for name, data in parts.items():
            book.writestr(name, data)


def test_formulas_give_their_values_and_are_refused_without_one(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "f.xlsx",
        **{
            "A & B": [
                ["q", "n"],
                ["one", "=1+1"],
                ["two", 5],
                ["three", '=IF(A4="x",1,"")'],
                ["four", "=2+2"],
            ]
        },
    )
    bad: list[str] = []
    (batch,) = open_dataset(path).batches(on_bad=lambda row: bad.append(str(row)))
    assert batch.rows == [{"q": "two", "n": 5}]
    assert bad[0].startswith(
        f"{path}:2: sheet 'A & B', cell B2 contains a formula whose value was never saved"
    )
    assert bad[1:] == [f"{path}:{n}: sheet 'A & B', column B: such a cell too" for n in (4, 5)]
    assert "Open the workbook in a spreadsheet program and save it" in bad[0]
    saved_by_a_spreadsheet(path, {"B2": "2", "B4": "", "B5": "4"})
    assert [row["n"] for row in load_dataset(path)] == [2, 5, "", 4]


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
def test_blanks_around_the_names_of_columns_do_not_count(tmp_path: Path, ending: str) -> None:
    header, first = (
        [" question ", "answer\t" if ending != "tsv" else " answer", "\u00a0note"],
        ["1+1", " 2 ", "x"],
    )
    path = tmp_path / f"d.{ending}"
    if ending == "xlsx":
        workbook(path, Q=[header, first])
    else:
        separator = "," if ending == "csv" else "\t"
        path.write_text(f"{separator.join(header)}\n{separator.join(first)}\n")
    assert load_dataset(path) == [{"question": "1+1", "answer": " 2 ", "note": "x"}], "cells keep theirs"
    assert load_dataset(path, field_mapping={" question ": "q"})[0]["q"] == "1+1", "as older mappings say"


def test_names_that_differ_in_blanks_only_keep_them(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("q, q,a\n1,2,3\n")
    assert load_dataset(tmp_path / "d.csv") == [{"q": "1", " q": "2", "a": "3"}]


def test_validate_takes_the_cure_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchwright.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_bytes("question,answer\ncafé,1\n".encode("cp1252"))
    assert main(["validate", "d.csv"]) == 2
    assert "--encoding cp1252" in capsys.readouterr().out
    assert main(["validate", "d.csv", "--encoding", "cp1252"]) == 0
    workbook(tmp_path / "b.xlsx", Notes=[["read me"]], Quiz=[["question", "answer"], ["1+1", 2]])
    assert main(["validate", "b.xlsx", "--sheet", "Quiz"]) == 0


@pytest.mark.parametrize(
    "cell",
    [
        '<c r="B2" t="s"><v>99</v></c>',
        '<c r="B2" t="s"><v>-1</v></c>',
        '<c r="B2" t="s"><v>1.5</v></c>',
        '<c r="B2"><v>four</v></c>',
        '<c r="B2" s="x"><v>4</v></c>',
    ],
)
def test_a_cell_that_no_spreadsheet_writes_is_a_bad_row(tmp_path: Path, cell: str) -> None:
    path = workbook(tmp_path / "b.xlsx", Q=[["q", "n"], ["one", 4], ["two", 5]])
    _with_sheet(path, '<c r="B2" t="n"><v>4</v></c>', cell)
    bad: list[str] = []
    (batch,) = open_dataset(path).batches(on_bad=lambda row: bad.append(str(row)))
    assert batch.rows == [{"q": "two", "n": 5}]
    assert bad[0].startswith(f"{path}:2: sheet 'Q', cell B2 has no value that can be read")


def test_rows_that_no_spreadsheet_numbers_are_an_error(tmp_path: Path) -> None:
    path = workbook(tmp_path / "b.xlsx", Q=[["q", "n"], ["one", 4]])
    _with_sheet(path, '<row r="2"', '<row r="two"')
    with pytest.raises(DatasetError, match="the row after 1 has no number"):
        load_dataset(path)


def _with_sheet(path: Path, old: str, new: str) -> None:
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    (name,) = (name for name in parts if name.startswith("xl/worksheets/sheet"))
    assert old in parts[name].decode()
    parts[name] = parts[name].decode().replace(old, new).encode()
    with zipfile.ZipFile(path, "w") as book:
        for each, data in parts.items():
            book.writestr(each, data)
