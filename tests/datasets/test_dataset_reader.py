"""The reader: batches of any size are the same rows, read in bounded memory, as often as wanted."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from benchwright import load_dataset
from benchwright.core import BadRow, DatasetError
from benchwright.datasets import DatasetReader, Filter, _stored as stored, open_dataset


def numbers(folder: Path, count: int) -> Path:
    path = folder / "numbers.jsonl"
    path.write_text("".join(f'{{"i": {i}, "odd": {"true" if i % 2 else "false"}}}\n' for i in range(count)))
    return path


def values(reader: DatasetReader, size: int = 512) -> list[int]:
    return [row["i"] for batch in reader.batches(size) for row in batch.rows]


def test_batches_have_the_size_asked_for_and_can_be_read_again(tmp_path: Path) -> None:
    reader = open_dataset(numbers(tmp_path, 10))
    for _ in range(2):
        assert [(len(b.rows), b.lines) for b in reader.batches(4)] == [
            (4, [1, 2, 3, 4]), (4, [5, 6, 7, 8]), (2, [9, 10]),
        ]  # fmt: skip
    one, other = reader.batches(3), reader.batches(3)
    assert next(one).rows == next(other).rows
    with pytest.raises(DatasetError, match="batch size is 0"):
        reader.batches(0)


def test_limit_counts_rows_and_zero_means_none_of_them(tmp_path: Path) -> None:
    path = numbers(tmp_path, 10)
    assert values(open_dataset(path, limit=3)) == [0, 1, 2]
    assert values(open_dataset(path, limit=3), size=2) == [0, 1, 2]
    assert values(open_dataset(path, limit=99)) == list(range(10))
    assert values(open_dataset(path, limit=0)) == []


@pytest.mark.parametrize("limit", [None, 0])
def test_falsy_limits_of_load_dataset_mean_all(tmp_path: Path, limit: int | None) -> None:
    assert len(load_dataset(numbers(tmp_path, 10), limit=limit)) == 10
    assert len(load_dataset(str(numbers(tmp_path, 10)), 4)) == 4


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_limits_that_are_no_counts_are_refused(tmp_path: Path, limit: object) -> None:
    with pytest.raises(DatasetError, match="limit is"):
        open_dataset(numbers(tmp_path, 3), limit=limit)  # type: ignore[arg-type]


def test_filters_compare_text_before_mapping_and_limit(tmp_path: Path) -> None:
    path = numbers(tmp_path, 10)
    odd = open_dataset(path, filters=[Filter("odd", "True")], field_mapping={"odd": "x"}, limit=3)
    assert [(b.rows, b.lines) for b in odd.batches()] == [
        ([{"i": 1, "x": True}, {"i": 3, "x": True}, {"i": 5, "x": True}], [2, 4, 6])
    ]
    assert values(open_dataset(path, filters=[Filter("odd", "False"), Filter("i", "4")])) == [4]
    assert values(open_dataset(path, filters=[Filter("i", "")])) == []


@pytest.mark.parametrize("value", ["x", "None"])
@pytest.mark.parametrize("limit", [None, 2])
def test_a_filter_on_a_column_that_no_row_has_is_an_error(
    tmp_path: Path, value: str, limit: int | None
) -> None:
    path = numbers(tmp_path, 600)
    reader = open_dataset(path, filters=[Filter("od", value)], limit=limit)
    with pytest.raises(
        DatasetError, match=r"column 'od', which no row has; there are: i, odd. Did you mean 'odd'"
    ):
        list(reader.batches())
    renamed = open_dataset(path, filters=[Filter("x", value)], field_mapping={"odd": "x"}, limit=limit)
    with pytest.raises(DatasetError, match="called 'odd' before field_mapping"):
        list(renamed.batches())


def test_a_column_of_a_filter_that_only_some_rows_have_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"i": 1}\n' * 700 + '{"i": 2, "lang": "hi"}\n{"i": 3}\n')
    assert values(open_dataset(path, filters=[Filter("lang", "hi")])) == [2]
    assert values(open_dataset(path, filters=[Filter("lang", "None")], limit=2)) == [1, 1]
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert list(open_dataset(empty, filters=[Filter("lang", "hi")]).batches()) == []


def test_field_mapping_renames_swaps_and_lets_the_later_value_win(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": 2, "c": 3}\n{"b": 4, "a": 5}\n{"c": 6}\n')
    assert load_dataset(path, field_mapping={"a": "b", "b": "a"}) == [
        {"b": 1, "a": 2, "c": 3}, {"a": 4, "b": 5}, {"c": 6},
    ]  # fmt: skip
    assert load_dataset(path, field_mapping={"a": "b"}) == [{"b": 2, "c": 3}, {"b": 5}, {"c": 6}]
    assert load_dataset(path, field_mapping={"absent": "x"})[0] == {"a": 1, "b": 2, "c": 3}
    assert list(load_dataset(path, field_mapping={"a": "z"})[0]) == ["z", "b", "c"]


def test_a_field_mapping_of_the_wrong_shape_is_refused(tmp_path: Path) -> None:
    for wrong in ({"a": 1}, ["a"], "a=b"):
        with pytest.raises(DatasetError, match="field_mapping is"):
            open_dataset(numbers(tmp_path, 1), field_mapping=wrong)  # type: ignore[arg-type]


def mixed(folder: Path) -> Path:
    path = folder / "mixed.jsonl"
    path.write_text('{"i": 0}\n{"i": 1}\nbad\n{"i": 2}\n[]\n{"i": 3}\n')
    return path


def test_without_on_bad_the_first_bad_row_raises_behind_the_rows_before_it(tmp_path: Path) -> None:
    path = mixed(tmp_path)
    seen: list[object] = []
    with pytest.raises(DatasetError, match=r"mixed\.jsonl:3: not valid JSON") as caught:
        seen.extend(row for batch in open_dataset(path).batches(1) for row in batch.rows)
    assert seen == [{"i": 0}, {"i": 1}]
    assert [bad.line for bad in caught.value.bad_rows] == [3]


def test_a_limit_reached_before_a_bad_row_never_sees_it(tmp_path: Path) -> None:
    path = mixed(tmp_path)
    assert load_dataset(path, limit=2) == [{"i": 0}, {"i": 1}]
    bad: list[BadRow] = []
    reader = open_dataset(path, limit=3)
    assert [row for batch in reader.batches(on_bad=bad.append) for row in batch.rows][-1] == {"i": 2}
    assert [b.line for b in bad] == [3]


def test_load_dataset_lists_all_bad_rows_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 bad rows") as caught:
        load_dataset(mixed(tmp_path))
    assert isinstance(caught.value, DatasetError)
    assert "mixed.jsonl:3: not valid JSON" in str(caught.value)
    assert "mixed.jsonl:5: Line is not a JSON object: list" in str(caught.value)
    many = tmp_path / "many.jsonl"
    many.write_text("x\n" * 50)
    with pytest.raises(DatasetError, match=r"50 bad rows(.|\n)*and 30 more"):
        load_dataset(many)


def test_the_first_rows_are_read_and_no_more(tmp_path: Path) -> None:
    reader = open_dataset(numbers(tmp_path, 2000))
    assert [row["i"] for row in reader.head(3)] == [0, 1, 2]
    assert reader.head(0) == []
    assert len(reader.head(5000)) == len(list(reader.good_rows())) == 2000


def test_the_first_rows_stay_within_limit_and_filters_and_leave_bad_ones_out(tmp_path: Path) -> None:
    path = numbers(tmp_path, 20)
    assert [row["i"] for row in open_dataset(path, limit=5).head(9)] == [0, 1, 2, 3, 4]
    odd = open_dataset(path, filters=[Filter("odd", "True")])
    assert [row["i"] for row in odd.head(2)] == [1, 3]
    bad: list[BadRow] = []
    good = [row for batch in open_dataset(mixed(tmp_path)).batches(on_bad=bad.append) for row in batch.rows]
    assert len(bad) == 2
    assert open_dataset(mixed(tmp_path)).head(99) == list(open_dataset(mixed(tmp_path)).good_rows()) == good


def test_fingerprint_is_the_hash_of_the_stored_bytes(tmp_path: Path) -> None:
    path = numbers(tmp_path, 5)
    expected = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    reader = open_dataset(path, limit=1, field_mapping={"i": "j"})
    assert reader.fingerprint() == expected
    path.write_text("changed")
    assert reader.fingerprint() == expected
    assert open_dataset(path).fingerprint() != expected


def awkward(name: str) -> bytes:
    if name == "x.csv":
        lines = ['"two\nlines",1', "short", "é\u2028,2", "", "a,b,c", 'x,"say ""hi"""']
        return ("q,a\n" + "\r\n".join(lines * 9)).encode() + b"\ncaf\xe9,1\nlast,1"
    good = ['{"q": "é\u2028"}', "", "[1]", '{"q": 12345678901234567890123}', '{"q": NaN', '{"a": [{}]}']
    if name == "x.jsonl":
        return "\r\n".join(good * 9).encode() + b'\n{"q": "\xe9"}\n{"q": 1}'
    return json.dumps([{"q": "é", "n": [1, {"a": "]"}]}, 7, {}, [2], {"q": 10**25}] * 9, indent=1).encode()


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.json"])
@settings(max_examples=25)
@given(size=st.integers(1, 40), block=st.integers(1, 200), limit=st.none() | st.integers(0, 40))
def test_batch_and_block_sizes_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, name: str, size: int, block: int, limit: int | None
) -> None:
    path = tmp_path_factory.mktemp("awkward") / name
    path.write_bytes(awkward(name))

    def everything(size: int) -> tuple[list[tuple[int, object]], list[BadRow]]:
        bad: list[BadRow] = []
        reader = open_dataset(path, limit=limit)
        batches = list(reader.batches(size, on_bad=bad.append))
        assert all(len(b.rows) == size for b in batches[:-1])
        assert all(len(b.rows) == len(b.lines) > 0 for b in batches)
        return [pair for b in batches for pair in zip(b.lines, b.rows, strict=True)], bad

    expected = everything(10_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "BLOCK_BYTES", block)
        assert everything(size) == expected


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.json", "x.jsonl.gz", "x.csv.zst"])
def test_memory_stays_bounded_however_large_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    count, text = 25_000, "word " * 60
    if ".csv" in name:
        content = b"q,a\n" + f'"{text}",1\n'.encode() * count
    elif name == "x.json":
        content = b"[" + b",\n".join([json.dumps({"q": text, "a": 1}, indent=1).encode()] * count) + b"]"
    else:
        content = (json.dumps({"q": text, "a": 1}) + "\n").encode() * count
    if name.endswith(".gz"):
        import gzip

        content = gzip.compress(content, 1)
    elif name.endswith(".zst"):
        import zstandard

        content = zstandard.compress(content)
    path.write_bytes(content)
    del content
    reader = open_dataset(path)
    tracemalloc.start()
    try:
        seen = sum(len(batch.rows) for batch in reader.batches())
        assert sum(1 for _ in reader.good_rows()) == seen
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seen == count
    assert peak < 6_000_000  # of 7.5 MB of text, 10 MB and more as rows


def test_stopping_early_closes_the_file(tmp_path: Path) -> None:
    batches = open_dataset(numbers(tmp_path, 5000)).batches(2)
    next(batches)
    batches.close()  # type: ignore[attr-defined]  # a generator; ResourceWarning would fail the test
