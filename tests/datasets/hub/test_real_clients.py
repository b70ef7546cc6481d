"""The real `huggingface_hub` and `datasets` read from the loopback hub, and agree with what is read here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hub_content import card, jsonl, numbered, parquet
from hub_server import LoopbackHub

from benchwright import load_dataset

TRAIN, TEST = numbered(10, "train"), numbered(3, "test")
QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_XET": "1",
}


@pytest.mark.slow
def test_the_real_clients_read_from_the_loopback_hub(hub: LoopbackHub) -> None:
    plain = hub.repo("a/plain")
    sha = plain.commit(
        {"train.jsonl": jsonl(TRAIN), "test.jsonl": jsonl(TEST), "README.md": "# x\n"}, large=["train.jsonl"]
    )
    hub.repo("a/many").commit({f"d/{i}.jsonl": "{}" for i in range(2500)})
    two = "- config_name: one\n  data_files: one.csv\n- config_name: two\n  data_files: two.csv\n"
    hub.repo("a/configs").commit({"README.md": card(two), "one.csv": "a\nx\n", "two.csv": "a\ny\n"})
    shards = hub.repo("a/shards")
    shards.commit({f"data/train-0000{i}-of-00002.parquet": parquet(TRAIN) for i in range(2)})
    shards.commit({"default/train/0000.parquet": parquet(TRAIN)}, branch="refs/convert/parquet")
    hub.repo("a/keyed").commit({"d.json": json.dumps({"data": TEST})})
    hub.repo("a/gated", gated="auto").commit({"a.jsonl": "{}"})
    script = Path(__file__).with_name("client_reads.py")
    done = subprocess.run(
        [sys.executable, str(script)], env=os.environ | QUIET, capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr[-3000:]  # how it ended is not asked: these libraries may abort at exit
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("errors") == {
        "missing": "DatasetNotFoundError",
        "gated": "GatedRepoError",
        "revision": "RevisionNotFoundError",
        "entry": "RemoteEntryNotFoundError",
    }
    assert found == {
        "sha": sha,
        "tree": ["README.md", "test.jsonl", "train.jsonl"],
        "many": 2501,
        "refs": ["main"],
        "download": jsonl(TEST),
        "magic": "PAR1",
        "rows": TEST,
        "slice": TRAIN[1:3] + TEST[:1],
        "percent": TRAIN[:3],
        "config": [{"a": "y"}],
        "parquet": 20,
        "field": TEST,
        "streamed": TEST,
    }
    for key, uri in {
        "rows": "hf://a/plain?split=test",
        "slice": "hf://a/plain?split=train[1:3]+test[:1]",
        "percent": "hf://a/plain?split=train[:33%]",
        "config": "hf://a/configs/two",
        "field": "hf://a/keyed?data_files=d.json&field=data&split=train",
    }.items():
        assert load_dataset(uri) == found[key]


EXIT = """
import sys
from benchwright import load_dataset
rows = load_dataset(sys.argv[1]) + load_dataset(sys.argv[2])
assert len(rows) == 23, len(rows)
"""


@pytest.mark.slow
def test_a_process_that_has_read_a_dataset_ends_well(hub: LoopbackHub) -> None:
    """Reading Parquet with threads was seen to abort the interpreter at exit, after the work was done."""
    pq = hub.repo("a/pq").commit({"train.parquet": parquet(numbered(20))})
    plain = hub.repo("a/plain").commit({"train.jsonl": jsonl(TRAIN), "test.jsonl": jsonl(TEST)})
    fetched = ["hf://a/pq?split=train", "hf://a/plain?split=test"]
    # A commit in the cache is read without the hub's client, whose import would cost more than all else.
    kept = [f"{fetched[0]}&revision={pq}", f"{fetched[1]}&revision={plain}"]
    for uris in (fetched, *[kept] * 14):
        done = subprocess.run(
            [sys.executable, "-c", EXIT, *uris], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
