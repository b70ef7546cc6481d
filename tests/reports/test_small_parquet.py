"""A file of a few rows is written without pyarrow, and pyarrow reads what it would have written itself."""

from __future__ import annotations

import io
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from benchwright.reports.files.small_parquet import MOST_ROWS, Kind, small_parquet
from benchwright.results._number_columns import number_column, small_numbers

ARROW: dict[Kind, Any] = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64()}
VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    "text": st.text(max_size=30),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[Any]], dict[str, Kind]]:
    rows = draw(st.integers(1, 20))
    names = draw(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=18, unique=True))
    kinds: dict[str, Kind] = {name: draw(st.sampled_from(sorted(ARROW))) for name in names}
    columns = {
        name: draw(st.lists(st.none() | VALUES[kind], min_size=rows, max_size=rows))
        for name, kind in kinds.items()
    }
    return columns, kinds


@given(tables())
def test_pyarrow_reads_the_same_table(table: tuple[dict[str, list[Any]], dict[str, Kind]]) -> None:
    columns, kinds = table
    expected = pa.table({name: pa.array(values, ARROW[kinds[name]]) for name, values in columns.items()})
    found = pq.read_table(io.BytesIO(small_parquet(columns, kinds)))
    assert found.schema == expected.schema
    assert found.to_pylist() == expected.to_pylist()


@given(tables())
def test_columns_of_numbers_are_read_back_without_pyarrow(
    table: tuple[dict[str, list[Any]], dict[str, Kind]],
) -> None:
    columns, kinds = table
    content = small_parquet(columns, kinds)
    for name in (name for name, kind in kinds.items() if kind == "number"):
        known = [value for value in columns[name] if value is not None]
        assert small_numbers(content, name) == known
    assert small_numbers(content, "no such column") is None


def test_a_file_of_another_writer_is_left_to_pyarrow(tmp_path: Path) -> None:
    file = tmp_path / "samples.parquet"
    pq.write_table(pa.table({"a": [1.5, None, 2.5]}), file)
    assert small_numbers(file.read_bytes(), "a") is None
    assert number_column(io.BytesIO(file.read_bytes()), "a") == [1.5, 2.5]
    small = small_parquet({"a": [None, 0.5, math.inf]}, {"a": "number"})
    assert number_column(io.BytesIO(small), "a") == [0.5, math.inf]


def test_texts_may_be_bytes_and_long_and_there_may_be_as_many_rows_as_promised() -> None:
    texts: list[Any] = ["é" * 100_000, b"\xc3\xa9", None, *["x"] * (MOST_ROWS - 3)]
    found = pq.read_table(io.BytesIO(small_parquet({"a": texts}, {"a": "text"})))
    assert found["a"].to_pylist() == [
        value.decode() if isinstance(value, bytes) else value for value in texts
    ]


@pytest.mark.parametrize(("value", "kind"), [(5, "text"), (b"\xff", "text"), ("5", "integer"), (1.5, "integer"), (2**63, "integer"), ("x", "number")])  # fmt: skip
def test_a_value_of_another_kind_is_refused(value: Any, kind: Kind) -> None:
    with pytest.raises(Exception, match=r".") as raised:
        small_parquet({"a": [value]}, {"a": kind})
    assert type(raised.value).__name__ in ("TypeError", "UnicodeDecodeError", "error")


RUN = """\
import sys
from benchwright.cli import main
try:
    main()
finally:
    print("pyarrow" in sys.modules, file=sys.stderr)
"""


def test_a_short_run_does_not_load_pyarrow(tmp_path: Path) -> None:
    (tmp_path / "qa.jsonl").write_text('{"question": "2 + 2?", "answer": "4"}\n' * 3)
    command = ["run", "qa.jsonl", "--model", "demo", "--output-dir", "out"]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *command], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "False"
    assert pq.read_table(tmp_path / "out" / "samples.parquet").num_rows == 3
