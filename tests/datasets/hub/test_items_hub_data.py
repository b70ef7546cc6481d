"""What went wrong with data of the hub in bring-your-own-benchmark runs elsewhere, item by item."""

from __future__ import annotations

from datetime import date
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_content import jsonl
from hub_server import LoopbackHub

from benchwright import DatasetError, ScriptedEndpoint, load_dataset, run

BENCH = """
from benchwright import benchmark, scorer, ScorerInput

@benchmark(
    name="sums", dataset="hf://a/sums?split=test&filter_field=lang&filter_value=hi", prompt="{q}", target_field="a",
    num_fewshot=3, fewshot_split="train", fewshot_template="{q} {a}",
)
@scorer
def score(sample: ScorerInput) -> dict:
    return {"correct": sample.response == sample.target}
"""


def rows_of(kind: str) -> str:
    return jsonl(
        [{"q": f"{kind} {n} {lang}", "a": str(n), "lang": lang} for n in range(4) for lang in ("hi", "en")]
    )


def test_item_05_examples_of_another_split_pass_the_same_filters(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repo("a/sums").commit({"test.jsonl": rows_of("test"), "train.jsonl": rows_of("train")})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench.py").write_text(BENCH)
    endpoint = ScriptedEndpoint("x")
    run("bench.py", endpoint=endpoint)
    prompts = [str(request.body["messages"]) for request in endpoint.requests]
    assert len(prompts) == 4
    assert all(" hi" in prompt and "train" in prompt and " en" not in prompt for prompt in prompts)


def test_item_09_rows_with_dates_are_kept_whole(hub: LoopbackHub) -> None:
    table = BytesIO()
    pq.write_table(pa.Table.from_pylist([{"n": n, "day": date(2024, 1, n + 1)} for n in range(6)]), table)
    hub.repo("a/days").commit({"test.parquet": table.getvalue()})
    for _ in range(2):  # fetched, then from the cache
        rows = list(load_dataset("hf://a/days?split=test"))
        assert [row["n"] for row in rows] == list(range(6))
        assert "2024-01-06" in str(rows[5]["day"])


def test_item_10_each_uri_has_a_place_and_a_revision_of_its_own(hub: LoopbackHub) -> None:
    repo = hub.repo("a/sums")
    first = repo.commit({"test.jsonl": jsonl([{"q": 1, "k": "a/b"}, {"q": 2, "k": "a_b"}])})
    uri = "hf://a/sums?split=test"
    assert [row["q"] for row in load_dataset(f"{uri}&filter_field=k&filter_value=a/b")] == [1]
    assert [row["q"] for row in load_dataset(f"{uri}&filter_field=k&filter_value=a_b")] == [2]
    repo.commit({"test.jsonl": jsonl([{"q": 3, "k": "new"}])})
    assert [row["q"] for row in load_dataset(uri)] == [3]
    assert [row["q"] for row in load_dataset(f"{uri}&revision={first}")] == [1, 2]
    with pytest.raises(DatasetError, match="revison"):
        list(load_dataset(f"{uri}&revison=main"))
