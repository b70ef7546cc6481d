"""Parquet: Python values that JSON can hold, the same on every machine."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from benchwright import load_dataset
from benchwright.core import DatasetError, encode_json
from benchwright.datasets import open_dataset
from benchwright.datasets._readers import parquet


def write(folder: Path, table: pa.Table, name: str = "data.parquet", **options: object) -> Path:
    pq.write_table(table, folder / name, **options)
    return folder / name


def test_plain_values_come_back_as_they_are(tmp_path: Path) -> None:
    rows = [
        {"i": 2**63 - 1, "f": 0.5, "s": "ä", "b": True, "l": [1, None], "d": {"x": ["y"]}},
        {"i": None, "f": None, "s": None, "b": None, "l": None, "d": None},
    ]
    path = write(tmp_path, pa.Table.from_pylist(rows))
    assert load_dataset(path) == rows
    assert [b.lines for b in open_dataset(path).batches()] == [[1, 2]]


def test_values_json_cannot_hold_become_text_or_numbers(tmp_path: Path) -> None:
    when = dt.datetime(2024, 1, 2, 3, 4, 5, 678900, dt.UTC)
    table = pa.table(
        {
            "date": [dt.date(2024, 1, 2), None],
            "time": pa.array([when.replace(tzinfo=None), None], pa.timestamp("us")),
            "zoned": pa.array([when, None], pa.timestamp("ms", "UTC")),
            "clock": [dt.time(3, 4, 5), None],
            "span": [dt.timedelta(minutes=1, milliseconds=500), None],
            "price": [decimal.Decimal("1.50"), None],
            "text": [b"abc", None],
            "image": [b"\xff\xd8", None],
            "label": pa.array(["x", None]).dictionary_encode(),
            "map": pa.array(
                [[("k", decimal.Decimal("2.0"))], None], pa.map_(pa.string(), pa.decimal128(5, 1))
            ),
            "nested": [{"days": [dt.date(2024, 5, 6), None], "raw": None, "n": 1}, None],
        }
    )
    rows = load_dataset(write(tmp_path, table))
    assert rows[0] == {
        "date": "2024-01-02",
        "time": "2024-01-02T03:04:05.678900",
        "zoned": "2024-01-02T03:04:05.678000+00:00",
        "clock": "03:04:05",
        "span": 60.5,
        "price": "1.50",
        "text": "abc",
        "image": "/9g=",
        "label": "x",
        "map": {"k": "2.0"},
        "nested": {"days": ["2024-05-06", None], "raw": None, "n": 1},
    }
    assert set(rows[1].values()) == {None}
    assert encode_json(rows)


def test_nanoseconds_keep_all_their_digits(tmp_path: Path) -> None:
    fine = pa.array([1_700_000_000_123_456_789, None], pa.timestamp("ns"))
    whole = pa.array([1_700_000_000_123_456_000, None], pa.timestamp("ns"))
    rows = load_dataset(write(tmp_path, pa.table({"fine": fine, "whole": whole}), version="2.6"))
    assert rows[0] == {"fine": "2023-11-14T22:13:20.123456789", "whole": "2023-11-14T22:13:20.123456"}


def test_batches_follow_the_size_of_rows_and_any_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "CHUNK_BYTES", 2_000)
    rows = [{"i": i, "t": f"{i}" * 50} for i in range(500)]
    path = write(tmp_path, pa.Table.from_pylist(rows), row_group_size=37)
    assert load_dataset(path) == rows
    assert [len(b.rows) for b in open_dataset(path).batches(size=200)] == [200, 200, 100]


def test_parquet_is_read_through_gzip_and_zstd_and_without_an_ending(tmp_path: Path) -> None:
    rows = [{"i": i} for i in range(10)]
    stored = write(tmp_path, pa.Table.from_pylist(rows)).read_bytes()
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(stored))
    (tmp_path / "a.parquet.zst").write_bytes(zstandard.compress(stored))
    (tmp_path / "0123abcd").write_bytes(stored)
    for name in ("a.parquet.gz", "a.parquet.zst", "0123abcd"):
        assert load_dataset(tmp_path / name) == rows


def test_what_is_not_parquet_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text('{"a": 1}\n')
    with pytest.raises(DatasetError, match=r"a\.parquet: is not a Parquet file that can be read"):
        load_dataset(tmp_path / "a.parquet")
    stored = write(tmp_path, pa.Table.from_pylist([{"i": 1}])).read_bytes()
    (tmp_path / "a.csv").write_bytes(stored)
    with pytest.raises(DatasetError, match=r"Rename it to end in \.parquet"):
        load_dataset(tmp_path / "a.csv")


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(DatasetError, match="more than one column is called 'a'"):
        load_dataset(write(tmp_path, table))


def test_only_parquet_pays_for_pyarrow(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    code = (
        "import sys; from benchwright import load_dataset; load_dataset(sys.argv[1]); "
        "heavy = {'pyarrow', 'zstandard', 'asyncio'} & set(sys.modules); sys.exit(f'{heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.csv")], check=True)
