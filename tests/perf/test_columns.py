"""Arrow arrays made by their buffers hold the same values as those that pyarrow makes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from benchwright.perf._columns import column, ones, row_numbers


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], pa.float64()),
        ([1.5, None, -2.0], pa.float64()),
        ([None] * 9, pa.int32()),
        ([2**40, None, *range(20)], pa.int64()),
        (["é", None, "", "text"], pa.string()),
        ([(0.1, 0.2), None, (), (3.0,)], pa.list_(pa.float64())),
        ([(1, 2), None, ()], pa.list_(pa.int32())),
    ],
)
def test_arrays_are_those_of_pyarrow(values: list[object], kind: pa.DataType) -> None:
    found = column(values, kind)
    found.validate(full=True)
    assert found.equals(pa.array(values, kind))


def test_numbers_and_ones() -> None:
    assert row_numbers(3).to_pylist() == [0, 1, 2]
    assert ones(2).to_pylist() == [1.0, 1.0]
