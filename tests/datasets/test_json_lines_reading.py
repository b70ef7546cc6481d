"""JSON Lines with everything people's files have in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from benchwright import load_dataset
from benchwright.core import BadRow, DatasetError
from benchwright.datasets import Chunk, Sampling, open_dataset


def write(folder: Path, content: bytes | str, name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def read_all(path: Path) -> tuple[list[dict[str, object]], list[int], list[BadRow]]:
    """Rows, their lines, and the bad rows."""
    bad: list[BadRow] = []
    batches: list[Chunk] = list(open_dataset(path).batches(on_bad=bad.append))
    return [r for b in batches for r in b.rows], [n for b in batches for n in b.lines], bad


def reasons(path: Path) -> list[str]:
    return [f"{bad.line}: {bad.reason}" for bad in read_all(path)[2]]


def test_types_are_kept_per_row(tmp_path: Path) -> None:
    text = '{"a": 1}\n{"a": "1"}\n{"a": 1.0}\n{"a": null}\n{"a": true}\n{"a": [1, {"b": 2}]}\n{"b": "2024-01-01"}\n'
    rows = load_dataset(write(tmp_path, text))
    assert rows == [
        {"a": 1}, {"a": "1"}, {"a": 1.0}, {"a": None}, {"a": True}, {"a": [1, {"b": 2}]}, {"b": "2024-01-01"},
    ]  # fmt: skip
    assert [type(row.get("a")) for row in rows[:3]] == [int, str, float]


def test_bom_crlf_blank_lines_and_no_final_newline(tmp_path: Path) -> None:
    path = write(tmp_path, b'\xef\xbb\xbf{"a": 1}\r\n\r\n   \r\n{"a": 2}\n\n\n{"a": 3}')
    rows, lines, bad = read_all(path)
    assert (rows, lines, bad) == ([{"a": 1}, {"a": 2}, {"a": 3}], [1, 4, 7], [])


def test_joined_files_with_a_bom_in_the_middle_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"a": 1}\n\xef\xbb\xbf{"a": 2}\n')
    assert read_all(path)[:2] == ([{"a": 1}, {"a": 2}], [1, 2])


def test_files_with_lone_carriage_returns_have_lines_too(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"a": 1}\r{"a": 2}\r\r{"a": 3}\r')
    assert read_all(path)[:2] == ([{"a": 1}, {"a": 2}, {"a": 3}], [1, 2, 4])


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\u000b", "\u000c", "\u001c", "\u001e"])
def test_unicode_line_separators_belong_to_the_text(tmp_path: Path, separator: str) -> None:
    row = {"q": f"one{separator}two"}
    path = write(tmp_path, json.dumps(row, ensure_ascii=ord(separator) < 32) + '\n{"q": "x"}\n')
    assert read_all(path)[:2] == ([row, {"q": "x"}], [1, 2])


def test_last_of_two_equal_keys_wins(tmp_path: Path) -> None:
    assert load_dataset(write(tmp_path, '{"a": 1, "a": 2}\n')) == [{"a": 2}]


def test_nan_and_infinity_are_null(tmp_path: Path) -> None:
    rows = load_dataset(
        write(tmp_path, '{"a": NaN}\n{"a": [-Infinity, {"b": 1e999}]}\n{"a": 1, "b": "NaN"}\n')
    )
    assert rows == [{"a": None}, {"a": [None, {"b": None}]}, {"a": 1, "b": "NaN"}]


@pytest.mark.parametrize(
    "number",
    [
        2**63,
        2**64 - 1,
        2**64,
        -(2**63),
        -(2**63) - 1,
        10**40,
        -(10**18),
        9999999999999999999,
        -9999999999999999999,
    ],
)
def test_integers_of_any_length_stay_exact(tmp_path: Path, number: int) -> None:
    text = f'{{"a": {number}}}\n{{"a": [0, {{"b": {number}}}]}}\n{{"a": 7}}\n'
    assert load_dataset(write(tmp_path, text)) == [{"a": number}, {"a": [0, {"b": number}]}, {"a": 7}]


def test_lines_that_are_no_objects_name_their_type(tmp_path: Path) -> None:
    path = write(tmp_path, '{"a": 1}\n[1, 2]\n"text"\n7\nnull\ntrue\n{"a": 2}\n')
    rows, lines, bad = read_all(path)
    assert rows == [{"a": 1}, {"a": 2}]
    assert lines == [1, 7]
    assert [str(b) for b in bad] == [
        f"{path}:{line}: Line is not a JSON object: {kind}"
        for line, kind in [(2, "list"), (3, "str"), (4, "int"), (5, "NoneType"), (6, "bool")]
    ]


def test_malformed_json_is_explained_with_its_column(tmp_path: Path) -> None:
    path = write(tmp_path, '{"a": 1}\n{"a": 1 "b": 2}\n{\'a\': 1}\n{"a": 1}{"b": 2}\n{"a": "x\n')
    assert reasons(path) == [
        "2: not valid JSON: expected a comma or a closing bracket, column 9 near '\"b\": 2}'",
        "3: not valid JSON: expected a field name in double quotes, column 2 near \"'a': 1}\"",
        "4: not valid JSON: more text after the end of the value, column 9 near '{\"b\": 2}'",
        "5: not valid JSON: a string is not closed; it starts, column 7 near '\"x'",
    ]


def test_bytes_that_are_not_utf8_are_a_bad_row(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"a": "\xc3\xa4"}\n{"a": "\xc3\xa4 \xe4"}\n{"a": 3}\n')
    rows, lines, bad = read_all(path)
    assert (rows, lines) == ([{"a": "ä"}, {"a": 3}], [1, 3])
    assert [str(b) for b in bad] == [
        f"{path}:2: not valid UTF-8: byte 0xe4 at column 10. Name the encoding (--encoding cp1252), or save the file "
        "as UTF-8"
    ]


def test_half_a_surrogate_pair_is_a_bad_row_and_a_whole_one_is_not(tmp_path: Path) -> None:
    path = write(tmp_path, '{"a": "\\ud83d\\ude00"}\n{"a": "\\ud83d"}\n{"a": NaN, "b": "\\ud83d\\ude00"}\n')
    rows, _, bad = read_all(path)
    assert [row.get("b", row["a"]) for row in rows] == ["😀", "😀"]
    assert bad[0].line == 2
    assert "surrogate" in bad[0].reason


def test_what_no_parser_survives_is_a_bad_row(tmp_path: Path) -> None:
    path = write(tmp_path, '{"a": ' + "[" * 100_000 + "\n" + '{"a": ' + "9" * 5000 + '}\n{"a": 1}\n')
    rows, _, bad = read_all(path)
    assert rows == [{"a": 1}]
    assert [b.line for b in bad] == [1, 2]


def raised(path: Path) -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        load_dataset(path)
    return caught.value


def test_an_array_under_the_wrong_name_is_read_with_a_note(tmp_path: Path) -> None:
    reader = open_dataset(write(tmp_path, '\n[\n  {"a": 1},\n{"a": 2}\n]\n'))
    (batch,) = reader.batches()
    assert (batch.rows, batch.lines) == ([{"a": 1}, {"a": 2}], [3, 4])
    assert "is one JSON array" in reader.notes()[0]
    assert "expected a comma" in str(raised(write(tmp_path, '[{"a": 1}\n{"a": 2}]\n')))
    assert reasons(write(tmp_path, '[1]\n{"a": 1}\n')) == ["1: Line is not a JSON object: list"]
    assert "Each object must be on one line" in reasons(write(tmp_path, '{\n  "a": 1\n}\n'))[0]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    for content in (b"", b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"):
        assert load_dataset(write(tmp_path, content)) == []


@pytest.mark.parametrize("name", ["data", "data.txt", "data.ndjson", "DATA.JSONL", "x.y.unknown"])
def test_unknown_endings_are_read_as_json_lines(tmp_path: Path, name: str) -> None:
    assert load_dataset(write(tmp_path, '{"a": 1}\n', name)) == [{"a": 1}]


def test_other_encodings_and_archives_are_named(tmp_path: Path) -> None:
    for content, told in [
        ('{"a": 1}'.encode("utf-16"), "--encoding utf-16"),
        (b"PK\x03\x04rest", "rename the workbook to end in .xlsx"),
    ]:
        with pytest.raises(DatasetError, match=told):
            load_dataset(write(tmp_path, content))


def test_lines_longer_than_a_block_are_joined(tmp_path: Path) -> None:
    rows = [{"a": "x" * 900_000}, {"a": 1}, {"a": "é" * 700_000}, {"a": 2}]
    path = write(tmp_path, "\n".join(json.dumps(r, ensure_ascii=False) for r in rows))
    assert read_all(path)[:2] == (rows, [1, 2, 3, 4])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80)
@given(
    rows=st.lists(st.dictionaries(st.text(), json_values, max_size=4), max_size=12),
    newline=st.sampled_from(["\n", "\r\n", "\n\n"]),
    bom=st.booleans(),
    escaped=st.booleans(),
)
def test_any_rows_come_back_as_written(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, object]],
    newline: str,
    bom: bool,
    escaped: bool,
) -> None:
    text = "".join(json.dumps(row, ensure_ascii=escaped) + newline for row in rows)
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + text.encode("utf-8"))
    found, lines, bad = read_all(path)
    step = newline.count("\n")
    assert found == rows
    assert [list(map(type, r.values())) for r in found] == [list(map(type, r.values())) for r in rows]
    assert lines == [1 + step * i for i in range(len(rows))]
    assert not bad


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("q.jsonl", '{"a": 1}\n\n{"a": 1, "b": 2, "a" : 3}\n', 'line 3 names "a" twice'),
        ("q.jsonl", '{"a": {"x": 1, "x": 2}}\n', 'line 1 names "x" twice'),
        ("q.jsonl", '{"a": "no \\": key", "b": [{"c": 1}, {"c": 2}]}\n', None),
        ("q.json", '[{"a": 1},\n {"a": 1, "a": 2}]', 'line 2 names "a" twice'),
        ("q.json", '[{"a": [1, {"b": "\\"a\\": 2"}]}]', None),
        ("q.csv", "a,b\n1,2\n", None),
        ("q.jsonl", '{"a": 1\n{"a": 1, "a": NaN}\n', 'line 2 names "a" twice'),
    ],
)
def test_a_key_named_twice_is_a_doubt(name: str, text: str, found: str | None, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    doubts = open_dataset(path).doubts()
    start = "1 row names a field more than once, and only the last value is used: "
    assert doubts == ([] if found is None else [start + found])
    assert open_dataset(path, limit=1, sampling=Sampling()).doubts() == doubts
