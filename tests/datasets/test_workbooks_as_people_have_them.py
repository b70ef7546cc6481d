"""Workbooks with titles, several sheets, formats, errors and cells far away: what is read, and what is said about it."""

from __future__ import annotations

import datetime as dt
import random
import resource
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from openpyxl import Workbook

import benchwright
import warm
from benchwright import load_dataset
from benchwright.benchmarks import CheckReport, QuestionOptions, load_questions
from benchwright.core import DatasetError
from benchwright.datasets import open_dataset
from benchwright.datasets._readers import xlsx_cells
from benchwright.runs import validate
from benchwright.scorers import ScorerInput, qa_answers


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    made = Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


TITLE = [["Questions for new colleagues"], ["As of", dt.date(2026, 11, 1)], []]
TABLE = [["No.", "question", "answer"], *[[n, f"What is {n}?", f"it is {n}"] for n in range(1, 6)]]


@pytest.mark.parametrize(
    ("above", "row"),
    [([], None), ([[]], None), ([["A title"]], 2), (TITLE, 4), ([["Title", None, "2026"], []], 3)],
)
def test_the_header_is_found_below_a_title_and_said(
    above: list[list[Any]], row: int | None, tmp_path: Path
) -> None:
    reader = open_dataset(book(tmp_path / "b.xlsx", Q=[*above, *TABLE]))
    rows = reader.head(99)
    assert rows == [{"No.": n, "question": f"What is {n}?", "answer": f"it is {n}"} for n in range(1, 6)]
    said = [note for note in reader.notes() if "names the columns" in note]
    assert len(said) == (row is not None)
    if row is not None:
        assert said[0].startswith(f"row {row} of sheet 'Q' names the columns")


def test_the_header_row_can_be_named(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", Q=[["x", "y", "z"], *TABLE])
    assert load_dataset(f"{path}?header_row=2")[0]["question"] == "What is 1?"
    assert load_dataset(path)[0]["x"] == "No."
    assert open_dataset(f"{path}?header_row=2").fingerprint() != open_dataset(path).fingerprint()
    with pytest.raises(DatasetError, match="row 99 of sheet 'Q' is empty"):
        load_dataset(f"{path}?header_row=99")
    with pytest.raises(DatasetError, match="expected the number of a row"):
        load_dataset(f"{path}?header_row=0")
    (tmp_path / "q.csv").write_text("q\n1\n")
    with pytest.raises(DatasetError, match="header_row 2 has no effect on a file of the format csv"):
        load_dataset(f"{tmp_path / 'q.csv'}?header_row=2")


def test_sheets_by_names_all_of_them_and_hidden_ones(tmp_path: Path) -> None:
    path = tmp_path / "b.xlsx"
    book(path, Cover=[[None, dt.date(2026, 1, 1)]], One=TABLE, **{"Art & Music": TABLE[:3], "a,b": TABLE[:2]})
    assert len(load_dataset(path)) == 5, "a cover is no table"
    (note,) = open_notes(path)
    assert "there are also 'Cover', 'Art & Music', 'a,b'. Choose with --sheet 'Art & Music'" in note
    assert "--sheet all" in note
    assert len(load_dataset(f"{path}?sheet=One,Art%20%26%20Music")) == 7
    assert len(load_dataset(f"{path}?sheet=a,b")) == 1, "a name with a comma is a name"
    with pytest.raises(DatasetError, match=r"has no sheet 'Onne'.*Did you mean 'One'"):
        load_dataset(f"{path}?sheet=One,Onne")
    made = Workbook()
    made.active.append(["draft"])
    made.active.sheet_state = "hidden"
    shown = made.create_sheet("Shown")
    for row in TABLE:
        shown.append(row)
    made.save(path)
    assert len(load_dataset(path)) == 5
    assert open_notes(path) == []
    assert len(load_dataset(f"{path}?sheet=all")) == 5


def open_notes(path: Path | str) -> list[str]:
    reader = open_dataset(path)
    for _ in reader.batches():
        pass
    return reader.notes()


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (["question", "answer"], None),
        (["answer", "question"], None),
        (["Frage", "Antwort"], "only 'One' has 'answer', 'question', only 'Two' has 'Antwort', 'Frage'"),
        (["question", "Lösung"], "only 'One' has 'answer', only 'Two' has 'Lösung'"),
        (["question", "answer", "level"], "only 'Two' has 'level'"),
    ],
)
def test_sheets_that_name_different_columns_are_told(
    second: list[str], said: str | None, tmp_path: Path
) -> None:
    rows = [["1"] * len(second)] * 3
    path = book(tmp_path / "b.xlsx", One=[["question", "answer"], ["a", "b"]], Two=[second, *rows])
    notes = [note for note in open_notes(f"{path}?sheet=all") if "different columns" in note]
    assert len(notes) == (said is not None)
    if said is not None:
        assert f"different columns: {said}." in notes[0]
        assert notes[0].endswith("--sheet Two")


def test_a_cover_page_among_all_sheets_is_told_with_the_flag_that_leaves_it_out(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", Cover=[["Questions"], ["for all"]], One=TABLE, **{"Two too": TABLE})
    (flag,) = [
        note.partition("--sheet ")[2] for note in open_notes(f"{path}?sheet=all") if "not a table" in note
    ]
    assert flag == "'One,Two too'"
    assert len(load_dataset(f"{path}?sheet={quote(flag[1:-1])}")) == 10
    assert open_notes(f"{book(tmp_path / 'c.xlsx', One=TABLE, Two=TABLE)}?sheet=all") == []


FORMATS = [
    (0.125, "0.0%", "12.5%"),
    (0.5, "0%", "50%"),
    (1, "0.00%", "100.00%"),
    (0.125, "0%", "13%"),
    (0.285, "0%", "29%"),
    (0.1 + 0.2, "0%", "30%"),
    (0.1 + 0.2, "General", 0.3),
    (1.1 * 3, "0.00", 3.3),
    (-(0.1 + 0.7) * 10, "General", -8),
    (4109, "00000", "04109"),
    (4109, "General", 4109),
    (123456, "00000", "123456"),
    (-7, "000", -7),
    (2.5, "000", 2.5),
    (12345678, "000-00-0000", "012-34-5678"),
    (1234, r"00\-000", "01-234"),
    (1234, '00"-"000;[Red]-0', "01-234"),
    (7, "0", 7),
    (1234.5, "00,000.00", 1234.5),
    (45413, "yyyy-mm-dd", "2024-05-01"),
    (45413.5, 'dd.mm.yyyy" um "hh:mm', "2024-05-01 12:00:00"),
    (0.25, "hh:mm", "06:00:00"),
    (1.5, "[h]:mm", "36:00:00"),
    (0.0625, "[mm]:ss", "01:30:00"),
    (2.5, "[Magenta]0.00", 2.5),
    (45413, "[$-407]d. mmmm yyyy", "2024-05-01"),
    (1234.5, "#,##0.00", 1234.5),
    (3, '0 "days"', 3),
    (0.5, '0.0"%"', 0.5),
    (2.0, "General", 2),
    (1e300, "yyyy", 1e300),
]


@pytest.mark.parametrize(("value", "form", "expected"), FORMATS)
def test_a_number_is_read_as_people_see_it(value: float, form: str, expected: Any, tmp_path: Path) -> None:
    made = Workbook()
    made.active.append(["question", "answer"])
    made.active.append(["q", value])
    made.active["B2"].number_format = form
    made.save(tmp_path / "b.xlsx")
    (row,) = load_dataset(tmp_path / "b.xlsx")
    assert (row, type(row["answer"])) == ({"question": "q", "answer": expected}, type(expected))


@pytest.mark.parametrize("seed", range(3))
def test_sums_in_a_workbook_are_the_decimals_that_it_displays(seed: int, tmp_path: Path) -> None:
    """Programs write what binary arithmetic leaves, such as 0.30000000000000004, and show 15 digits."""
    drawn = random.Random(seed)
    hundredths = [[drawn.randrange(1, 10**6) for _ in range(drawn.randint(2, 9))] for _ in range(200)]
    path = book(tmp_path / "b.xlsx", Q=[["sum"], *[[sum(each / 100 for each in row)] for row in hundredths]])
    assert [row["sum"] for row in load_dataset(path)] == [sum(row) / 100 for row in hundredths]


def test_every_type_of_cell_that_openpyxl_writes(tmp_path: Path) -> None:
    values = [
        "text",
        " padded ",
        "007",
        "=text",
        1,
        -2.5,
        10**15,
        True,
        False,
        dt.date(2024, 5, 1),
        dt.time(9, 30),
    ]
    expected = ["text", " padded ", "007", None, 1, -2.5, 10**15, True, False, "2024-05-01", "09:30:00"]
    made = Workbook()
    made.active.append([f"c{at}" for at in range(len(values))])
    made.active.append(values)
    made.active.cell(2, 4).data_type = "s"
    made.save(tmp_path / "b.xlsx")
    (row,) = load_dataset(tmp_path / "b.xlsx")
    expected[3] = "=text"
    assert list(row.values()) == expected


@pytest.mark.parametrize("error", ["#N/A", "#REF!", "#DIV/0!", "#NAME?", "#VALUE!"])
def test_an_error_is_named_by_its_cell(error: str, tmp_path: Path) -> None:
    made = Workbook()
    for row in (
        ["question", "A", "B", "answer", "notes"],
        ["q", "x", "y", "A", "n"],
        *[["r", "x", 0, "A", ""]] * 3,
    ):
        made.active.append(row)
    for line in (3, 4, 5):
        made.active.cell(line, 3).value = error
        made.active.cell(line, 3).data_type = "e"
    made.active["G9"].value, made.active["G9"].data_type = error, "e"
    made.save(tmp_path / "b.xlsx")
    report = CheckReport.of(load_questions("b.xlsx", QuestionOptions(), cwd=tmp_path))
    assert (report.rows, report.bad_total) == (1, 3), (
        "an error in a column without a name is no part of a row"
    )
    first = report.bad_rows[0]
    assert (first.line, first.reason) == (
        3,
        f"sheet 'Sheet', cell C3 contains the error {error}. Correct its formula, or delete the cell",
    )
    assert report.bad_rows[1].reason == "sheet 'Sheet', column C: such a cell too"


def test_each_reason_of_a_column_is_given_once_in_full(tmp_path: Path) -> None:
    made = Workbook()
    for row in (["question", "answer"], ["q", "a"], ["r", "b"], ["s", "c"], ["t", "d"]):
        made.active.append(row)
    for line, error in ((3, "#N/A"), (4, "#REF!"), (5, "#N/A")):
        made.active.cell(line, 2).value = error
        made.active.cell(line, 2).data_type = "e"
    made.save(tmp_path / "b.xlsx")
    reasons = [
        bad.reason
        for bad in CheckReport.of(load_questions("b.xlsx", QuestionOptions(), cwd=tmp_path)).bad_rows
    ]
    assert ["#N/A" in reasons[0], "#REF!" in reasons[1], "such a cell too" in reasons[2]] == [
        True,
        True,
        True,
    ]


def test_the_text_of_messages_has_no_python_in_it(tmp_path: Path) -> None:
    values = [dt.date(2026, 11, 1), dt.datetime(2026, 11, 1, 9), dt.time(9), 1.5, True, "x" * 100]  # noqa: DTZ001
    for value in values:
        path = book(tmp_path / "b.xlsx", Q=[["question", "answer"], ["q", "a", None, value], ["r", "b"]])
        with pytest.raises(DatasetError) as refused:
            load_dataset(path)
        text = str(refused.value)
        assert "cell D2" in text
        assert "datetime" not in text
        assert len(text) < 300


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_parts(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_a_cell_far_away_costs_nothing_and_is_named(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", Q=TABLE)
    made = Workbook()
    for row in TABLE:
        made.active.append(row)
    made.active["XFD1048576"] = "far"
    made.save(path)
    with pytest.raises(
        DatasetError,
        match=r"b\.xlsx:1048576: sheet 'Sheet', cell XFD1048576 \(far\): the column has no header",
    ):
        load_dataset(path)
    bad: list[Any] = []
    assert len([row for batch in open_dataset(path).batches(on_bad=bad.append) for row in batch.rows]) == 5
    assert len(bad) == 1


def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx_cells, "MOST_TEXTS_BYTES", 1_000_000)
    monkeypatch.setattr(xlsx_cells, "MOST_BYTES", 400_000)
    parts = parts_of(book(tmp_path / "b.xlsx", Q=TABLE))
    text = b"<si><t>" + b"a" * 100_000 + b"</t></si>"
    texts = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' + text * 15 + b"</sst>"
    bomb = write_parts(tmp_path / "texts.xlsx", {**parts, "xl/sharedStrings.xml": texts})
    with pytest.raises(DatasetError, match="unpacks to more than 1 MB"):
        load_dataset(bomb)
    sheet = next(name for name in parts if name.startswith("xl/worksheets/"))
    rows = parts[sheet].replace(b"</sheetData>", b"<row><c><v>1</v></c></row>" * 20_000 + b"</sheetData>")
    with pytest.raises(DatasetError, match="unpacks to more than 0 MB"):
        load_dataset(write_parts(tmp_path / "rows.xlsx", {**parts, sheet: rows}))


def test_a_row_that_does_not_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_cells, "_MOST_OPEN", 500_000)
    parts = parts_of(book(tmp_path / "b.xlsx", Q=TABLE))
    sheet = next(name for name in parts if name.startswith("xl/worksheets/"))
    parts[sheet] = parts[sheet].replace(b"</sheetData>", b"<row>" + b"<c/>" * 300_000 + b"</row></sheetData>")
    with pytest.raises(DatasetError, match="0 MB without the end of a row"):
        load_dataset(write_parts(tmp_path / "r.xlsx", parts))


@pytest.mark.parametrize(
    ("part", "inside"),
    [
        ("xl/styles.xml", "<cellXfs>{}</cellXfs>"),
        ("xl/workbook.xml", "<sheets>{}</sheets>"),
        ("xl/worksheets/sheet1.xml", "<sheetData><row>{}</row></sheetData>"),
        ("xl/sharedStrings.xml", "<si>{}</si>"),
    ],
)
def test_elements_that_take_more_memory_than_text_are_counted(
    part: str, inside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx_cells, "_MOST_ELEMENTS", 100_000)
    parts = parts_of(book(tmp_path / "b.xlsx", Q=TABLE))
    many = inside.format("<x/>" * 150_000)
    parts[part] = f'<t xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{many}</t>'.encode()
    with pytest.raises(DatasetError, match=rf"{part} has more than 100,000 elements.*Save the sheet as CSV$"):
        load_dataset(write_parts(tmp_path / "e.xlsx", parts))


def test_a_workbook_with_entities_is_refused(tmp_path: Path) -> None:
    parts = parts_of(book(tmp_path / "b.xlsx", Q=TABLE))
    parts["xl/workbook.xml"] = (
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>' + parts["xl/workbook.xml"]
    )
    with pytest.raises(DatasetError, match="cannot be read as a workbook: it declares entities"):
        load_dataset(write_parts(tmp_path / "e.xlsx", parts))


ODS = (
    '<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="Q">{}</table:table></office:spreadsheet></office:body></office:document-content>'
)


def ods(path: Path, *rows: list[str], times: int = 1, wide: int = 1) -> Path:
    def cell(text: str, repeated: int) -> str:
        return (
            f'<table:table-cell office:value-type="string" table:number-columns-repeated="{repeated}">'
            f"<text:p>{text}</text:p></table:table-cell>"
        )

    body = "".join(
        f'<table:table-row table:number-rows-repeated="{times if at else 1}">'
        + "".join(cell(text, wide if at else 1) for text in row)
        + "</table:table-row>"
        for at, row in enumerate(rows)
    )
    kind = b"application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        b'<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry '
        b'manifest:full-path="/" manifest:media-type="' + kind + b'"/></manifest:manifest>'
    )
    parts = {"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": ODS.format(body).encode()}
    return write_parts(path, parts)


def test_a_workbook_of_libreoffice_is_read_in_a_process_with_little_memory(tmp_path: Path) -> None:
    good = ods(tmp_path / "b.ods", ["question", "answer"], ["q", "a"])
    assert load_dataset(good) == [{"question": "q", "answer": "a"}]
    huge = ods(tmp_path / "huge.ods", ["question", "answer"], ["q"], times=1_048_575, wide=16_384)
    with pytest.raises(DatasetError, match=r"huge\.ods: (?:takes more than|cannot be read)"):
        load_dataset(huge)
    wide = ods(tmp_path / "wide.ods", ["question", "answer"], ["q"], times=90_000, wide=1000)
    with pytest.raises(DatasetError, match=r"wide\.ods: (?:takes more than|cannot be read)"):
        load_dataset(wide)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2**21  # kilobytes: two gigabytes


QUESTIONS = {
    "German": ["Nr.", "Frage", "Antwort A", "Antwort B", "Richtige Antwort"],
    "French": ["N°", "Question", "Choix A", "Choix B", "Bonne réponse"],
    "Spanish": ["Nº", "Pregunta", "Opción A", "Opción B", "Respuesta correcta"],
    "Italian": ["n", "Domanda", "Opzione 1", "Opzione 2", "Risposta corretta"],
    "Portuguese": ["n", "Pergunta", "Opção A", "Opção B", "Resposta correta"],
    "Dutch": ["n", "Vraag", "Optie A", "Optie B", "Juiste antwoord"],
    "English": ["No.", "Question", "Option A", "Option B", "Correct answer"],
}


@pytest.mark.parametrize("language", QUESTIONS)
def test_headers_in_other_languages_are_recognised(language: str, tmp_path: Path) -> None:
    rows = [[n, f"q{n}?", "x", "y", "A"] for n in range(4)]
    book(tmp_path / "b.xlsx", Q=[["Quiz"], QUESTIONS[language], *rows])
    report = CheckReport.of(load_questions("b.xlsx", QuestionOptions(), cwd=tmp_path))
    assert report.errors == ()
    assert (report.rows, dict(report.options), report.samples[0].target) == (4, {2: 4}, "A")
    assert str(report.samples[0].messages[0]["content"]).startswith("q0?\n\nA) x\nB) y\n")


@pytest.mark.parametrize(
    "cell",
    [
        "A) Paris\nB) Rome\nC) Oslo",
        "Paris\nRome\n\nOslo\n",
        "A. Paris B. Rome C. Oslo",
        "(a) Paris, (b) Rome, (c) Oslo",
        "1) Paris\n2) Rome\n3) Oslo",
        "Paris; Rome; Oslo",
        "Paris | Rome | Oslo",
        '["A) Paris", "B) Rome", "C) Oslo"]',
    ],
)
@pytest.mark.parametrize("answer", ["B", "Rome"])
def test_options_in_one_cell(cell: str, answer: str, tmp_path: Path) -> None:
    book(tmp_path / "b.xlsx", Q=[["Question", "Options", "Correct answer"], *[["Which?", cell, answer]] * 3])
    report = CheckReport.of(load_questions("b.xlsx", QuestionOptions(), cwd=tmp_path))
    assert str(report.samples[0].messages[0]["content"]).startswith("Which?\n\nA) Paris\nB) Rome\nC) Oslo\n")
    assert report.gold is not None
    assert (report.gold.right, report.gold.tried) == (3, 3)


def test_labels_of_options_are_not_doubled(tmp_path: Path) -> None:
    head = ["question", "A", "B", "answer"]
    book(tmp_path / "b.xlsx", Q=[head, ["q", "A) Paris", "B) Rome", "B"], ["r", "a. x", "b. y", "A"]])
    report = CheckReport.of(load_questions("b.xlsx", QuestionOptions(), cwd=tmp_path))
    assert [str(one.messages[0]["content"]).split("\n")[2:4] for one in report.samples] == [
        ["A) Paris", "B) Rome"],
        ["A) x", "B) y"],
    ]
    assert any("labels such as" in note for note in report.warnings)
    book(tmp_path / "b.xlsx", Q=[head, ["q", "A. Smith", "B. Jones", "B"], ["r", "C. Wu", "D. Li", "A"]])
    kept = CheckReport.of(load_questions("b.xlsx", QuestionOptions(), cwd=tmp_path))
    assert "A) A. Smith" in str(kept.samples[0].messages[0]["content"])


def test_advice_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    book(tmp_path / "b.xlsx", Q=[["question", "Correct answer"], ["q", "a"]])
    report = CheckReport.of(load_questions("b.xlsx", QuestionOptions(), cwd=tmp_path))
    assert any("--output-column 'Correct answer'" in text for text in (*report.errors, *report.warnings))


def test_flags_for_sheets_and_header_rows(tmp_path: Path) -> None:
    book(tmp_path / "b.xlsx", One=[["x", "y", "z"], *TABLE], Two=[["x", "y", "z"], *TABLE[:3]])
    command = ["check", "b.xlsx", "--sheet", "One", "--sheet", "Two", "--header-row", "2", "--json"]
    done = warm.run(
        [sys.executable, "-m", "benchwright", *command], cwd=tmp_path, capture_output=True, text=True
    )
    assert '"rows": 7' in done.stdout, done.stdout + done.stderr


def test_a_bad_row_of_one_of_several_sheets_names_its_sheet(tmp_path: Path) -> None:
    """Each sheet has a row 3, so the number alone does not tell which is meant."""
    head = ["question", "A", "B", "answer"]
    bad = [["1?", "p", "q", "A"], ["2?", "p", "q", "Z"], ["", "p", "q", "A"]]
    book(tmp_path / "b.xlsx", Art=[head, *bad], Music=[head, *bad])
    both = CheckReport.of(load_questions("b.xlsx", QuestionOptions(sheet="all"), cwd=tmp_path))
    places = {str(row).partition(": ")[0] for row in both.bad_rows}
    assert places == {f"b.xlsx (sheet {sheet}):{line}" for sheet in ("Art", "Music") for line in (3, 4)}
    one = CheckReport.of(load_questions("b.xlsx", QuestionOptions(sheet="Art"), cwd=tmp_path))
    assert [str(row).partition(": ")[0] for row in one.bad_rows] == ["b.xlsx:3", "b.xlsx:4"]


TOTALS = [
    ["Summe", None, None],
    ["Total:", "", None],
    [15, None, None],
    ["Gesamt", None, ""],
    ["Summe", None, 20],
    ["Summe", "", "1.234,50 €"],
    ["Durchschnitt", None, 3.5],
]


@pytest.mark.parametrize("last", TOTALS)
def test_a_row_of_totals_is_named_as_such(last: list[Any], tmp_path: Path) -> None:
    rows = [["Punkte", "Frage", "Antwort"], *[[n, f"Was ist {n}?", f"es ist {n}"] for n in range(1, 6)], last]
    path = book(tmp_path / "b.xlsx", Deckblatt=[["Quiz"]], Mai=rows, Juni=rows[:3])
    report = validate(str(path))
    (bad,) = report.bad_rows
    assert bad.line == 7
    assert (
        'missing "Frage": it is empty. This looks like a row of totals: delete it, or leave it out with --skip-bad-rows'
        in str(bad)
    )
    said = " ".join(report.warnings)
    assert "there are also 'Deckblatt', 'Juni'. Choose with --sheet Juni," in said


@pytest.mark.parametrize("last", TOTALS)
def test_skipped_totals_count_nowhere_and_are_noted(
    last: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        ["Punkte", "Frage", "Antwort"],
        *[[n, f"Was ist {n} + 1?", n + 1] for n in range(1, 6)],
        last,
        [6, "Was ist 8 + 1?", 9],
    ]
    path = book(tmp_path / "b.xlsx", Mai=rows)
    result = benchwright.run(str(path), model="demo", skip_bad_rows=True)
    summary, names = result.summary, isinstance(last[0], str)
    assert (summary.rows, summary.failed, summary.comparable) == ((6, 0, True) if names else (7, 1, False))
    noted = [note for note in summary.notes if note.startswith("left out as totals")]
    assert noted == ([f"left out as totals, not as rows: {last[0]!r}"] if names else [])
    assert benchwright.rescore(result).summary.rows == summary.rows


@pytest.mark.parametrize("row", [["Summe", None, "es ist 9"], ["leicht", None, None]])
def test_other_rows_without_a_question_are_not_called_totals(row: list[Any], tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", Mai=[["Thema", "Frage", "Antwort"], ["x", "Was?", "das"], row])
    (bad,) = validate(str(path)).bad_rows
    assert str(bad).endswith(
        'missing "Frage": it is empty. Fill it in, or leave the row out with --skip-bad-rows'
    )


def test_percentages_of_a_workbook_are_answers_to_replies_in_percent(tmp_path: Path) -> None:
    made = Workbook()
    made.active.append(["question", "answer"])
    for value, form in ((0.05, "0%"), (0.1, "0 %"), (0.3, "0.0%")):
        made.active.append(["q", value])
        made.active.cell(made.active.max_row, 2).number_format = form
    made.save(tmp_path / "b.xlsx")
    answers = [row["answer"] for row in load_dataset(tmp_path / "b.xlsx")]
    assert answers == ["5%", "10%", "30.0%"]
    for answer, replies in zip(
        answers, (["5 %", "0,05"], ["10 Prozent", "10%"], ["30,0 %", "30 percent"]), strict=True
    ):
        assert all(qa_answers()(ScorerInput(reply, answer, {}))["numeric"] for reply in replies)


def test_the_identity_of_a_workbook_is_that_of_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [["Frage", "Antwort"], *[[f"Was ist {n} + 1?", n + 1] for n in range(3)]]

    def saved(change: Callable[[Workbook], None]) -> str:
        made = Workbook()
        for row in rows:
            made.active.append(row)
        made.create_sheet("Notizen").append(["nicht gelesen"])
        change(made)
        made.save("b.xlsx")
        reader = open_dataset("b.xlsx")
        unread = reader.fingerprint()
        assert [len(batch.rows) for batch in reader.batches()]
        assert open_dataset("b.xlsx", limit=1).fingerprint() == unread
        return unread

    def wider(book: Workbook) -> None:
        book.active.column_dimensions["A"].width = 60

    def elsewhere(book: Workbook) -> None:
        book["Notizen"]["A1"] = "anders"

    def cell(book: Workbook) -> None:
        book.active["B3"] = 7

    def header(book: Workbook) -> None:
        book.active["A1"] = "Aufgabe"

    def longer(book: Workbook) -> None:
        book.active.append(["Was ist 9 + 1?", 10])

    before = saved(lambda book: None)
    first = benchwright.run("b.xlsx", model="demo")
    assert saved(wider) == saved(elsewhere) == before
    second = benchwright.run("b.xlsx", model="demo")
    assert "other data" not in str(benchwright.compare(first, second).to_json())
    assert len({before, *map(saved, (cell, header, longer))}) == 4


def test_one_pass_over_a_workbook_also_gives_its_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = book(tmp_path / "b.xlsx", Mai=[["Frage", "Antwort"], ["Was?", "das"]])
    reader = open_dataset(path)
    assert list(reader.good_rows())
    monkeypatch.setattr("benchwright.datasets._readers.workbook._book", None)
    assert reader.fingerprint().startswith("sha256:")


@pytest.mark.parametrize("seed", range(4))
def test_hidden_rows_are_read_and_counted(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    made = Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.append(["question", "answer", "kind"])
    for number in range(20):
        sheet.append([f"q{number}", number, draw.choice("ab")])
    hidden = draw.sample(range(2, 22), draw.randint(0, 6))
    for row in hidden:
        sheet.row_dimensions[row].hidden = True
    secret = made.create_sheet("Secret")
    secret.append(["question", "answer"])
    secret.append(["hidden", "1"])
    secret.sheet_state = "hidden"
    made.save(path := tmp_path / "b.xlsx")
    assert len(load_dataset(path)) == 20
    told = [note for note in open_notes(path) if "hidden" in note]
    counted = f"{len(hidden)} row of" if len(hidden) == 1 else f"{len(hidden)} rows of"
    assert [note.startswith(counted) for note in told] == ([True] if hidden else [])


def test_what_a_workbook_of_libreoffice_does_not_give_is_told(tmp_path: Path) -> None:
    good = ods(tmp_path / "b.ods", ["question", "answer"], ["q", "a"])
    assert open_notes(good) == []
    parts = parts_of(good)
    for old, new in (
        (
            b'"string" table:number-columns-repeated="1"><text:p>a<',
            b'"percentage" office:value="0.125"><text:p>12.5 %<',
        ),
        (b'<table:table-row table:number-rows-repeated="1"', b'<table:table-row table:visibility="filter"'),
        (b"</office:spreadsheet>", b'<table:table table:name="S"/></office:spreadsheet>'),
    ):
        assert old in parts["content.xml"]
        parts["content.xml"] = parts["content.xml"].replace(old, new)
    changed = write_parts(tmp_path / "c.ods", parts)
    assert [row["answer"] for row in load_dataset(changed)] == [0.125]
    assert [note.partition(".")[0] for note in open_notes(changed)] == [
        "cells with percentages: 1",
        "groups of hidden rows: 2",
    ]
