"""CSV and TSV: cells are text, lines are true, and nothing that does not fit is bent into shape."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings, strategies as st

from benchwright import load_dataset
from benchwright.core import BadRow, DatasetError
from benchwright.datasets import _stored as stored, open_dataset


def write(folder: Path, content: bytes | str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def read_all(path: Path, size: int = 512) -> tuple[list[dict[str, object]], list[int], list[BadRow]]:
    bad: list[BadRow] = []
    batches = list(open_dataset(path).batches(size, on_bad=bad.append))
    return [r for b in batches for r in b.rows], [n for b in batches for n in b.lines], bad


def test_every_cell_is_text(tmp_path: Path) -> None:
    path = write(tmp_path, "id,a,b,c\n001,NA,,1e5\n7,None, x ,2024-01-01\n")
    assert load_dataset(path) == [
        {"id": "001", "a": "NA", "b": "", "c": "1e5"},
        {"id": "7", "a": "None", "b": " x ", "c": "2024-01-01"},
    ]


def test_a_bom_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert load_dataset(write(tmp_path, b"\xef\xbb\xbfquestion,answer\r\nq,a\r\n")) == [
        {"question": "q", "answer": "a"}
    ]
    assert load_dataset(write(tmp_path, b'\xef\xbb\xbf"question",answer\nq,a\n')) == [
        {"question": "q", "answer": "a"}
    ]


def test_quoted_cells_hold_newlines_and_a_row_counts_from_its_first_line(tmp_path: Path) -> None:
    text = 'a,b\r\n"one\r\ntwo\r\n\r\nthree","say ""hi"", ok"\r\n\r\nx,y\r\n"\n",z\r\n1,2'
    rows, lines, bad = read_all(write(tmp_path, text))
    assert rows == [
        {"a": "one\r\ntwo\r\n\r\nthree", "b": 'say "hi", ok'},
        {"a": "x", "b": "y"},
        {"a": "\n", "b": "z"},
        {"a": "1", "b": "2"},
    ]
    assert lines == [2, 7, 8, 10]
    assert not bad


def test_a_header_may_span_lines_and_follow_blank_ones(tmp_path: Path) -> None:
    rows, lines, _ = read_all(write(tmp_path, '\n\n"a\nb",c\n1,2\n'))
    assert rows == [{"a\nb": "1", "c": "2"}]
    assert lines == [5]


def test_rows_that_do_not_fit_the_header_are_bad_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b,c,d,e\n1,2,3,4,5\n1,2,3,4\n1,2,3,4,5,6\nx\n6,7,8,9,0\n")
    rows, lines, bad = read_all(path)
    assert [row["a"] for row in rows] == ["1", "6"]
    assert lines == [2, 6]
    assert [str(b) for b in bad] == [
        f"{path}:3: 4 cells, header has 5: write empty cells too",
        f"{path}:4: 6 cells, header has 5: put quotes around cells that contain commas",
        f"{path}:5: 1 cell, header has 5: write empty cells too",
    ]
    assert all(None not in row for row in rows)


def test_one_column_keeps_its_empty_cells_and_skips_blank_lines(tmp_path: Path) -> None:
    rows, lines, bad = read_all(write(tmp_path, 'a\n1\n\n""\n2\n'))
    assert rows == [{"a": "1"}, {"a": ""}, {"a": "2"}]
    assert lines == [2, 4, 5]
    assert not bad


def test_lines_of_spaces_are_blank(tmp_path: Path) -> None:
    rows, lines, bad = read_all(write(tmp_path, "a,b\n   \n1,2\n\t\n"))
    assert (rows, lines, bad) == ([{"a": "1", "b": "2"}], [3], [])


@pytest.mark.parametrize("text", ["", "\n", "\r\n\r\n", "\ufeff", "\ufeff\n"])
def test_an_empty_file_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(DatasetError, match="is empty; expected a first row with the field names"):
        load_dataset(write(tmp_path, text))


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    assert load_dataset(write(tmp_path, "a,b")) == []


def test_double_and_empty_names_are_refused_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r":1: header names 'a', 'c' more than once.*Rename"):
        load_dataset(write(tmp_path, "a,b,a,c,c\n1,2,3,4,5\n"))
    with pytest.raises(DatasetError, match=r":1: header column 1 has no name.*index=False"):
        load_dataset(write(tmp_path, ",a, \n0,1,2\n"))


def test_a_quote_that_is_never_closed_does_not_swallow_the_rest(tmp_path: Path) -> None:
    path = write(tmp_path, 'a,b\n1,2\n3,"4\n5,6\n7,8\n')
    seen: list[object] = []
    with pytest.raises(DatasetError, match="never closed") as caught:
        seen.extend(row for batch in open_dataset(path).batches(1, seen.append) for row in batch.rows)
    assert seen == [{"a": "1", "b": "2"}]
    assert caught.value.bad_rows[0].line == 3
    assert load_dataset(path, limit=1) == [{"a": "1", "b": "2"}]
    with pytest.raises(DatasetError, match=r":1: .*never closed"):
        load_dataset(write(tmp_path, 'a,"b\n1,2\n'))


def test_bytes_that_are_not_utf8_name_field_and_line(tmp_path: Path) -> None:
    rows, lines, bad = read_all(write(tmp_path, b"q,a\nx,y\nx,caf\xe9\n\xc3\xa9,z\n"))
    assert rows == [{"q": "x", "a": "y"}, {"q": "é", "a": "z"}]
    assert lines == [2, 4]
    assert [(b.line, b.field) for b in bad] == [(3, "a")]
    assert "byte 0xe9 in field 'a'" in bad[0].reason
    with pytest.raises(DatasetError, match="not valid UTF-8: byte 0xe9 in cell 1"):
        load_dataset(write(tmp_path, b"caf\xe9,a\n1,2\n"))


def test_unicode_separators_do_not_end_a_line(tmp_path: Path) -> None:
    text = "a,b\nx\u2028y\u0085z\x0b\x0c\x1c,1\nq,2\n"
    rows, lines, _ = read_all(write(tmp_path, text))
    assert rows[0]["a"] == "x\u2028y\u0085z\x0b\x0c\x1c"
    assert lines == [2, 3]


def test_lone_carriage_returns_end_lines(tmp_path: Path) -> None:
    rows, lines, _ = read_all(write(tmp_path, b'a,b\r1,2\r"x\ry",4\r5,6\r'))
    assert rows == [{"a": "1", "b": "2"}, {"a": "x\ry", "b": "4"}, {"a": "5", "b": "6"}]
    assert lines == [2, 3, 5]


def test_cells_may_be_huge(tmp_path: Path) -> None:
    big = "word " * 200_000
    path = write(tmp_path, f'a,b\n"{big}",1\n{big},2\n')
    assert load_dataset(path) == [{"a": big, "b": "1"}, {"a": big, "b": "2"}]


def test_tsv_splits_at_tabs_only(tmp_path: Path) -> None:
    path = write(tmp_path, 'q\ta\n1,5\t"x\ty"\nz\n', "data.tsv")
    rows, _, bad = read_all(path)
    assert rows == [{"q": "1,5", "a": "x\ty"}]
    assert bad[0].reason.startswith("1 cell, header has 2")


def test_a_csv_with_semicolons_or_tabs_is_read_with_them(tmp_path: Path) -> None:
    text = '\ufeffFrage;"Antwort; kurz"\r\n"Was ist 1,5; ""etwa""?";1,5\r\n\r\nx\r\na;b;c\r\ny;"z\r\nz"\r\n'
    path = write(tmp_path, text)
    rows, lines, bad = read_all(path)
    assert rows == [
        {"Frage": 'Was ist 1,5; "etwa"?', "Antwort; kurz": "1,5"},
        {"Frage": "y", "Antwort; kurz": "z\r\nz"},
    ]
    assert lines == [2, 6]
    assert [(b.line, b.reason) for b in bad] == [
        (4, "1 cell, header has 2: write empty cells too"),
        (5, "3 cells, header has 2: put quotes around cells that contain semicolons"),
    ]
    assert load_dataset(write(tmp_path, "\n  \nq\ta\n1,5\tx;y\n")) == [{"q": "1,5", "a": "x;y"}]
    assert load_dataset(write(tmp_path, 'q;"a\nb"\n1;2\n')) == [{"q": "1", "a\nb": "2"}]
    assert load_dataset(write(tmp_path, '"q, or so";"a"\n1;2\n')) == [{"q, or so": "1", "a": "2"}]


def test_a_csv_stays_comma_separated_where_its_header_has_a_comma_or_one_name(tmp_path: Path) -> None:
    assert load_dataset(write(tmp_path, "q;r,a\n1,2\n")) == [{"q;r": "1", "a": "2"}]
    assert load_dataset(write(tmp_path, "q\n1;2\n")) == [{"q": "1;2"}]
    assert load_dataset(write(tmp_path, '"q;r"\n1;2\n')) == [{"q;r": "1;2"}]
    assert load_dataset(write(tmp_path, "q;r\n1;2\n", "x.tsv")) == [{"q;r": "1;2"}]
    with pytest.raises(DatasetError, match=":1: header names 'a' more than once"):
        load_dataset(write(tmp_path, "a;a\n1;2\n"))


cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=80)
@given(
    rows=st.lists(st.tuples(cells, cells, cells), max_size=12),
    delimiter=st.sampled_from([",", "\t"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    bom=st.booleans(),
    block=st.sampled_from([3, 17, 262_144]),
)
def test_any_cells_come_back_as_written(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, str]],
    delimiter: str,
    newline: str,
    quoting: Literal[0, 1],
    bom: bool,
    block: int,
) -> None:
    if any("\r" in cell for row in rows for cell in row):
        quoting = csv.QUOTE_ALL  # the writer leaves a lone carriage return unquoted, which no reader can undo
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    starts = []
    writer.writerow(["a", "b", "c"])
    for row in rows:
        starts.append(1 + len(list(io.StringIO(out.getvalue(), newline=""))))
        writer.writerow(row)
    path = tmp_path_factory.mktemp("cells") / ("x.csv" if delimiter == "," else "x.tsv")
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + out.getvalue().encode("utf-8"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "BLOCK_BYTES", block)
        found, lines, bad = read_all(path)
    assert [tuple(row.values()) for row in found] == rows
    assert lines == starts
    assert not bad
