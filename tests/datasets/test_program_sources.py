"""Rows from Python: functions, objects with rows(), lists; and iterators that can be read only once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import pytest

from benchwright import load_dataset
from benchwright.core import BadRow, DatasetError
from benchwright.datasets import open_dataset


def make_rows() -> Iterator[dict[str, Any]]:
    for i in range(600):
        yield {"i": i}


class Source:
    def rows(self) -> Iterable[dict[str, Any]]:
        return [{"i": i} for i in range(600)]


class Again:
    def __iter__(self) -> Iterator[dict[str, Any]]:
        return make_rows()


@pytest.mark.parametrize("ref", [make_rows, Source(), Again(), list(make_rows()), lambda: list(make_rows())])
def test_sources_are_read_again_on_every_pass(ref: Any) -> None:
    reader = open_dataset(ref, field_mapping={"i": "j"}, limit=500)
    for _ in range(2):
        batches = list(reader.batches(300))
        assert [len(b.rows) for b in batches] == [300, 200]
        assert batches[0].rows[7] == {"j": 7}
        assert batches[1].lines[0] == 301
    assert reader.path is None


def test_names_say_whose_rows_they_are() -> None:
    assert open_dataset(make_rows).name == "make_rows()"
    assert open_dataset(Source()).name == "Source.rows()"
    assert open_dataset([{"a": 1}]).name == "<list>"


def test_a_generator_given_directly_is_refused_with_the_cure() -> None:
    with pytest.raises(DatasetError, match=r"a generator, which can be read only once.*not make_rows\(\)"):
        open_dataset(make_rows())
    with pytest.raises(DatasetError, match="read only once"):
        open_dataset(map(dict, []))


def test_a_function_that_returns_a_used_up_generator_is_found_out() -> None:
    rows = make_rows()
    reader = open_dataset(lambda: rows)
    assert len([1 for batch in reader.batches() for _ in batch.rows]) == 600
    with pytest.raises(DatasetError, match="a second time, and it is used up"):
        list(reader.batches())


def test_rows_that_are_no_dicts_are_bad_rows() -> None:
    bad: list[BadRow] = []
    rows: list[Any] = [{"a": 1}, "text", None, {1: "x"}, {"a": 2}]
    found = [row for batch in open_dataset(rows).batches(on_bad=bad.append) for row in batch.rows]
    assert found == [{"a": 1}, {"a": 2}]
    assert [str(b) for b in bad] == [
        "<list>:2: Row is not a dict: str",
        "<list>:3: Row is not a dict: NoneType",
        "<list>:4: field name 1 is not text: int",
    ]
    with pytest.raises(DatasetError, match="3 bad rows"):
        load_dataset(rows)


@pytest.mark.parametrize("ref", [7, None, 1.5, {"a": 1}, b"bytes"])
def test_what_is_no_dataset_is_refused(ref: Any) -> None:
    with pytest.raises(DatasetError, match="the dataset is"):
        open_dataset(ref)


async def later() -> list[dict[str, Any]]:
    await asyncio.sleep(0)
    return []


async def stream() -> AsyncIterator[dict[str, Any]]:
    yield {}


@pytest.mark.parametrize(
    "function", [later, stream, lambda: "text", lambda: {"a": 1}, lambda: None, lambda: 7]
)
def test_functions_that_give_no_rows_are_refused(function: Any) -> None:
    with pytest.raises(DatasetError, match="expected something that yields rows"):
        list(open_dataset(function).batches())


def test_a_failing_source_is_named_and_its_good_rows_come_first() -> None:
    def flaky() -> Iterator[dict[str, Any]]:
        yield from ({"i": i} for i in range(5))
        raise KeyError("column")

    seen: list[object] = []
    with pytest.raises(DatasetError, match=r"flaky\(\) failed after row 5: KeyError: 'column'"):
        seen.extend(row for batch in open_dataset(flaky).batches(1) for row in batch.rows)
    assert len(seen) == 5
    assert len(load_dataset(flaky, limit=5)) == 5
    with pytest.raises(DatasetError, match=r"failed: TypeError: .*missing 1 required"):
        list(open_dataset(lambda needed: []).batches())  # type: ignore[arg-type,misc]


def test_a_small_limit_pulls_few_rows_and_closes_the_source() -> None:
    pulled: list[int | str] = []

    def slow() -> Iterator[dict[str, Any]]:
        try:
            for i in range(10_000):
                pulled.append(i)
                yield {"i": i}
        finally:
            pulled.append("closed")

    assert len(open_dataset(slow).head(3)) == 3
    assert pulled == [0, 1, 2, "closed"]


def test_one_dict_changed_in_place_still_gives_different_rows() -> None:
    def reused() -> Iterator[dict[str, Any]]:
        row: dict[str, Any] = {}
        for i in range(3):
            row["i"] = i
            yield row

    assert load_dataset(reused) == [{"i": 0}, {"i": 1}, {"i": 2}]


def test_fingerprint_follows_the_rows_not_the_keys_order() -> None:
    one = open_dataset([{"a": 1, "b": 2}]).fingerprint()
    assert one.startswith("sha256:")
    assert one == open_dataset(lambda: iter([{"b": 2, "a": 1}]), limit=0).fingerprint()
    assert one != open_dataset([{"a": 1, "b": 3}]).fingerprint()
