"""Rows that follow a plan: the reader's usual promises, kept in another order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchwright.core import BadRow, DatasetError
from benchwright.datasets import DatasetReader, Filter, Sampling, _sampled as sampled, open_dataset
from benchwright.datasets._lengths import ColumnLengths, FixedLength, LengthShares, UniformLengths
from benchwright.datasets._sampling import sample_indexes

CSV = "question,answer,max_tokens\nq0,a0,7\nq1,a1,\nq2,a2,9\n"


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "qa.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def read(path: Any, limit: int | None = None, **settings: Any) -> DatasetReader:
    return open_dataset(path, sampling=Sampling(**settings), limit=limit)


def asked(reader: DatasetReader, size: int = 2) -> list[str]:
    return [row["question"] for batch in reader.batches(size) for row in batch.rows]


def lines(reader: DatasetReader) -> list[int]:
    return [line for batch in reader.batches() for line in batch.lines]


def test_rows_repeat_in_order_with_their_own_lines(csv: Path) -> None:
    reader = read(csv, request_count=7)
    assert asked(reader) == ["q0", "q1", "q2", "q0", "q1", "q2", "q0"]
    assert lines(reader) == [2, 3, 4, 2, 3, 4, 2]


@pytest.mark.parametrize("mode", ["default", "shuffle", "random", "random_with_replacement"])
@pytest.mark.parametrize("count", [None, 2, 3, 8])
@pytest.mark.parametrize("compat", [False, True])
def test_rows_follow_the_plan_on_every_pass(csv: Path, mode: str, count: int | None, compat: bool) -> None:
    sampling = Sampling(request_count=count, sampling_mode=mode, compat=compat)  # type: ignore[arg-type]
    reader = open_dataset(csv, sampling=sampling)
    expected = [f"q{place}" for place in sample_indexes(sampling, 3)]
    assert asked(reader) == asked(reader, size=100) == expected
    assert lines(reader) == [place + 2 for place in sample_indexes(sampling, 3)]


def test_planned_lengths_take_the_place_of_the_rows_own_as_whole_numbers(csv: Path) -> None:
    reader = read(csv, request_count=4, lengths=FixedLength(50))
    assert [row["max_tokens"] for row in reader.head(4)] == [50, 50, 50, 50]
    assert [row["max_tokens"] for row in open_dataset(csv).head(3)] == ["7", "", "9"]


def test_lengths_are_counted_over_all_requests_and_then_cut(csv: Path) -> None:
    shares = LengthShares(((1, Fraction(1, 2)), (2, Fraction(1, 2))), "blocked")
    reader = read(csv, limit=3, request_count=10, lengths=shares)
    assert [row["max_tokens"] for row in reader.head(9)] == [1, 1, 1]


def test_lengths_without_a_count_are_counted_over_the_rows(csv: Path) -> None:
    shares = LengthShares(((1, Fraction(2, 3)), (2, Fraction(1, 3))), "blocked")
    assert [row["max_tokens"] for row in read(csv, lengths=shares).head(9)] == [1, 1, 2]


def test_lengths_may_come_from_a_column(tmp_path: Path) -> None:
    path = tmp_path / "qa.csv"
    path.write_text("question,out\nq0,11\nq1,0\nq2,x\nq3,14\n", encoding="utf-8")
    reader = read(path, request_count=4, lengths=ColumnLengths("out"))
    bad: list[BadRow] = []
    rows = [row for batch in reader.batches(on_bad=bad.append) for row in batch.rows]
    assert [(row["question"], row["max_tokens"]) for row in rows] == [
        ("q0", 11), ("q3", 14), ("q0", 11), ("q3", 14),
    ]  # fmt: skip
    assert [(b.line, b.field) for b in bad] == [(3, "out"), (4, "out")]
    assert 'contains "0"' in str(bad[0])
    with pytest.raises(DatasetError, match=r'qa.csv:3: field "out" contains'):
        list(reader.batches())


def test_a_limit_cuts_the_plan_not_the_data(csv: Path) -> None:
    sampling = Sampling(request_count=6, sampling_mode="random")
    expected = [f"q{place}" for place in sample_indexes(sampling, 3)][:4]
    assert asked(open_dataset(csv, sampling=sampling, limit=4)) == expected
    assert asked(read(csv, limit=0, request_count=6)) == []


def test_the_first_rows_are_those_of_the_plan(csv: Path) -> None:
    reader = read(csv, request_count=5)
    assert [row["question"] for row in reader.head(2)] == ["q0", "q1"]
    assert [row["question"] for row in reader.good_rows()] == ["q0", "q1", "q2", "q0", "q1"]


def test_filters_and_mapping_come_before_the_plan(csv: Path) -> None:
    reader = open_dataset(
        csv,
        field_mapping={"question": "q"},
        filters=[Filter("answer", "a1")],
        sampling=Sampling(request_count=3),
    )
    assert [row["q"] for row in reader.head(9)] == ["q1", "q1", "q1"]


def test_the_fingerprint_covers_the_plan(csv: Path) -> None:
    prints = [
        open_dataset(csv).fingerprint(),
        read(csv).fingerprint(),
        read(csv, seed=1).fingerprint(),
        read(csv, lengths=UniformLengths(1, 2)).fingerprint(),
        read(csv, lengths=UniformLengths(1, 3)).fingerprint(),
        read(csv, compat=True).fingerprint(),
        read(csv, ignore_eos=True).fingerprint(),
    ]
    assert len(set(prints)) == len(prints)
    assert read(csv, source="elsewhere.meta.json").fingerprint() == read(csv).fingerprint()
    before = read(csv, seed=1).fingerprint()
    csv.write_text(CSV + "q3,a3,\n", encoding="utf-8")
    assert read(csv, seed=1).fingerprint() != before


@pytest.mark.parametrize("mode", ["default", "shuffle", "random_with_replacement"])
def test_bad_rows_are_told_once(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "qa.jsonl"
    path.write_text('{"question": "q0"}\nnot json\n{"question": "q1"}\n', encoding="utf-8")
    bad: list[BadRow] = []
    reader = read(path, request_count=9, sampling_mode=mode)
    rows = [row for batch in reader.batches(on_bad=bad.append) for row in batch.rows]
    assert len(rows) == 9
    assert [b.line for b in bad] == [2]
    with pytest.raises(DatasetError, match=r"qa\.jsonl:2"):
        list(reader.batches())


def test_data_without_a_good_row_still_tells_the_bad_ones(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    path.write_text("no\nno\n", encoding="utf-8")
    for mode in ("default", "shuffle"):
        bad: list[BadRow] = []
        assert list(read(path, request_count=9, sampling_mode=mode).batches(on_bad=bad.append)) == []
        assert len(bad) == 2


def test_copies_of_a_row_do_not_share_what_is_inside() -> None:
    rows = [{"question": "q0", "tags": []}]
    reader = read(rows, request_count=3, sampling_mode="random")
    for batch in reader.batches():
        for row in batch.rows:
            assert row["tags"] == []
            row["tags"].append("seen")


def test_rows_beyond_a_window_cost_another_pass_and_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled, "WINDOW_ROWS", 10)
    passes = 0

    def numbers() -> Iterator[dict[str, Any]]:
        nonlocal passes
        passes += 1
        yield from ({"question": number} for number in range(35))

    reader = read(numbers, sampling_mode="shuffle")
    seen = asked(reader)
    assert sorted(map(int, seen)) == list(range(35))
    assert passes == 1 + 4  # counted once, then a pass for each window
    assert asked(reader) == seen


def test_rows_in_order_are_streamed() -> None:
    pulled = 0

    def endless() -> Iterator[dict[str, Any]]:
        nonlocal pulled
        while True:
            pulled += 1
            yield {"question": f"q{pulled}"}

    reader = read(endless, request_count=1_000_000)
    assert next(reader.batches(2)).rows == [{"question": "q1"}, {"question": "q2"}]
    assert pulled < 2000
    assert len(reader.head(3)) == 3


def test_the_plan_is_told_in_words(csv: Path) -> None:
    (note,) = read(csv, request_count=10, sampling_mode="shuffle", source="qa.csv.meta.json").notes()
    assert note == (
        "qa.csv.meta.json: 10 requests from 3 rows, mode shuffle, seed 42; rows repeat, and intervals count the "
        "copies of a row as one cluster"
    )
    (first,) = read(csv, limit=1, request_count=2, source="m").notes()
    assert first == "m: 2 requests from the first 2 rows, mode default, cut to 1 by the limit"
    shares = LengthShares(((100, Fraction("0.5")), (200, Fraction("0.3")), (400, Fraction("0.2"))))
    _, lengths = read(csv, request_count=7, lengths=shares, source="m").notes()
    assert "100 tokens in 4 (requested 50 %, planned 57.14 %)" in lengths
    assert open_dataset(csv).notes() == []


def test_rows_know_where_they_come_from_only_where_one_may_come_twice(csv: Path) -> None:
    assert open_dataset(csv).origins() is None
    assert read(csv, request_count=3, sampling_mode="shuffle").origins() is None
    repeated = read(csv, request_count=7, sampling_mode="shuffle").origins()
    assert repeated is not None
    assert Counter(repeated) == {0: 3, 1: 2, 2: 2}
