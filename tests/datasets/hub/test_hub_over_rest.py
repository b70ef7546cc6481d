"""Hub datasets through the REST server and in workflows: what any client in any language reads."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hub_content import jsonl, numbered
from hub_server import LoopbackHub
from pydantic import BaseModel

from benchwright import WorkflowContext, dataset, workflow
from benchwright.server import ServerAddress, serving
from benchwright.store import Workspace

ROWS = [{**row, "maybe": None, "date": "2024-01-01", "code": "001"} for row in numbered(230)]


@pytest.fixture
def address(hub: LoopbackHub, tmp_path: Path) -> Iterator[ServerAddress]:
    hub.repo("a/qa").commit({"test.jsonl": jsonl(ROWS), "train.jsonl": jsonl(ROWS[:3])})
    with serving(Workspace(tmp_path / "workspace")) as (address, _):
        yield address


def post(address: ServerAddress, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=60)
    try:
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_a_dataset_is_resolved_and_read_by_number(address: ServerAddress) -> None:
    status, info = post(address, "/dataset/init", {"source": "huggingface://a/qa"})
    assert status == 200
    assert (info["total_rows"], info["selected_split"], info["config"]) == (230, "test", "default")
    assert set(info["available_splits"]) == {"train", "test"}
    batch = {"source": info["source"], "config": info["config"], "split": "test"}
    for path in ("/datasets/batch", "/dataset/batch"):
        status, told = post(address, path, {**batch, "offset": 100, "limit": 50})
        assert (status, told["rows"]) == (200, ROWS[100:150])
    assert post(address, "/datasets/batch", {**batch, "offset": 230, "limit": 10}) == (200, {"rows": []})
    assert post(address, "/datasets/batch", {**batch, "offset": 225, "limit": 100})[1]["rows"] == ROWS[225:]


def test_values_that_the_quick_library_cannot_write_are_told_as_they_are(
    address: ServerAddress, hub: LoopbackHub
) -> None:
    rows = [{"big": 10**30, "none": None}, {"big": 1, "unicode é": "é"}]
    hub.repo("a/odd").commit({"test.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    batch = {"source": "hf://a/odd", "offset": 0, "limit": 10}
    assert post(address, "/datasets/batch", batch) == (200, {"rows": rows})


def test_a_branch_that_moves_does_not_move_a_server_that_has_resolved_it(
    address: ServerAddress, hub: LoopbackHub
) -> None:
    ask = {"source": "hf://a/qa", "split": "test", "offset": 0, "limit": 2}
    assert post(address, "/datasets/batch", ask)[1]["rows"] == ROWS[:2]
    hub.repo("a/qa").commit({"test.jsonl": jsonl(ROWS[5:])})
    assert post(address, "/datasets/batch", {**ask, "offset": 10})[1]["rows"] == ROWS[10:12]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"source": "hf://a/nothing"}, 404, "dataset_not_found"),
        ({"source": "hf://a/qa", "split": "dev"}, 422, "dataset"),
        ({"source": "hf://a/qa?split=test", "split": "train"}, 422, "dataset"),
        ({"source": "hf://a/qa", "revision": "v9"}, 404, "dataset_not_found"),
    ],
)
def test_what_is_not_there_is_told_apart(
    address: ServerAddress, body: dict[str, Any], status: int, code: str
) -> None:
    answer = post(address, "/dataset/init", body)
    assert (answer[0], answer[1]["error"]["code"]) == (status, code)


def test_a_hub_that_is_down_is_a_bad_gateway(
    address: ServerAddress, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    answer = post(address, "/dataset/init", {"source": "hf://a/elsewhere"})
    assert answer[0] == 502
    assert answer[1]["error"]["retryable"] is True


def test_a_hub_that_is_down_is_a_bad_gateway_also_where_other_commits_are_cached(
    address: ServerAddress, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert post(address, "/dataset/init", {"source": "hf://a/qa"})[0] == 200
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    answer = post(address, "/dataset/init", {"source": "hf://a/qa", "revision": "v2"})
    assert (answer[0], answer[1]["error"]["code"]) == (502, "hub_unreachable")
    assert "The cache has these commits" in answer[1]["error"]["message"]


def test_two_hundred_clients_read_the_right_rows(address: ServerAddress) -> None:
    def read(number: int) -> bool:
        offset = (number * 7) % 220
        body = {"source": "hf://a/qa", "split": "test", "offset": offset, "limit": 9}
        return post(address, "/datasets/batch", body) == (200, {"rows": ROWS[offset : offset + 9]})

    with ThreadPoolExecutor(200) as clients:
        assert all(clients.map(read, range(200)))


class Row(BaseModel):
    id: int
    text: str
    maybe: str | None


def test_a_workflow_resumes_with_the_split_and_commit_it_inferred(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    repo = hub.repo("a/qa")
    repo.commit({"validation.jsonl": jsonl(ROWS)})
    stop = True

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, "huggingface://a/qa", Row, batch_size=25, max_rows=60)
        found = []
        async for row in rows.iter_rows():
            found.append([row.id, row.maybe])
            if stop and len(found) == 30:
                raise RuntimeError("stop")
        return {"rows": found, "split": rows.metadata["split"], "commit": rows.metadata["commit"]}

    with pytest.raises(RuntimeError, match="stop"):
        asyncio.run(workflow("w", handler).run())
    repo.commit({"validation.jsonl": jsonl(ROWS[50:])})  # moved meanwhile
    stop = False
    output = asyncio.run(workflow("w", handler).run(resume=1))
    assert output["rows"] == [[row["id"], None] for row in ROWS[:60]]
