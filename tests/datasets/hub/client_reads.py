"""Reads a loopback hub with the libraries people use, and prints what they found. Run in a process of its own."""

from __future__ import annotations

import json
from typing import Any

from huggingface_hub import HfApi, HfFileSystem, hf_hub_download

import datasets

found: dict[str, Any] = {}
api = HfApi()
info = api.dataset_info("a/plain", revision="main")
found["sha"] = info.sha
found["tree"] = sorted(
    entry.path
    for entry in api.list_repo_tree("a/plain", repo_type="dataset", revision=info.sha, recursive=True)
)
found["many"] = sum(1 for _ in api.list_repo_tree("a/many", repo_type="dataset", recursive=True))
found["refs"] = [ref.name for ref in api.list_repo_refs("a/plain", repo_type="dataset").branches]
with open(hf_hub_download("a/plain", "test.jsonl", repo_type="dataset"), encoding="utf-8") as file:
    found["download"] = file.read()
with HfFileSystem().open("datasets/a/shards@refs/convert/parquet/default/train/0000.parquet") as raw:
    found["magic"] = raw.read(4).decode()
plain = datasets.load_dataset("a/plain", split="test")
found["rows"] = plain.to_list()
found["slice"] = datasets.load_dataset("a/plain", split="train[1:3]+test[:1]").to_list()
found["percent"] = datasets.load_dataset("a/plain", split="train[:33%]").to_list()
found["config"] = datasets.load_dataset("a/configs", "two", split="train").to_list()
found["parquet"] = len(datasets.load_dataset("a/shards", split="train"))
found["field"] = datasets.load_dataset("a/keyed", data_files="d.json", field="data", split="train").to_list()
found["streamed"] = list(datasets.load_dataset("a/plain", split="test", streaming=True))
found["errors"] = {}
for name, call in {
    "missing": lambda: datasets.load_dataset("a/nothing"),
    "gated": lambda: hf_hub_download("a/gated", "a.jsonl", repo_type="dataset"),
    "revision": lambda: api.dataset_info("a/plain", revision="nope"),
    "entry": lambda: hf_hub_download("a/plain", "nope.jsonl", repo_type="dataset"),
}.items():
    try:
        call()
    except Exception as exc:
        found["errors"][name] = type(exc).__name__
print(json.dumps(found))
