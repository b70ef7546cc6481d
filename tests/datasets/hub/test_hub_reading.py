"""Rows of hub datasets: every form of URI, every file format, values as they were published."""

from __future__ import annotations

import gzip
import json
import math
from typing import Any
from urllib.parse import quote

import pytest
from hub_content import Repo, card, jsonl, numbered, parquet
from hub_server import LoopbackHub

from benchwright import load_dataset
from benchwright.core import DatasetError
from benchwright.datasets import open_dataset
from benchwright.datasets._hf.layout import Config, named_files, repo_configs

TRAIN, TEST = numbered(5, "train"), numbered(3, "test")


@pytest.fixture
def plain(hub: LoopbackHub) -> Repo:
    repo = hub.repo("a/plain")
    repo.commit({"train.jsonl": jsonl(TRAIN), "test.jsonl": jsonl(TEST), "README.md": "# plain\n"})
    return repo


@pytest.mark.parametrize(
    ("uri", "rows"),
    [
        ("hf://a/plain", TEST),
        ("huggingface://a/plain", TEST),
        ("HF://a/plain?split=test", TEST),
        ("hf://a/plain/default/test", TEST),
        ("hf://a/plain/default/train?split=test", TEST),
        ("hf://a/plain?config=default&split=test", TEST),
        ("hf://a/plain?revision=main&split=test", TEST),
        ("hf://a/plain?data_files=test.jsonl", TEST),
        ("hf://a/plain?data_files=*.jsonl&split=validation", TEST + TRAIN),
        ("hf://a/plain?split=train[1:3]", TRAIN[1:3]),
        ("hf://a/plain?split=train%5B1%3A3%5D", TRAIN[1:3]),
        ("hf://a/plain?split=train[-2:]", TRAIN[-2:]),
        ("hf://a/plain?split=train[:-4]", TRAIN[:1]),
        ("hf://a/plain?split=train[:40%]", TRAIN[:2]),
        ("hf://a/plain?split=train[40%:]", TRAIN[2:]),
        ("hf://a/plain?split=train[:100]", TRAIN),
        ("hf://a/plain?split=train[3:3]", []),
        ("hf://a/plain?split=train+test", TRAIN + TEST),
        ("hf://a/plain?split=test%2Btrain[:1]", TEST + TRAIN[:1]),
        ("hf://a/plain?split=test[2:]+train[4:]", TEST[2:] + TRAIN[4:]),
        ("hf://a/plain?split=all", TRAIN + TEST),
        ("hf://a/plain?filter_field=id&filter_value=2", TEST[2:3]),
        ("hf://a/plain?filter_field=id&filter_value=2&filter_field_1=text&filter_value_1=no", []),
        ("hf://a/plain?trust_remote_code=true&split=test", TEST),
        ("hf://a/plain?loader=files&split=test", TEST),
    ],
)
def test_every_form_of_uri(plain: Repo, uri: str, rows: list[Any]) -> None:
    assert load_dataset(uri) == rows
    assert load_dataset(uri) == rows, "and again from the cache"


def test_revisions_by_branch_tag_and_commit(hub: LoopbackHub) -> None:
    repo = hub.repo("a/versions")
    old = repo.commit({"data.jsonl": jsonl(TEST)}, tag="v1.0")
    repo.commit({"data.jsonl": jsonl(numbered(2, "dev"))}, branch="dev/next")
    repo.commit({"data.jsonl": jsonl(TRAIN)})
    for revision, rows in [("v1.0", TEST), (old, TEST), ("dev/next", numbered(2, "dev")), ("main", TRAIN)]:
        assert load_dataset(f"hf://a/versions?revision={quote(revision, safe='')}") == rows


@pytest.mark.parametrize(
    ("path", "content", "rows"),
    [
        ("d.json", json.dumps(TEST), TEST),
        ("d.json", json.dumps(TEST, indent=2), TEST),
        ("d.json", jsonl(TEST), TEST),
        ("d.ndjson", jsonl(TEST), TEST),
        ("d.csv", "id,answer\n001,NA\n1e5,None\n,\n", [
            {"id": "001", "answer": "NA"}, {"id": "1e5", "answer": "None"}, {"id": "", "answer": ""}]),
        ("d.tsv", "a\tb\n1\t2\n", [{"a": "1", "b": "2"}]),
        ("d.txt", "one\n\ntwo", [{"text": "one"}, {"text": ""}, {"text": "two"}]),
        ("d.jsonl.gz", gzip.compress(jsonl(TEST).encode()), TEST),
        ("d.jsonl", "\ufeff" + jsonl(TEST).replace("\n", "\r\n\r\n"), TEST),
        ("d.parquet", parquet(TEST), TEST),
    ],
    ids=["array", "indented", "lines", "ndjson", "csv", "tsv", "txt", "gzip", "marked", "parquet"],
)  # fmt: skip
def test_every_format(hub: LoopbackHub, path: str, content: str | bytes, rows: list[Any]) -> None:
    hub.repo("a/formats").commit({path: content, ".gitattributes": "x"}, large=[path])
    assert load_dataset("hf://a/formats") == rows
    assert load_dataset("hf://a/formats") == rows


def test_values_come_back_exactly_as_published(hub: LoopbackHub) -> None:
    """Dates stay texts, long integers keep their digits, absent is not null, and fields keep their order."""
    published = (
        '{"date": "2024-01-01", "id": "001", "big": 123456789012345678901234567890, "mixed": 1}\n'
        '{"mixed": "two", "date": "2024-01-01T00:00:00Z", "none": null, "f": 1.0, "i": 1}\n'
        '{"mixed": [1, {"a": null}], "nan": NaN, "inf": -Infinity, "dup": 1, "dup": 2, "ü😀": ""}\n'
        '{"f": 1e5, "tiny": 5e-324, "neg": -0.0, "max": 18446744073709551615, "t": true}\n'
    )
    hub.repo("a/values").commit({"d.jsonl": published})
    expected = [json.loads(line) for line in published.splitlines()]
    for rows in (load_dataset("hf://a/values"), load_dataset("hf://a/values")):
        assert rows[2].pop("nan") is None  # JSON has neither
        assert rows[2].pop("inf") is None
        for row in rows:
            twin = expected[rows.index(row)] if row in expected else None
            if twin is not None:
                assert list(row) == list(twin)
                assert [type(value) for value in row.values()] == [type(value) for value in twin.values()]
        assert rows[0] == expected[0]
        assert rows[1] == expected[1]
        assert rows[3] == expected[3]
        assert math.copysign(1, rows[3]["neg"]) == -1
        assert rows[2] == {name: value for name, value in expected[2].items() if name not in ("nan", "inf")}


def test_rows_under_a_key_of_a_json_file(hub: LoopbackHub) -> None:
    hub.repo("a/keyed").commit(
        {
            "d.json": json.dumps(
                {"version": 1, "data": TEST, "columns": {"x": [1, 2], "y": ["a", "b"]}}, indent=1
            )
        }
    )
    assert load_dataset("hf://a/keyed?field=data") == TEST
    assert load_dataset("hf://a/keyed?field=data&data_files=d.json&split=test") == TEST
    assert load_dataset("hf://a/keyed?field=columns") == [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]
    with pytest.raises(DatasetError, match=r"d\.json.*keeps its rows under a key: add &field=data"):
        load_dataset("hf://a/keyed")
    with pytest.raises(DatasetError, match=r"has no key 'dat'; it has: version, data.*Did you mean 'data'"):
        load_dataset("hf://a/keyed?field=dat")


def test_field_on_files_that_have_none_is_refused(hub: LoopbackHub) -> None:
    hub.repo("a/table").commit({"d.csv": "a\n1\n"})
    with pytest.raises(DatasetError, match=r"field=data is for JSON files"):
        load_dataset("hf://a/table?field=data")


def test_sharded_parquet_in_the_order_of_its_shards(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.datasets._hf import parts

    rows = numbered(30)
    files = {f"data/train-0000{i}-of-00003.parquet": parquet(rows[i * 10 : i * 10 + 10]) for i in range(3)}
    files["data/held_out-00000-of-00001.parquet"] = parquet(TEST)
    hub.repo("a/sharded").commit(files)
    assert load_dataset("hf://a/sharded") == rows
    assert load_dataset("hf://a/sharded?split=held_out") == TEST
    monkeypatch.setattr(parts, "PART_BYTES", 1)  # every shard a part of its own, kept as published
    assert load_dataset("hf://a/sharded?split=train[5:25]") == rows[5:25]
    assert load_dataset("hf://a/sharded") == rows


def test_a_limit_fetches_no_more_shards_than_it_needs(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.datasets._hf import parts

    monkeypatch.setattr(parts, "PART_BYTES", 1)
    rows = numbered(30)
    hub.repo("a/lazy").commit({f"train-{i}.parquet": parquet(rows[i * 10 : i * 10 + 10]) for i in range(3)})
    assert load_dataset("hf://a/lazy", limit=4) == rows[:4]
    assert len(hub.paths(r"/resolve/.*parquet")) == 1
    # The number of rows is read from the end of the files; only the last one is fetched.
    assert load_dataset("hf://a/lazy?split=train[-3:]") == rows[-3:]
    assert [seen.range is not None for seen in hub.seen if "/objects/" in seen.path] == [
        False,
        True,
        True,
        False,
    ]


CONFIGS = """\
- config_name: easy
  data_files:
  - split: train
    path: easy/train*.jsonl
  - split: test
    path: [easy/b.jsonl, easy/a.jsonl]
- config_name: hard
  default: true
  data_files: hard/*.csv
  sep: "|"
- config_name: no
  data_dir: more
"""


@pytest.fixture
def configs(hub: LoopbackHub) -> Repo:
    repo = hub.repo("a/configs")
    repo.commit(
        {
            "README.md": card(CONFIGS),
            "easy/train-1.jsonl": jsonl(TRAIN),
            "easy/a.jsonl": jsonl(numbered(1, "a")),
            "easy/b.jsonl": jsonl(numbered(1, "b")),
            "hard/x.csv": "a|b\n1|2,3\n",
            "more/dev.jsonl": jsonl(numbered(2, "dev")),
            "more/test.jsonl": jsonl(numbered(2, "more")),
        }
    )
    return repo


def test_configurations_of_the_card(configs: Repo) -> None:
    assert load_dataset("hf://a/configs") == [{"a": "1", "b": "2,3"}]
    assert load_dataset("hf://a/configs/easy/train") == TRAIN
    assert (
        load_dataset("hf://a/configs/easy")
        == load_dataset("hf://a/configs/easy/test")
        == [*numbered(1, "b"), *numbered(1, "a")]
    )
    assert load_dataset("hf://a/configs?config=no&split=validation") == numbered(2, "dev")
    assert load_dataset("hf://a/configs/no") == numbered(2, "more")


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("hf://a/configs/easi", "no configuration 'easi'; there are: easy, hard, no. Did you mean 'easy'"),
        ("hf://a/configs/easy/tset", "no split 'tset' of configuration 'easy'; there are: train, test. Did you mean 'test'"),
        ("hf://a/configs?data_files=easy/*.csv", r"no file matches data_files=easy/\*.csv.*The repository contains: easy/a"),
        ("hf://a/configs?data_files=easy", r"It is a folder: data_files=easy/\*"),
        ("hf://a/configs?data_files=README.md", "README.md has a format that benchwright does not read"),
        ("hf://a/configs?data_files=https://x/y.jsonl", "expected a path or pattern inside the repository"),
        ("hf://a/configs/easy?split=train[1:2", "cannot be read; expected a name, a slice"),
        ("hf://a/configs/easy?split=train[:101%]", "beyond 100 %"),
        ("hf://a/configs?revision=mian", "has no revision 'mian'. It has: main. Did you mean 'main'"),
        ("hf://a/configs?data_files=easy/a.jsonl&split=a%2Bb", "data_files names the files of one split"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told_with_the_choices(configs: Repo, uri: str, told: str) -> None:
    with pytest.raises(DatasetError, match=told):
        load_dataset(uri)


def test_no_configuration_is_just_the_first(hub: LoopbackHub) -> None:
    two = "- config_name: one\n  data_files: a.jsonl\n- config_name: two\n  data_files: a.jsonl\n"
    hub.repo("a/two").commit({"README.md": card(two), "a.jsonl": jsonl(TEST)})
    with pytest.raises(DatasetError, match=r"2 configurations and no default.*There are: one, two"):
        load_dataset("hf://a/two")
    both = two.replace("data_files", "default: true\n  data_files")
    hub.repo("a/both").commit({"README.md": card(both), "a.jsonl": jsonl(TEST)})
    with pytest.raises(DatasetError, match="more than one configuration as the default"):
        load_dataset("hf://a/both")


@pytest.mark.parametrize(
    ("paths", "splits"),
    [
        (["test/a.jsonl", "train/a.jsonl"], ["train", "test"]),
        (["data/my-dev-set.jsonl", "data/training.jsonl"], ["train", "validation"]),
        (["questions.jsonl", "more.jsonl"], ["train"]),
        (["eval.jsonl", "x_test_1.jsonl"], ["test"]),
        (["latest.jsonl", "contest.jsonl"], ["train"]),
        (["default/train/0000.parquet", "other/test/0000.parquet"], None),
    ],
)
def test_splits_are_told_by_paths(hub: LoopbackHub, paths: list[str], splits: list[str] | None) -> None:
    content = {path: parquet(TEST) if path.endswith("parquet") else jsonl(TEST) for path in paths}
    hub.repo("a/paths").commit(content | {"dataset_infos.json": "{}", ".hidden/train.jsonl": "x"})
    if splits is None:
        assert open_dataset("hf://a/paths/other").metadata["splits"] == ["test"]
    else:
        assert open_dataset("hf://a/paths").metadata["splits"] == splits


def test_the_same_rows_in_two_formats_are_read_once(hub: LoopbackHub) -> None:
    hub.repo("a/twice").commit({"test.jsonl": jsonl(TEST), "test.parquet": parquet(TEST)})
    reader = open_dataset("hf://a/twice")
    assert [row for batch in reader.batches() for row in batch.rows] == TEST
    assert "left out: test.jsonl" in reader.notes()[0]


@pytest.mark.parametrize(
    ("files", "splits"),
    [
        (["train.jsonl", "test.json"], {"train": ["train.jsonl"], "test": ["test.json"]}),
        (["train.parquet", "test.csv"], {"train": ["train.parquet"], "test": ["test.csv"]}),
        (["q.csv", "LICENSE.txt", "a.txt", "b.txt", "c.txt"], {"train": ["q.csv"]}),
        (["one.txt", "two.txt"], {"train": ["one.txt", "two.txt"]}),
        (["a.jsonl", "b.jsonl", "c.csv"], {"train": ["a.jsonl", "b.jsonl"]}),
    ],
)
def test_which_files_are_taken_for_data(files: list[str], splits: dict[str, list[str]]) -> None:
    (config,) = repo_configs([], files)
    assert {split: list(paths) for split, paths in config.splits.items()} == splits


def test_patterns_do_not_take_in_the_hubs_own_files() -> None:
    paths = ["README.md", "dataset_infos.json", "a.json", "x/b.json", ".cache/c.json"]
    everything = Config("default", {"train": ("**",)})
    assert repo_configs([everything], paths)[0].splits == {"train": ("a.json", "x/b.json")}
    named = Config("default", {"train": ("dataset_infos.json",)})
    assert repo_configs([named], paths)[0].splits == {"train": ("dataset_infos.json",)}
    assert named_files("", "**", paths) == ("a.json", "x/b.json")
    assert named_files("", "./dataset_infos.json", paths) == ("dataset_infos.json",)


def test_a_file_of_no_bytes_is_a_split_of_no_rows(hub: LoopbackHub) -> None:
    hub.repo("a/zero").commit({"train.jsonl": "", "test.jsonl": jsonl(TEST)})
    assert load_dataset("hf://a/zero?split=train") == []
    assert load_dataset("hf://a/zero?split=train+test") == TEST


def test_which_split_was_chosen_is_said_and_recorded(plain: Repo) -> None:
    reader = open_dataset("hf://a/plain")
    assert reader.provenance is not None
    assert reader.provenance["split"] == "test"
    assert reader.provenance["commit"] == plain.refs["main"]
    assert reader.provenance["split_chosen"] == "'test' comes first in test, validation, eval, train"
    assert reader.notes() == [
        "split 'test' was chosen: 'test' comes first in test, validation, eval, train. NeMo Evaluator, which takes the first "
        "split, takes 'train' instead. Choose one with ?split="
    ]
    assert open_dataset("hf://a/plain?split=test").notes() == []
    again = str(reader.provenance["uri"])
    assert load_dataset(again) == TEST
    assert open_dataset(again).fingerprint() == reader.fingerprint()


def test_fingerprints_follow_the_content_not_the_commit(hub: LoopbackHub) -> None:
    repo = hub.repo("a/prints")
    repo.commit({"a.jsonl": jsonl(TEST)})
    first = open_dataset("hf://a/prints").fingerprint()
    repo.commit({"a.jsonl": jsonl(TEST), "README.md": "# words\n"})
    assert open_dataset("hf://a/prints").fingerprint() == first
    assert open_dataset("hf://a/prints?split=train[:1]").fingerprint() != first
    repo.commit({"a.jsonl": jsonl(TRAIN)})
    assert open_dataset("hf://a/prints").fingerprint() != first


def test_bad_rows_are_told_with_file_and_line_each_time(hub: LoopbackHub) -> None:
    hub.repo("a/bad").commit({"a.jsonl": '{"a": 1}\n[1]\n', "b.jsonl": '{"a": 2}\n{"a": \n{"a": 3}\n'})
    for _ in range(2):
        with pytest.raises(DatasetError) as caught:
            load_dataset("hf://a/bad")
        assert "2 bad rows" in str(caught.value)
        assert "hf://a/bad:2: in a.jsonl: Line is not a JSON object: list" in str(caught.value)
        assert "hf://a/bad:2: in b.jsonl: not valid JSON" in str(caught.value)
        seen: list[Any] = []
        rows = [row for batch in open_dataset("hf://a/bad").batches(on_bad=seen.append) for row in batch.rows]
        assert rows == [{"a": 1}, {"a": 2}, {"a": 3}]
        assert len(seen) == 2
    assert load_dataset("hf://a/bad", limit=1) == [{"a": 1}], (
        "what lies behind the limit is nobody's business"
    )


def test_files_that_are_not_what_they_are_called(hub: LoopbackHub) -> None:
    hub.repo("a/false").commit({"a.parquet": b"not at all", "b.jsonl": "x\n" * 3000, "c.csv": 'a,b\n1,"2\n'})
    with pytest.raises(DatasetError, match=r"hf://a/false.*a\.parquet: is not a Parquet file"):
        load_dataset("hf://a/false?data_files=a.parquet")
    with pytest.raises(DatasetError, match=r"b\.jsonl: more than 1000 bad rows. The first, line 1"):
        load_dataset("hf://a/false?data_files=b.jsonl")
    with pytest.raises(DatasetError, match=r"c\.csv:2.*never closed"):
        load_dataset("hf://a/false?data_files=c.csv")


def test_a_name_of_one_part_and_a_renamed_dataset(hub: LoopbackHub) -> None:
    hub.repo("org/squad").commit({"train.jsonl": jsonl(TEST)})
    hub.renamed["squad"] = "org/squad"
    reader = open_dataset("hf://squad")
    assert [row for batch in reader.batches() for row in batch.rows] == TEST
    assert reader.notes() == ["squad is now called org/squad"]


def test_json_columns_of_parquet_files_are_values(hub: LoopbackHub) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    storage = pa.array(['{"a": [1, 2.5]}', '"two"', None, "123456789012345678901234567890"])
    out = pa.BufferOutputStream()
    pq.write_table(pa.table({"j": pa.ExtensionArray.from_storage(pa.json_(), storage)}), out)
    hub.repo("a/json").commit({"a.parquet": bytes(out.getvalue())})
    values = [row["j"] for row in load_dataset("hf://a/json")]
    assert values == [{"a": [1, 2.5]}, "two", None, 123456789012345678901234567890]


def test_a_repository_of_2500_files_is_listed_completely(hub: LoopbackHub) -> None:
    hub.repo("a/many").commit({f"data/part-{i:04}.jsonl": jsonl([{"i": i}]) for i in range(2500)})
    assert open_dataset("hf://a/many").metadata["file_count"] == 2500
    assert len(hub.paths("cursor=")) == 2
    uri = "hf://a/many?data_files=data/part-*[05]99.jsonl"
    assert [row["i"] for row in load_dataset(uri)] == [99, 599, 1099, 1599, 2099]
    pages = len(hub.paths("/tree/"))
    assert load_dataset("hf://a/many?split=train[300:302]") == [{"i": 300}, {"i": 301}]
    assert len(hub.paths("/tree/")) == pages, "a commit's files are listed once"
