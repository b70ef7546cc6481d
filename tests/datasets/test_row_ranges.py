"""A part of the rows: slices as Python writes them, and subsets that are always the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.core import UsageError
from benchwright.datasets import DatasetReader, RowRange, Sampling, open_dataset


def reader(folder: Path, written: str, rows: int = 20, limit: int | None = None) -> DatasetReader:
    path = folder / "rows.csv"
    path.write_text("n\n" + "".join(f"{n}\n" for n in range(rows)), encoding="utf-8")
    return open_dataset(str(path), limit=limit, sampling=Sampling(rows=RowRange.parse(written)))


def numbers(data: DatasetReader, size: int = 7) -> list[int]:
    return [int(row["n"]) for batch in data.batches(size) for row in batch.rows]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[10:20]", list(range(10, 20))),
        ("3:5", [3, 4]),
        ("[:2]", [0, 1]),
        ("[18:]", [18, 19]),
        ("[-3:]", [17, 18, 19]),
        ("[::5]", [0, 5, 10, 15]),
        ("[ 2 : 9 : 3 ]", [2, 5, 8]),
        ("[18:99]", [18, 19]),
        ("[30:40]", []),
    ],
)
def test_slices(tmp_path: Path, written: str, expected: list[int]) -> None:
    assert numbers(reader(tmp_path, written)) == expected


def test_lines_are_those_of_the_data(tmp_path: Path) -> None:
    (batch,) = reader(tmp_path, "[4:6]").batches()
    assert batch.lines == [6, 7]


def test_a_number_and_a_share_draw_rows_that_stay_the_same(tmp_path: Path) -> None:
    drawn = numbers(reader(tmp_path, "5"))
    assert len(drawn) == 5
    assert drawn == sorted(set(drawn)) == numbers(reader(tmp_path, "5"))
    assert drawn != list(range(5))
    assert len(numbers(reader(tmp_path, "0.25"))) == 5
    assert len(numbers(reader(tmp_path, "0.001"))) == 1
    assert numbers(reader(tmp_path, "99")) == list(range(20))


def test_the_limit_cuts_what_the_range_gives(tmp_path: Path) -> None:
    assert numbers(reader(tmp_path, "[5:15]", limit=3)) == [5, 6, 7]


def test_another_range_selects_rows_of_the_same_dataset(tmp_path: Path) -> None:
    one, other = (reader(tmp_path, written) for written in ("[0:5]", "[0:6]"))
    assert one.fingerprint() == other.fingerprint()
    assert one.notes() == ["test_range [0:5] selects 5 rows"]


@pytest.mark.parametrize(
    "written", ["", "x", "0", "-3", "1.5", "0.0", "[1]", "[1:2", "[::0]", "nan", "1:2:3:4"]
)
def test_anything_else_is_refused_with_what_is_expected(written: str) -> None:
    with pytest.raises(UsageError, match=r"expected a slice such as \[10:20\]"):
        RowRange.parse(written)
