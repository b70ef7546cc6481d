"""Arrow files and streams as data."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pytest

from benchwright import load_dataset
from benchwright.core import DatasetError
from benchwright.datasets import open_dataset

TABLE = pa.table(
    {
        "id": pa.array(range(3000), pa.int32()),
        "day": pa.array([0] * 3000, pa.date32()),
        "tags": [["a", None]] * 3000,
    }
)
ROWS = [{"id": number, "day": "1970-01-01", "tags": ["a", None]} for number in range(3000)]


def written(path: Path, open_writer: Any) -> Path:
    with open_writer(str(path), TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=1700)
    return path


def test_files_and_streams_are_told_apart(tmp_path: Path) -> None:
    assert load_dataset(written(tmp_path / "a.arrow", pa.ipc.new_file)) == ROWS
    assert load_dataset(written(tmp_path / "b.arrow", pa.ipc.new_stream)) == ROWS


def test_feather_and_compressed_files(tmp_path: Path) -> None:
    pa.feather.write_feather(TABLE, str(tmp_path / "a.feather"), compression="lz4")
    assert load_dataset(tmp_path / "a.feather") == ROWS
    plain = written(tmp_path / "b.arrow", pa.ipc.new_stream)
    (tmp_path / "b.arrow.gz").write_bytes(gzip.compress(plain.read_bytes()))
    assert load_dataset(tmp_path / "b.arrow.gz") == ROWS


def test_rows_have_their_numbers_as_lines(tmp_path: Path) -> None:
    reader = open_dataset(written(tmp_path / "a.arrow", pa.ipc.new_stream))
    assert [line for batch in reader.batches() for line in batch.lines] == list(range(1, 3001))


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    for kind in (pa.ipc.new_file, pa.ipc.new_stream):
        path = written(tmp_path / "a.arrow", kind)
        path.write_bytes(path.read_bytes()[:9000])
        with pytest.raises(DatasetError, match=r"a\.arrow: is not an Arrow file that can be read"):
            load_dataset(path)
    path.write_bytes(b"")
    with pytest.raises(DatasetError, match="is not an Arrow file"):
        load_dataset(path)
