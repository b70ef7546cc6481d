"""Every type of a format, written by the format's own library, at every depth: which JSON value it becomes."""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import random
import struct
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import benchwright
from benchwright import benchmark, load_dataset, scorer
from benchwright.benchmarks import CheckReport, QuestionOptions, load_questions
from benchwright.core import encode_json
from benchwright.datasets._readers.parquet import batch_rows

WHEN = dt.datetime(2024, 1, 2, 3, 4, 5, 678900)  # noqa: DTZ001  # types without a zone
FINE = 1_700_000_000_123_456_789
BERLIN = "Europe/Berlin"

LEAVES: dict[str, tuple[pa.Array, Any]] = {
    "float16": (pa.array([0.1], pa.float16()), 0.1),
    "float32": (pa.array([0.1], pa.float32()), 0.1),
    "float32 large": (pa.array([3.4028235e38], pa.float32()), 3.4028235e38),
    "float32 small": (pa.array([1e-45], pa.float32()), 1e-45),
    "float32 whole": (pa.array([16777216.0], pa.float32()), 16777216.0),
    "float64": (pa.array([0.1]), 0.1),
    "NaN16": (pa.array([math.nan], pa.float16()), None),
    "NaN32": (pa.array([math.nan], pa.float32()), None),
    "NaN64": (pa.array([math.nan]), None),
    "infinity32": (pa.array([-math.inf], pa.float32()), None),
    "infinity64": (pa.array([math.inf]), None),
    "int8": (pa.array([-1], pa.int8()), -1),
    "uint64": (pa.array([2**64 - 1], pa.uint64()), 2**64 - 1),
    "bool": (pa.array([True]), True),
    "null": (pa.nulls(1), None),
    "decimal": (pa.array([Decimal("1.50")]), "1.50"),
    "decimal256": (pa.array([Decimal("1.50")], pa.decimal256(50, 2)), "1.50"),
    "decimal of hundreds": (pa.array([Decimal("1E+2")], pa.decimal128(5, -2)), "100"),
    "date32": (pa.array([WHEN.date()]), "2024-01-02"),
    "date64": (pa.array([WHEN.date()], pa.date64()), "2024-01-02"),
    "date beyond Python's": (pa.array([3_000_000], pa.int32()).cast(pa.date32()), "10183-09-21"),
    "time32": (pa.array([dt.time(3, 4, 5)], pa.time32("s")), "03:04:05"),
    "time64": (pa.array([dt.time(3, 4, 5, 6)], pa.time64("us")), "03:04:05.000006"),
    "time64 in ns": (pa.array([1], pa.time64("ns")), "00:00:00.000000001"),
    "timestamp": (pa.array([WHEN], pa.timestamp("us")), "2024-01-02T03:04:05.678900"),
    "timestamp in ms": (pa.array([WHEN], pa.timestamp("ms")), "2024-01-02T03:04:05.678000"),
    "timestamp in ns": (pa.array([FINE], pa.timestamp("ns")), "2023-11-14T22:13:20.123456789"),
    "timestamp in UTC": (pa.array([WHEN], pa.timestamp("us", "UTC")), "2024-01-02T03:04:05.678900+00:00"),
    "timestamp in a zone": (pa.array([WHEN], pa.timestamp("us", BERLIN)), "2024-01-02T04:04:05.678900+01:00"),
    "ns in a zone": (pa.array([FINE], pa.timestamp("ns", BERLIN)), "2023-11-14T23:13:20.123456789+01:00"),
    "duration": (pa.array([dt.timedelta(seconds=90.5)]), 90.5),
    "duration in ns": (pa.array([1_500_000_001], pa.duration("ns")), 1.500000001),
    "interval": (pa.array([pa.MonthDayNano([1, 2, 3_500_000_000])]), "P1M2DT3.5S"),
    "binary text": (pa.array([b"abc"]), "abc"),
    "binary": (pa.array([b"\xff\xd8"], pa.large_binary()), "/9g="),
    "fixed binary": (pa.array([b"ab"], pa.binary(2)), "ab"),
    "binary view": (pa.array([b"abc"], pa.binary_view()), "abc"),
    "string": (pa.array(["ä"]), "ä"),
    "large string": (pa.array(["ä"], pa.large_string()), "ä"),
    "string view": (pa.array(["ä"], pa.string_view()), "ä"),
    "text that reads nan": (pa.array(["nan"]), "nan"),
}

BOXES: dict[str, tuple[Callable[[pa.Array], pa.Array], Callable[[Any], Any]]] = {
    "column": (lambda array: array, lambda value: value),
    "list": (lambda array: pa.ListArray.from_arrays([0, 1], array), lambda value: [value]),
    "large list": (lambda array: pa.LargeListArray.from_arrays([0, 1], array), lambda value: [value]),
    "fixed list": (lambda array: pa.FixedSizeListArray.from_arrays(array, 1), lambda value: [value]),
    "list view": (lambda array: pa.ListViewArray.from_arrays([0], [1], array), lambda value: [value]),
    "struct": (lambda array: pa.StructArray.from_arrays([array], ["x"]), lambda value: {"x": value}),
    "map": (
        lambda array: pa.MapArray.from_arrays([0, 1], pa.array(["k"]), array),
        lambda value: {"k": value},
    ),
    "list of structs": (
        lambda array: pa.ListArray.from_arrays([0, 1], pa.StructArray.from_arrays([array], ["x"])),
        lambda value: [{"x": value}],
    ),
    "dictionary": (lambda array: array.dictionary_encode(), lambda value: value),
    "runs": (lambda array: pa.RunEndEncodedArray.from_arrays([1], array), lambda value: value),
}


def written(table: pa.Table, folder: Path) -> Iterator[Path]:
    """The table in each format that can hold it."""
    for name in ("data.parquet", "file.arrow", "stream.arrow"):
        path = folder / name
        try:
            if name == "data.parquet":
                pq.write_table(table, path)
            else:
                new = pa.ipc.new_file if name.startswith("file") else pa.ipc.new_stream
                with pa.OSFile(str(path), "wb") as raw, new(raw, table.schema) as writer:
                    writer.write_table(table)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, OSError):
            continue  # the format has no such type
        yield path


@pytest.mark.parametrize("box", BOXES)
def test_every_type_becomes_the_same_value_in_every_format(box: str, tmp_path: Path) -> None:
    boxed, expected = BOXES[box]
    found: dict[str, Any] = {}
    wanted: dict[str, Any] = {}
    for name, (array, value) in LEAVES.items():
        try:
            table = pa.table({"v": boxed(array)})
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            continue
        for path in written(table, tmp_path):
            if box == "dictionary" and path.suffix == ".parquet" and pa.types.is_temporal(array.type):
                continue  # pyarrow loses unit and zone of the dictionary's values
            rows = load_dataset(path)
            found[f"{name} in {path.name}"] = rows[0]["v"]
            wanted[f"{name} in {path.name}"] = expected(value)
            assert encode_json(rows)
    assert len(found) >= len(LEAVES)
    assert found == wanted


def test_parts_of_nested_columns_are_read_alone() -> None:
    """Files are read in slices, whose inner arrays begin elsewhere."""
    draw = random.Random(5)

    def cells(make: Callable[[], Any]) -> list[Any]:
        return [None if draw.random() < 0.3 else make() for _ in range(40)]

    def numbers() -> list[int | None]:
        return [draw.choice([1, 2, None]) for _ in range(draw.randint(0, 3))]

    lists = [pa.list_(pa.int64()), pa.large_list(pa.int64()), pa.list_view(pa.int64())]
    columns = [pa.array(cells(numbers), kind) for kind in lists]
    columns.append(pa.array(cells(lambda: [1, None]), pa.list_(pa.int64(), 2)))
    columns.append(pa.array(cells(lambda: {"a": numbers(), "b": draw.choice(["x", None])})))
    columns.append(pa.array(cells(lambda: [{"a": numbers()}, None])))
    columns.append(pa.array(cells(lambda: draw.choice("xyz"))).dictionary_encode())
    columns.append(pa.RunEndEncodedArray.from_arrays([3, 25, 40], pa.array(["x", None, "y"])))
    pairs = cells(lambda: [(f"k{at}", at) for at in range(draw.randint(0, 3))])
    columns.append(pa.array(pairs, pa.map_(pa.string(), pa.int64())))
    batch = pa.record_batch(columns, names=[str(at) for at in range(len(columns))])
    expected = [{**row, "8": None if row["8"] is None else dict(row["8"])} for row in batch.to_pylist()]
    for start, count in ((0, 40), (7, 20), (39, 1), (10, 0)):
        assert batch_rows(batch.slice(start, count)) == expected[start : start + count]


@pytest.mark.parametrize(("code", "kind"), [("f", pa.float32()), ("e", pa.float16())])
def test_a_short_float_is_the_shortest_decimal_that_is_it(code: str, kind: pa.DataType) -> None:
    draw = random.Random(8)
    size = struct.calcsize(code)
    stored = [struct.unpack(code, draw.randbytes(size))[0] for _ in range(2000)]
    stored = [value for value in stored if math.isfinite(value)]
    (column,) = zip(
        *[row.values() for row in batch_rows(pa.record_batch([pa.array(stored, kind)], ["v"]))], strict=False
    )
    for value, read in zip(stored, column, strict=True):
        assert struct.unpack(code, struct.pack(code, read))[0] == value
        digits = len(f"{Decimal(repr(read)).normalize():e}".split("e")[0].lstrip("-").replace(".", ""))
        shorter = float(f"{value:.{digits - 1}g}") if digits > 1 else math.nan
        with contextlib.suppress(OverflowError):
            assert struct.unpack(code, struct.pack(code, shorter))[0] != value


def test_prompt_and_target_show_the_decimal_that_was_stored(tmp_path: Path) -> None:
    table = pa.table({"question": ["Half of 0.2?"], "answer": pa.array([0.1], pa.float32())})
    options = pa.table(
        {
            "question": pa.array([0.7], pa.float32()),
            "A": pa.array([0.1], pa.float32()),
            "B": pa.array([0.3], pa.float16()),
            "answer": ["A"],
        }
    )
    pq.write_table(table, tmp_path / "qa.parquet")
    pq.write_table(options, tmp_path / "mcq.parquet")
    (asked,) = CheckReport.of(
        load_questions(str(tmp_path / "qa.parquet"), QuestionOptions(), cwd=tmp_path)
    ).samples
    assert asked.target == "0.1"
    (shown,) = CheckReport.of(
        load_questions(str(tmp_path / "mcq.parquet"), QuestionOptions(), cwd=tmp_path)
    ).samples
    text = str(shown.messages[0]["content"])
    assert text.startswith("0.7\n\nA) 0.1\nB) 0.3\n")


NO_ANSWER = {
    "json lines": ("q.jsonl", '{"question": "a?", "answer": %s}\n{"question": "b?", "answer": 2}\n'),
    "json": ("q.json", '[{"question": "a?", "answer": %s},\n{"question": "b?", "answer": 2}]\n'),
}


@pytest.mark.parametrize("form", NO_ANSWER)
@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "[NaN]", "null"])
def test_a_number_that_is_none_is_a_missing_answer_as_null_is(form: str, value: str, tmp_path: Path) -> None:
    name, text = NO_ANSWER[form]
    (tmp_path / name).write_text(text % value)
    report = CheckReport.of(load_questions(str(tmp_path / name), QuestionOptions(), cwd=tmp_path))
    if value == "[NaN]":
        assert report.bad_total or any("1 row has no answer (of 2)" in note for note in report.warnings)
        return
    assert report.rows == 2
    assert "1 row has no answer (of 2): left out of every metric" in report.warnings


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_a_missing_answer_in_a_column_of_numbers(kind: pa.DataType, tmp_path: Path) -> None:
    table = pa.table({"question": ["a?", "b?", "c?"], "answer": pa.array([math.nan, 2.5, None], kind)})
    pq.write_table(table, tmp_path / "q.parquet")
    report = CheckReport.of(load_questions(str(tmp_path / "q.parquet"), QuestionOptions(), cwd=tmp_path))
    assert "2 rows have no answer (of 3): left out of every metric" in report.warnings


def test_nan_as_a_text_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question,answer\nWhat is 0/0 in IEEE 754?,nan\n")
    report = CheckReport.of(load_questions(str(tmp_path / "q.csv"), QuestionOptions(), cwd=tmp_path))
    assert report.samples[0].target == "nan"
    assert not any("no answer" in note for note in report.warnings)


def test_a_missing_value_of_pandas_in_rows_from_python() -> None:
    rows = [{"q": "a", "n": math.nan, "deep": [{"x": math.inf}], "t": (1.5, math.nan), "s": "nan"}]
    assert load_dataset(rows) == [{"q": "a", "n": None, "deep": [{"x": None}], "t": [1.5, None], "s": "nan"}]


class NAType:
    """What pandas has for a missing value of any type."""

    def __eq__(self, other: object) -> Any:
        return self

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")


NaTType = type("NaTType", (), {})  # and for one of a time


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (np.float32("nan"), None),
        (np.float16("inf"), None),
        (np.datetime64("NaT", "s"), None),
        (NAType(), None),
        (NaTType(), None),
        (Decimal("NaN"), None),
        (Decimal("0.10"), Decimal("0.10")),
        (np.float32(0.1), np.float32(0.1)),
        (np.int64(3), np.int64(3)),
        ([1, NAType(), {"x": np.float32("inf")}], [1, None, {"x": None}]),
        (np.array([0.1, np.nan], np.float32), [0.1, None]),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array(["a", None]), ["a", None]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_libraries_in_rows_from_python(value: Any, read: Any) -> None:
    (row,) = load_dataset([{"q": "a", "answer": value}])
    assert row == {"q": "a", "answer": read}
    assert repr(row["answer"]) == repr(read), "no type of a library inside lists"
    json_row = encode_json(row)
    assert b"nan" not in json_row.lower()


def test_rows_from_python_with_such_answers_are_checked() -> None:
    answers = [NAType(), np.float32("nan"), np.array([1.5, 2.5])]

    @benchmark(
        name="odd_answers",
        dataset=[{"q": "a", "answer": one} for one in answers],
        prompt="{q}",
        target_field="answer",
    )
    @scorer
    def odd_answers(sample: Any) -> dict[str, Any]:
        return {"correct": True}

    rows = load_dataset([{"answer": one} for one in answers])
    assert [row["answer"] for row in rows] == [None, None, [1.5, 2.5]]
    (report,) = benchwright.check(odd_answers)
    assert any("2 rows" in note for note in report.warnings), report.warnings
