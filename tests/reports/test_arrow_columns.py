"""Arrow columns made of buffers hold what pyarrow's own conversion would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from recorded_runs import SUMMARY, every_kind_of_sample, score

from benchwright.reports.files.parquet import array as column
from benchwright.store import RunRecord, Store

TEXTS = st.text(max_size=6)  # no halves of characters, and all others
WHOLE = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False)


def with_nulls(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Lists without, with some, and with nothing but nulls."""
    return st.one_of(
        st.lists(values, max_size=40),
        st.lists(st.one_of(st.none(), values), max_size=40),
        st.integers(0, 20).map(lambda count: [None] * count),
    )


CASES = st.one_of(
    st.tuples(st.just(pa.string()), with_nulls(TEXTS)),
    st.tuples(st.just(pa.string()), with_nulls(TEXTS.map(str.encode))),
    st.tuples(st.just(pa.int64()), with_nulls(WHOLE)),
    st.tuples(st.just(pa.float64()), with_nulls(FLOATS)),
    st.tuples(st.just(pa.bool_()), with_nulls(st.booleans())),
    st.tuples(st.just(pa.list_(pa.string())), with_nulls(with_nulls(TEXTS))),
    st.tuples(st.just(pa.list_(pa.float64())), with_nulls(with_nulls(FLOATS))),
    st.tuples(st.just(pa.list_(pa.bool_())), with_nulls(with_nulls(st.booleans()))),
)


@given(CASES)
def test_a_column_holds_what_pyarrow_would_make_of_it(case: tuple[Any, list[Any]]) -> None:
    kind, values = case
    made = column(pa, values, kind)
    made.validate(full=True)
    expected = pa.array(values, kind)
    assert made.equals(expected)
    assert (made.type, made.null_count) == (expected.type, expected.null_count)


def test_what_does_not_fit_is_left_to_pyarrow() -> None:
    assert column(pa, [33.0, None, 2], pa.int64()).to_pylist() == [33, None, 2]
    assert column(pa, ["text", b"bytes"], pa.string()).to_pylist() == ["text", "bytes"]
    with pytest.raises(pa.ArrowTypeError, match="int"):
        column(pa, ["text", 1], pa.string())
    with pytest.raises(pa.ArrowInvalid, match="tried to convert to double"):
        column(pa, [0.5, "1"], pa.float64())
    with pytest.raises(OverflowError):
        column(pa, [2**63], pa.int64())


@pytest.mark.parametrize("broken", ["\ud800", b"\xff", b"\xed\xa0\x80"])
def test_half_a_character_is_refused(broken: str | bytes) -> None:
    blank: str | bytes = "" if isinstance(broken, str) else b""
    with pytest.raises(UnicodeError):
        column(pa, [blank, None, broken], pa.string())


def test_a_huge_cell_stands_among_small_ones() -> None:
    huge = "é" * 30_000_000
    made = column(pa, ["a", huge, None, "b"], pa.string())
    assert made[1].as_py() == huge
    assert made.take(pa.array([0, 2, 3])).to_pylist() == ["a", None, "b"]


def test_writing_the_files_of_a_run_does_not_load_pandas(
    store: Store, record: Callable[..., RunRecord], tmp_path: Path
) -> None:
    ranked = {
        "o": "scored",
        "s": {"correct": 0.5},
        "t": "A",
        "r": "é",
        "_choices": [" A", " é"],
        "_choices_logprobs": [-2.5, None],
        "_choices_is_greedy": [True, False],
    }
    run = record([*every_kind_of_sample(), score(7, 0, ranked)])
    program = f"""
import sys
from pathlib import Path
from benchwright.results import RunSamples, benchmark_details
from benchwright.reports import write_run_files
from benchwright.core import RunSummary
from benchwright.store import Workspace, open_store
store = open_store(Workspace(Path({str(store.workspace.root)!r})), read_only=True)
run = store.run({run.id})
write_run_files(benchmark_details(run), RunSamples(store, run), RunSummary.from_json({SUMMARY.to_json()!r}))
print(sorted(name for name in ("pandas", "pyarrow") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['pyarrow']"
    assert (tmp_path / "out" / "samples.parquet").exists()
