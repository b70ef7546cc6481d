"""`.json` files: arrays of any layout as a stream, or one object per line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from benchwright import load_dataset
from benchwright.core import BadRow, DatasetError, finite_json
from benchwright.datasets import _stored as stored, open_dataset


def write(folder: Path, content: bytes | str, name: str = "data.json") -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def lines_of(path: Path) -> list[int]:
    return [line for batch in open_dataset(path).batches() for line in batch.lines]


ROWS = [{"a": 1, "t": "x, ] } y"}, {"a": 2, "t": 'q"\\'}, {"a": 10**30, "t": "ä\u2028"}]


@pytest.mark.parametrize("indent", [None, 0, 2, 8])
def test_arrays_of_any_layout_are_read(tmp_path: Path, indent: int | None) -> None:
    assert load_dataset(write(tmp_path, json.dumps(ROWS, indent=indent, ensure_ascii=False))) == ROWS


def test_lines_of_elements_are_where_they_start(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeff\n[\n  {"a": 1},\n\n  {\n    "a": 2\n  }, {"a": 3}\r\n,{"a": 4}\n]\n')
    assert load_dataset(path) == [{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}]
    assert lines_of(path) == [3, 5, 7, 8]


def test_one_object_per_line_is_read_as_well(tmp_path: Path) -> None:
    path = write(tmp_path, '\n{"a": 1}\n\n{"a": 2}\n')
    assert load_dataset(path) == [{"a": 1}, {"a": 2}]
    assert lines_of(path) == [2, 4]


@pytest.mark.parametrize("text", ["[]", " [ \n ] \n", "", "\n"])
def test_nothing_gives_no_rows(tmp_path: Path, text: str) -> None:
    assert load_dataset(write(tmp_path, text)) == []


def test_elements_that_are_no_objects_are_bad_rows(tmp_path: Path) -> None:
    bad: list[BadRow] = []
    reader = open_dataset(write(tmp_path, '[{"a": 1},\n12, "x",\n[1], null, 1.5e3, {"a": 2}]'))
    rows = [row for batch in reader.batches(on_bad=bad.append) for row in batch.rows]
    assert rows == [{"a": 1}, {"a": 2}]
    assert [(b.line, b.reason) for b in bad] == [
        (line, f"Array element is not a JSON object: {kind}")
        for line, kind in [(2, "int"), (2, "str"), (3, "list"), (3, "NoneType"), (3, "float")]
    ]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('[{"a": 1}\n{"a": 2}]', 2, "expected a comma or the closing bracket of the array, column 1"),
        ('[{"a": 1},\n {"a": tru}]', 2, "a value is missing or misspelt, column 8 near 'tru}]'"),
        ('[{"a": 1},\n]', 2, "a value is missing or misspelt, column 1"),
        ('[{"a": 1},\n {"a": "never', 2, "a string is not closed"),
        ('[{"a": 1},\n {"a": 2}', 2, "expected a comma or the closing bracket of the array"),
        ('[{"a": 1}]\n\n{"a": 2}', 3, "more text after the end of the array"),
    ],
)
def test_a_broken_array_raises_behind_its_good_rows(tmp_path: Path, text: str, line: int, told: str) -> None:
    path = write(tmp_path, text)
    seen: list[object] = []
    with pytest.raises(DatasetError, match="cannot be read beyond this point") as caught:
        seen.extend(row for batch in open_dataset(path).batches(1, seen.append) for row in batch.rows)
    assert seen == ([{"a": 1}, {"a": 2}] if text.endswith(' {"a": 2}') else [{"a": 1}])
    assert caught.value.bad_rows[0].line == line
    assert told in str(caught.value)


def test_one_object_over_several_lines_gets_the_cure(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="jq -c"):
        load_dataset(write(tmp_path, json.dumps({"data": {"rows": ROWS}}, indent=2)))


def test_bytes_that_are_no_text_are_bad_rows_in_arrays_too(tmp_path: Path) -> None:
    bad: list[BadRow] = []
    reader = open_dataset(
        write(tmp_path, b'[{"a": "\xc3\xa4"},\n{"a": "\xe4"},\n{"a": "\\ud800"},\n{"a": "\\ud83d\\ude00"}]')
    )
    rows = [row for batch in reader.batches(on_bad=bad.append) for row in batch.rows]
    assert rows == [{"a": "ä"}, {"a": "😀"}]
    assert [b.line for b in bad] == [2, 3]


@settings(max_examples=60)
@given(
    rows=st.lists(
        st.dictionaries(st.text(max_size=4), st.text(max_size=30) | st.floats() | st.integers(), max_size=3),
        max_size=8,
    ),
    indent=st.sampled_from([None, 1]),
    block=st.integers(1, 40),
    escaped=st.booleans(),
)
def test_where_blocks_end_makes_no_difference(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, object]],
    indent: int | None,
    block: int,
    escaped: bool,
) -> None:
    path = tmp_path_factory.mktemp("array") / "rows.json"
    path.write_text(json.dumps(rows, indent=indent, ensure_ascii=escaped), encoding="utf-8")
    whole = load_dataset(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "BLOCK_BYTES", block)
        pieces = load_dataset(path)
    assert json.dumps(pieces) == json.dumps(whole) == json.dumps(finite_json(rows))  # NaN is null


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("seed", range(5))
def test_one_list_of_objects_under_a_key_is_the_rows(tmp_path: Path, seed: int, indent: int | None) -> None:
    """An object with other keys is a row if it is in one line, and else told to be no rows unless exactly one list has objects."""
    draw = random.Random(seed)
    rows = [{"question": f"q{n}", "answer": n} for n in range(draw.randint(1, 4))]
    more: dict[str, Any] = dict(
        draw.sample([("version", 1), ("tags", ["a"]), ("about", {"by": "me"})], draw.randint(0, 2))
    )
    path = tmp_path / "data.json"
    path.write_text(json.dumps({**more, "rows": rows}, indent=indent))
    one_row = bool(more) and indent is None
    assert load_dataset(path) == ([{**more, "rows": rows}] if one_row else rows)
    reader = open_dataset(path)
    list(reader.batches())
    assert [note for note in reader.notes() if "under the key 'rows'" in note] == (
        [] if one_row else ["rows are read from the list under the key 'rows' of data.json"]
    )
    path.write_text(json.dumps({"rows": rows, "others": rows}, indent=2))
    with pytest.raises(DatasetError, match="several lists: rows, others"):
        load_dataset(path)
