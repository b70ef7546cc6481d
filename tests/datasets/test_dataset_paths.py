"""Where data is looked for, who fetches it, and what is said when it is not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchwright import load_dataset, register_fetcher
from benchwright.core import DATA_FORMATS, DataFormat, DatasetError, UsageError
from benchwright.datasets import FetchResult, _fetchers as fetchers, open_dataset


@pytest.fixture(autouse=True)
def restored_registry() -> Iterator[None]:
    before = list(fetchers._fetchers)
    yield
    fetchers._fetchers[:] = before


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "bench").mkdir()
    path = tmp_path / "bench" / "questions.jsonl"
    path.write_text('{"a": 1}\n')
    return path


def rows_of(ref: Any, base_dir: Path | None = None) -> list[dict[str, Any]]:
    return [row for batch in open_dataset(ref, base_dir=base_dir).batches() for row in batch.rows]


def test_relative_paths_start_at_the_benchmark_not_at_the_current_folder(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.jsonl").write_text('{"a": "wrong"}\n')
    reader = open_dataset("questions.jsonl", base_dir=data.parent)
    assert reader.path == data
    assert reader.name == "questions.jsonl"
    assert rows_of("questions.jsonl", data.parent) == [{"a": 1}]
    assert rows_of("../questions.jsonl", data.parent) == [{"a": "wrong"}]
    assert load_dataset("bench/questions.jsonl") == [{"a": 1}]


def test_absolute_home_and_file_uris(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert rows_of(data, Path("elsewhere")) == [{"a": 1}]
    assert rows_of("~/bench/questions.jsonl", Path("elsewhere")) == [{"a": 1}]
    assert rows_of(data.as_uri()) == [{"a": 1}]
    with pytest.raises(DatasetError, match="nobody-by-this-name"):
        open_dataset("~nobody-by-this-name/x.jsonl")


def test_a_missing_file_names_the_path_looked_at_and_near_names(data: Path) -> None:
    with pytest.raises(ValueError, match=r"Did you mean 'questions.jsonl'") as caught:
        open_dataset("question.jsonl", base_dir=data.parent)
    assert isinstance(caught.value, DatasetError)
    assert str(data.parent / "question.jsonl") in str(caught.value)
    with pytest.raises(DatasetError, match="there is no folder"):
        open_dataset("data/questions.jsonl", base_dir=data.parent)
    with pytest.raises(
        DatasetError, match=r"Dataset file not found: .*/zzz\. Data files in that folder: questions\.jsonl$"
    ):
        open_dataset("zzz", base_dir=data.parent)


def test_a_file_in_the_current_folder_is_pointed_out_but_not_taken(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "only_here.csv").write_text("a\n1\n")
    with pytest.raises(DatasetError, match=r"relative paths start at .*bench: give the absolute path"):
        open_dataset("only_here.csv", base_dir=data.parent)


def test_directories_and_pipes_are_not_files(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"Dataset path is not a file: .*It contains: questions\.jsonl"):
        open_dataset(data.parent)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DatasetError, match=r"Dataset path is not a file: .*save the data first"):
        open_dataset(tmp_path / "pipe")


@pytest.mark.parametrize("odd", ["", "x" * 5000, "a\0b"])
def test_texts_that_cannot_be_paths_raise_dataset_errors(odd: str) -> None:
    with pytest.raises(DatasetError):
        open_dataset(odd)


def test_a_file_that_vanishes_or_is_locked_says_so_when_read(data: Path) -> None:
    reader = open_dataset(data)
    data.unlink()
    with pytest.raises(DatasetError, match="cannot be read: No such file"):
        list(reader.batches())
    with pytest.raises(DatasetError, match="cannot be read: No such file"):
        reader.fingerprint()


def test_a_uri_nobody_supports_names_it_and_the_fetchers() -> None:
    with pytest.raises(ValueError, match=r"No fetcher supports 's3://bucket/x.jsonl'") as caught:
        load_dataset("s3://bucket/x.jsonl")
    assert "LocalFetcher, HfFetcher" in str(caught.value)


class Shelf:
    """A user's fetcher: any object with the two methods."""

    def __init__(self, result: Any, prefix: str = "shelf://") -> None:
        self.result = result
        self.prefix = prefix
        self.asked: list[str] = []

    def supports(self, uri: str) -> bool:
        return uri.startswith(self.prefix)

    def fetch(self, uri: str, cache_dir: Path | None = None) -> Any:
        self.asked.append(uri)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def test_a_registered_fetcher_comes_first(data: Path) -> None:
    register_fetcher(Shelf(FetchResult(data)))
    second = Shelf(FetchResult(data, metadata={"source": "shelf"}))
    register_fetcher(second)
    reader = open_dataset("shelf://x")
    assert (reader.name, reader.path, reader.metadata) == ("shelf://x", data, {"source": "shelf"})
    assert second.asked == ["shelf://x"]
    register_fetcher(Shelf(FetchResult(data), prefix="hf://"))
    assert load_dataset("hf://anything?at=all") == [{"a": 1}]


def test_a_registered_fetcher_sees_paths_resolved(data: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.xlsx"
    sheet.write_bytes(b"PK")
    shelf = Shelf(FetchResult(data), prefix=str(tmp_path))
    register_fetcher(shelf)
    assert rows_of("sheet.xlsx", tmp_path) == [{"a": 1}]
    assert shelf.asked == [str(sheet)]


def test_results_are_duck_typed_and_the_format_overrides_the_name(data: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.jsonl"
    table.write_text("a\n1\n")
    for result, rows in [
        (SimpleNamespace(path=str(table), format="csv"), [{"a": "1"}]),
        (SimpleNamespace(path=table, format="CSV", metadata=None), [{"a": "1"}]),
        (SimpleNamespace(path=data), [{"a": 1}]),
        (SimpleNamespace(local_path=str(data)), [{"a": 1}]),
        (SimpleNamespace(path=None, local_path=table, format="csv"), [{"a": "1"}]),
        (data, [{"a": 1}]),
        (str(data), [{"a": 1}]),
    ]:
        register_fetcher(Shelf(result))
        assert load_dataset("shelf://x") == rows


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (SimpleNamespace(path=None), "without a path"),
        (None, "without a path"),
        (SimpleNamespace(path="/no/such/folder/x"), "Shelf.fetch gave a path that cannot be read"),
        (SimpleNamespace(path=__file__, format="cvs"), "unknown format 'cvs'.*Did you mean 'csv'"),
        (SimpleNamespace(path=__file__, format=7), "gave the format 7"),
        (ImportError("no boto"), "Shelf failed: ImportError: no boto"),
    ],
)
def test_fetchers_that_fail_are_named(result: Any, told: str) -> None:
    register_fetcher(Shelf(result))
    with pytest.raises(DatasetError, match=told):
        open_dataset("shelf://x")


def test_what_is_no_fetcher_is_refused() -> None:
    with pytest.raises(UsageError, match="it lacks fetch"):
        register_fetcher(SimpleNamespace(supports=bool))
    with pytest.raises(UsageError, match=r"give an object: Shelf\(\)"):
        register_fetcher(Shelf)  # type: ignore[arg-type]


def test_a_hub_uri_is_checked_before_anybody_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path))
    for uri in ("hf://org/name?split=test", "huggingface://org/name"):
        with pytest.raises(
            DatasetError, match="HF_HUB_OFFLINE is set, and the commit of main is not in the cache"
        ):
            open_dataset(uri)
    with pytest.raises(DatasetError, match="unknown key 'splitt'"):
        open_dataset("hf://org/name?splitt=test")


OPTIONS = {"encoding": "cp1252", "sheet": "May", "header_row": "3"}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize(
    "declared", [each for each in DATA_FORMATS if each.certain], ids=lambda declared: declared.name
)
def test_an_option_that_has_no_effect_on_the_format_is_refused(
    tmp_path: Path, declared: DataFormat, option: str
) -> None:
    path = tmp_path / f"rows.{declared.endings[0]}"
    path.write_bytes(b"question,answer\n1,2\n")
    wrong = pytest.raises(
        DatasetError, match=f"{option} '?{OPTIONS[option]}'? has no effect on a file of the format"
    )
    with wrong if option not in declared.options else nullcontext():
        open_dataset(f"{path}?{option}={OPTIONS[option]}")
