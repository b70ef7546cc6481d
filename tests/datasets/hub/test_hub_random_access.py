"""Rows by number: batches in any order, only what is needed fetched, the same as reading from the start."""

from __future__ import annotations

from typing import Any

import pytest
from hub_content import Repo, card, jsonl, numbered, parquet
from hub_server import LoopbackHub
from hypothesis import given, strategies as st

from benchwright import load_dataset
from benchwright.core import DatasetError
from benchwright.datasets import HubDataset
from benchwright.datasets._hf import parts
from benchwright.datasets._hf.splits import Term, parse_split

ROWS = numbered(95)


@pytest.fixture
def repo(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setattr(parts, "PART_BYTES", 1)
    monkeypatch.setattr(parts, "GROUP_ROWS", 7)
    repo = hub.repo("a/data")
    shards = [parquet(ROWS[i : i + 40], row_group_size=9) for i in range(0, 95, 40)]
    repo.commit(
        {f"data/test-0000{i}-of-00003.parquet": shard for i, shard in enumerate(shards)}
        | {"data/train-00000-of-00001.jsonl": "", "notes.md": ""}
    )
    hub.repo("a/text").commit({f"test-{i}.jsonl": jsonl(ROWS[i * 30 : i * 30 + 30]) for i in range(4)})
    return repo


@pytest.mark.parametrize("name", ["a/data", "a/text"])
def test_batches_equal_the_rows_in_order(hub: LoopbackHub, repo: Repo, name: str) -> None:
    dataset = HubDataset(f"hf://{name}")
    for offset in (60, 0, 94, 33, 95, 200):
        assert dataset.batch(offset, 31) == ROWS[offset : offset + 31]
    assert dataset.batch(5, 0) == []
    info = dataset.init()
    assert (info.rows, info.split, info.columns) == (95, "test", ("id", "text"))
    assert info.commit == hub.repos[name].refs["main"]
    assert HubDataset(info.uri).batch(93, 9) == ROWS[93:]
    with pytest.raises(DatasetError, match="expected 0 or more"):
        dataset.batch(-1, 2)


def test_only_the_shards_that_hold_the_rows_are_fetched(hub: LoopbackHub, repo: Repo) -> None:
    dataset = HubDataset("hf://a/data")
    assert dataset.batch(90, 3) == ROWS[90:93]
    whole = [seen.path for seen in hub.seen if "/objects/" in seen.path and seen.range is None]
    assert len(whole) == 1
    assert dataset.init().rows == 95


@pytest.mark.parametrize(
    "split", ["test[10:50]", "test[50%:]", "test[-10:]+test[:3]", "test[80:]+test[:3]+test[1:2]"]
)
def test_slices_and_sums_by_number(hub: LoopbackHub, repo: Repo, split: str) -> None:
    uri = f"hf://a/data?split={split}"
    expected = load_dataset(uri)
    dataset = HubDataset(uri)
    for offset in range(0, len(expected) + 2, 3):
        assert dataset.batch(offset, 4) == expected[offset : offset + 4]
    assert dataset.init().rows == len(expected)


def test_batches_in_order_unpack_a_row_group_once(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a file that is one large row group would be unpacked from its start for every batch."""
    from benchwright.datasets._hf import source

    calls: list[tuple[int, int]] = []
    real = source.table_rows

    def counted(*args: Any) -> Any:
        calls.append(args[2:])
        return real(*args)

    monkeypatch.setattr(source, "table_rows", counted)
    hub.repo("a/one").commit({"test.parquet": parquet(ROWS)})
    dataset = HubDataset("hf://a/one")
    assert [row for offset in range(0, 100, 10) for row in dataset.batch(offset, 10)] == ROWS
    assert calls == [(0, 95)]
    assert dataset.batch(20, 10) == ROWS[20:30]
    assert calls == [(0, 95), (20, 95)]


def test_filters_count_the_rows_behind_them(hub: LoopbackHub, repo: Repo) -> None:
    hub.repo("a/odd").commit({"test.jsonl": jsonl([{"i": i, "odd": bool(i % 2)} for i in range(50)])})
    dataset = HubDataset("hf://a/odd?filter_field=odd&filter_value=True")
    assert [row["i"] for row in dataset.batch(3, 4)] == [7, 9, 11, 13]
    assert dataset.init().rows == 25


@pytest.mark.parametrize(
    ("splits", "chosen", "rule"),
    [
        (["train", "eval", "validation", "test"], "test", "'test' comes first"),
        (["train", "dev", "eval"], "dev", "'dev' stands for validation"),
        (["train", "dev", "validation"], "validation", "'validation' comes first"),
        (["train", "eval"], "eval", "'eval' comes first"),
        (["extra", "train"], "train", "'train' comes first"),
        (["one", "two"], "one", "the first of one, two"),
        (["one"], "one", "the only split"),
    ],
)
def test_everyone_takes_the_split_that_is_meant_for_evaluation(
    hub: LoopbackHub, splits: list[str], chosen: str, rule: str
) -> None:
    listed = "".join(f"  - split: {name}\n    path: {name}.jsonl\n" for name in splits)
    files = {f"{name}.jsonl": jsonl([{"split": name}]) for name in splits}
    hub.repo("a/splits").commit(
        files | {"README.md": card(f"- config_name: default\n  data_files:\n{listed}")}
    )
    dataset = HubDataset("hf://a/splits")
    assert dataset.batch(0, 1) == [{"split": chosen}]
    assert rule in dataset.init().rule
    assert load_dataset("HF://a/splits") == [{"split": chosen}], "benchmarks and workflows follow one rule"


@given(st.integers(0, 400), st.none() | st.integers(-120, 120), st.none() | st.integers(-120, 120))
def test_slices_are_those_of_lists(rows: int, start: int | None, stop: int | None) -> None:
    text = f"s[{'' if start is None else start}:{'' if stop is None else stop}]"
    (term,) = parse_split("", text)
    low, high = term.bounds(rows)
    assert list(range(rows))[low:high] == list(range(rows))[start:stop]


def test_percentages_are_rounded_as_the_library_does() -> None:
    assert [Term("s", None, n, percent=True).bounds(7)[1] for n in (10, 33, 50, 100)] == [1, 2, 4, 7]
    (dropped,) = parse_split("", "s[:50%](pct1_dropremainder)")
    assert dropped.bounds(199) == (0, 50)
    thirds = [parse_split("", f"s[{a}%:{b}%]")[0].bounds(10) for a, b in ((0, 33), (33, 66), (66, 100))]
    assert thirds == [(0, 3), (3, 7), (7, 10)]
