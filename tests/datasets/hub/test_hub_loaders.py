"""Rows that are not in the repository's files: the Parquet export, the viewer, the `datasets` library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hub_content import Repo, jsonl, numbered, parquet
from hub_server import LoopbackHub

from benchwright import load_dataset
from benchwright.core import DatasetError
from benchwright.datasets import HubDataset, open_dataset
from benchwright.datasets._hf import library

TRAIN, TEST = numbered(250, "train"), numbered(3, "test")
EXPORT = "refs/convert/parquet"


@pytest.fixture
def scripted(hub: LoopbackHub) -> Repo:
    """Made by a script; the hub has exported it and shows it."""
    repo = hub.repo("a/quiz")
    repo.commit({"quiz.py": "import datasets\n", "README.md": "# quiz\n"})
    repo.commit(
        {
            "one/train/0000.parquet": parquet(TRAIN[:200]),
            "one/train/0001.parquet": parquet(TRAIN[200:]),
            "one/test/0000.parquet": parquet(TEST),
            "two/partial-train/0000.parquet": parquet(TEST),
        },
        branch=EXPORT,
    )
    repo.shown = {"one": {"train": TRAIN, "test": TEST}, "two": {"train": TRAIN}}
    return repo


def test_the_export_of_the_same_commit_serves_scripts(hub: LoopbackHub, scripted: Repo) -> None:
    reader = open_dataset("hf://a/quiz/one/train")
    assert [row for batch in reader.batches() for row in batch.rows] == TRAIN
    assert reader.provenance is not None
    assert reader.provenance["loader"] == "export"
    assert reader.provenance["commit"] == scripted.refs["main"]
    assert reader.provenance["export_commit"] == scripted.refs[EXPORT]
    assert any("come from the hub's Parquet export" in note for note in reader.notes())
    assert load_dataset("hf://a/quiz/one/test") == TEST
    with pytest.raises(DatasetError, match=r"no configuration 'ono'; there are: one, two"):
        load_dataset("hf://a/quiz/ono")
    with pytest.raises(DatasetError, match="2 configurations and no default"):
        load_dataset("hf://a/quiz")


def test_the_export_can_be_asked_for(hub: LoopbackHub, scripted: Repo) -> None:
    assert load_dataset("hf://a/quiz/one/test?loader=export") == TEST
    assert load_dataset("hf://a/quiz/one/test?revision=refs%2Fconvert%2Fparquet") == TEST
    with pytest.raises(DatasetError, match="loader=export takes neither data_files"):
        load_dataset("hf://a/quiz?loader=export&data_files=x.jsonl")


def test_an_export_of_another_commit_is_refused(hub: LoopbackHub, scripted: Repo) -> None:
    old = scripted.refs["main"]
    scripted.shown_revision = old
    pinned = scripted.commit({"quiz.py": "import datasets  # changed\n"})
    with pytest.raises(DatasetError) as caught:
        load_dataset("hf://a/quiz/one")
    assert f"shows commit {old}, not the pinned {pinned}" in str(caught.value)
    assert load_dataset(f"hf://a/quiz/one/test?revision={old}") == TEST


def test_an_export_that_moves_meanwhile_is_refused(hub: LoopbackHub, scripted: Repo) -> None:
    hub.fault("refs%2Fconvert", act=lambda: setattr(scripted, "shown_revision", "f" * 40))
    with pytest.raises(DatasetError, match="not the pinned"):
        load_dataset("hf://a/quiz/one?loader=export")


def test_the_viewer_is_the_last_resort(
    hub: LoopbackHub, scripted: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    del scripted.refs[EXPORT]
    reader = open_dataset("hf://a/quiz/one/train")
    assert [row for batch in reader.batches() for row in batch.rows] == TRAIN
    assert reader.provenance is not None
    assert reader.provenance["loader"] == "viewer"
    assert len(hub.paths("^/rows.*length=100")) == 2
    assert len(hub.paths("^/rows.*length=50")) == 1
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert load_dataset("hf://a/quiz/one/train[248:]?loader=viewer") == TRAIN[248:]


def test_the_viewer_has_its_own_address(
    hub: LoopbackHub, scripted: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.datasets._hf.settings import PUBLIC_VIEWER, hub_settings

    assert hub_settings({}).viewer == PUBLIC_VIEWER
    assert hub_settings({"HF_ENDPOINT": "http://h"}).viewer == "http://h"
    assert hub_settings({"HF_DATASETS_SERVER": "http://v/"}).viewer == "http://v"
    both = {"HF_DATASETS_SERVER": "http://v", "BENCHWRIGHT_VIEWER_URL": "http://b"}
    assert hub_settings(both).viewer == "http://b"
    monkeypatch.setenv("BENCHWRIGHT_VIEWER_URL", "http://127.0.0.1:9")
    with pytest.raises(DatasetError, match=r"viewer \(http://127.0.0.1:9\) cannot be reached"):
        load_dataset("hf://a/quiz/one?loader=viewer")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"truncated": ("text",)}, "cuts off cells of row 0: text"),
        ({"partial": True}, "contains only the first part of split 'test'"),
        ({"feature_types": {"text": {"_type": "Image"}}}, r"column 'text' \(Image\) as short-lived links"),
        ({"feature_types": {"text": [{"_type": "Audio"}]}}, r"column 'text' \(Audio\)"),
        ({"shown_revision": "e" * 40}, f"shows commit {'e' * 40}"),
        ({"shown": {}}, "has not processed the dataset yet"),
    ],
)
def test_what_the_viewer_cannot_give_whole_is_refused(
    hub: LoopbackHub, scripted: Repo, change: dict[str, Any], told: str
) -> None:
    for name, value in change.items():
        setattr(scripted, name, value)
    with pytest.raises(DatasetError, match=told):
        load_dataset("hf://a/quiz/one/test?loader=viewer")


def test_a_viewer_that_loses_rows_is_noticed(hub: LoopbackHub, scripted: Repo) -> None:
    hub.fault("^/rows.*offset=100", act=lambda: scripted.shown["one"]["train"].__delitem__(slice(150, None)))
    with pytest.raises(DatasetError, match="gave 50 rows at 100 where 100 were requested"):
        load_dataset("hf://a/quiz/one/train?loader=viewer")


def test_unknown_formats_fall_back_too(hub: LoopbackHub) -> None:
    repo = hub.repo("a/xml")
    repo.commit({"data.xml": "<x/>"})
    repo.shown = {"default": {"train": TEST}}
    assert load_dataset("hf://a/xml") == TEST
    with pytest.raises(DatasetError, match="no data files in a format that benchwright reads"):
        load_dataset("hf://a/xml?loader=files")


def test_a_loader_that_is_not_installed_names_its_extra(
    hub: LoopbackHub, scripted: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "library_version", lambda: None)
    with pytest.raises(
        DatasetError, match=r"needs the `datasets` library. Install it: pip install 'benchwright\[hf\]'"
    ):
        load_dataset("hf://a/quiz?loader=datasets")
    assert "not installed" in library.what_library_does()
    monkeypatch.setattr(library, "library_version", lambda: "3.6.0")
    assert "would run the script" in library.what_library_does()
    with pytest.raises(
        DatasetError, match=r"unknown loader 'dataset'; known: files, export, viewer, datasets"
    ):
        load_dataset("hf://a/quiz?loader=dataset")


@pytest.mark.slow
def test_the_library_as_a_loader(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The real library, in a process of its own, at the pinned commit; the dates it makes of texts included."""
    repo = hub.repo("a/lib")
    repo.commit(
        {
            "train.jsonl": jsonl([{"d": "2024-01-01", "n": 1}, {"d": "2024-01-02", "n": 2}]),
            "test.jsonl": jsonl([{"d": "2024-02-01", "n": 3}]),
        }
    )
    reader = open_dataset("hf://a/lib?loader=datasets&split=train")
    assert reader.provenance is not None
    assert reader.provenance["splits"] == ["train", "test"]
    assert reader.provenance["datasets_version"] == library.library_version()
    rows = [row for batch in reader.batches() for row in batch.rows]
    assert rows == [{"d": "2024-01-01T00:00:00", "n": 1}, {"d": "2024-01-02T00:00:00", "n": 2}]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert HubDataset("hf://a/lib?loader=datasets&split=train[1:]").batch(0, 5) == rows[1:]
    monkeypatch.delenv("HF_HUB_OFFLINE")
    hub.repo("a/quiz").commit({"quiz.py": "import datasets\n"})
    with pytest.raises(
        DatasetError, match=r"the `datasets` library .* cannot load it: .*scripts are no longer supported"
    ):
        load_dataset("hf://a/quiz?loader=datasets&trust_remote_code=true")
