"""Without network: exactly the commit that was asked for, or an error that names what is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hub_content import Repo, jsonl, numbered
from hub_server import LoopbackHub, running_hub

from benchwright import load_dataset
from benchwright.core import DatasetError
from benchwright.datasets import open_dataset

OLD, NEW = numbered(3, "old"), numbered(250, "new")


@pytest.fixture
def repo(hub: LoopbackHub) -> Repo:
    """`v1.0` is in the cache, `main` is not."""
    repo = hub.repo("a/data")
    repo.commit({"train.jsonl": jsonl(OLD)}, tag="v1.0")
    repo.commit({"train.jsonl": jsonl(NEW)})
    assert load_dataset("hf://a/data?revision=v1.0") == OLD
    return repo


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"])
def test_another_revision_is_not_taken_instead(
    hub: LoopbackHub, repo: Repo, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    requests = len(hub.seen)
    with pytest.raises(
        DatasetError, match=f"{variable} is set.*the commit of main is not in the cache"
    ) as caught:
        load_dataset("hf://a/data")
    assert repo.refs["v1.0"] in str(caught.value), "the commits that are there are named"
    with pytest.raises(DatasetError, match=f"commit {repo.refs['main']} is not in the cache"):
        load_dataset(f"hf://a/data?revision={repo.refs['main']}")
    assert len(hub.seen) == requests


def test_a_hub_that_only_fails_is_no_reason_to_take_another(hub: LoopbackHub, repo: Repo) -> None:
    hub.fault("", times=99, status=500)
    with pytest.raises(DatasetError, match="answered 500"):
        load_dataset("hf://a/data")


def test_a_repository_made_private_is_refused(hub: LoopbackHub, repo: Repo) -> None:
    assert load_dataset("hf://a/data") == NEW
    repo.private = True
    with pytest.raises(DatasetError, match="no public dataset"):
        load_dataset("hf://a/data")


def test_an_unknown_revision_is_refused(hub: LoopbackHub, repo: Repo) -> None:
    with pytest.raises(DatasetError, match=r"no revision 'v2'. It has: main, v1.0"):
        load_dataset("hf://a/data?revision=v2")
    missing = "0123456789" * 4
    with pytest.raises(DatasetError, match=f"no revision '{missing}'"):
        load_dataset(f"hf://a/data?revision={missing}")


def test_a_pinned_dataset_needs_no_network(
    hub: LoopbackHub, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    commit = repo.refs["v1.0"]
    reader = open_dataset(f"hf://a/data?revision={commit}")
    assert [row for batch in reader.batches() for row in batch.rows] == OLD
    assert reader.notes() == []


def test_what_a_branch_stood_for_is_used_and_said(
    hub: LoopbackHub, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value, told in [
        ("HF_HUB_OFFLINE", "1", r"offline \(HF_HUB_OFFLINE\): v1.0 is taken to be commit "),
        (
            "HF_ENDPOINT",
            "http://127.0.0.1:9",
            r"the hub could not be reached .*: v1.0 is taken to be commit ",
        ),
    ]:
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            reader = open_dataset("hf://a/data?revision=v1.0")
            assert [row for batch in reader.batches() for row in batch.rows] == OLD
            (note,) = reader.notes()
            assert re.search(told + repo.refs["v1.0"] + ", as looked up on 20", note)


def test_without_network_and_never_seen_says_both(
    hub: LoopbackHub, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        DatasetError,
        match="cannot be reached.*The cache has these commits of the dataset: " + repo.refs["v1.0"],
    ):
        load_dataset("hf://a/data")


def test_the_branch_moves_and_the_next_load_follows(hub: LoopbackHub, repo: Repo) -> None:
    assert load_dataset("hf://a/data") == NEW
    repo.commit({"train.jsonl": jsonl(numbered(1, "newest"))})
    assert load_dataset("hf://a/data") == numbered(1, "newest")


def test_a_branch_that_moves_while_it_is_read_does_not_mix(hub: LoopbackHub, repo: Repo) -> None:
    hub.fault("/tree/", act=lambda: repo.commit({"train.jsonl": jsonl(OLD), "other.jsonl": "x"}))
    assert load_dataset("hf://a/data") == NEW


def test_hubs_with_the_same_names_are_told_apart(
    hub: LoopbackHub, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_dataset("hf://a/data")
    with running_hub() as other:
        other.repo("a/data").commit({"train.jsonl": jsonl(numbered(2, "elsewhere"))})
        monkeypatch.setenv("HF_ENDPOINT", other.url)
        assert load_dataset("hf://a/data") == numbered(2, "elsewhere")


DOWNLOAD = """
import sys
from huggingface_hub import snapshot_download
print(snapshot_download("a/data", repo_type="dataset", revision=sys.argv[1]))
"""


def test_the_hub_librarys_own_cache_serves_exactly_its_commit(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The real `huggingface_hub` downloads from the loopback hub; what it kept is found, and no other commit."""
    repo = hub.repo("a/data")
    repo.commit(
        {"train.jsonl": jsonl(OLD), "test.jsonl": jsonl(NEW), "README.md": "# x\n"}, large=["test.jsonl"]
    )
    subprocess.run([sys.executable, "-c", DOWNLOAD, "main"], check=True, capture_output=True)
    first = repo.refs["main"]
    repo.commit({"train.jsonl": jsonl(numbered(1, "newer"))}, branch="next")
    requests = len(hub.seen)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    reader = open_dataset("hf://a/data?split=test")
    assert [row for batch in reader.batches() for row in batch.rows] == NEW
    assert any("main is taken to be commit" in note for note in reader.notes())
    assert any("only the 3 files in" in note for note in reader.notes())
    with pytest.raises(DatasetError, match=f"the commit of next is not in the cache.*{first}"):
        load_dataset("hf://a/data?revision=next")
    assert len(hub.seen) == requests
    # Online, what is there already is not fetched again; what was damaged there is.
    monkeypatch.delenv("HF_HUB_OFFLINE")
    (blob,) = (path for path in (tmp_path / "hf-home" / "hub").rglob("blobs/*") if len(path.name) == 64)
    assert load_dataset("hf://a/data?split=test") == NEW
    assert len(hub.paths("/objects/")) == 1
    blob.write_bytes(blob.read_bytes().replace(b"new 7", b"odd 7"))
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "another"))
    assert load_dataset("hf://a/data?split=test") == NEW
    assert len(hub.paths("/objects/")) == 2
