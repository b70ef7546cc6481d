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
from benchwright.core import DatasetError
from benchwright.server import ServerAddress, serving
from benchwright.store import Workspace, open_store
from waiting import PATIENCE_S

ROWS = [{**row, "maybe": None, "date": "2024-01-01", "code": "001"} for row in numbered(230)]


@pytest.fixture
def address(hub: LoopbackHub, tmp_path: Path) -> Iterator[ServerAddress]:
    hub.repo("a/qa").commit({"test.jsonl": jsonl(ROWS), "train.jsonl": jsonl(ROWS[:3])})
    with serving(Workspace(tmp_path / "workspace")) as (address, _):
        yield address


def post(address: ServerAddress, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(address.url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        connection.request("POST", path, json.dumps(body), {"Authorization": f"Bearer {address.token}"})
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


def test_a_scan_stays_on_its_commit_however_many_others_are_opened(
    address: ServerAddress, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.server._state.MOST_DATASETS", 2)
    batch = {"source": "HF://a/qa", "limit": 100}
    first = post(address, "/datasets/batch", {**batch, "offset": 0})[1]["rows"]
    hub.repos["a/qa"].commit({"test.jsonl": jsonl(numbered(230, "new"))})
    for number in range(4):
        hub.repo(f"b/{number}").commit({"test.jsonl": jsonl(ROWS[:1])})
        assert (
            post(address, "/datasets/batch", {"source": f"hf://b/{number}", "offset": 0, "limit": 1})[0]
            == 200
        )
    rest = post(address, "/datasets/batch", {**batch, "source": "hf://a/qa", "offset": 100})[1]["rows"]
    assert first + rest == ROWS[:200]


def test_what_the_hub_noted_reaches_the_client(
    address: ServerAddress, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = post(address, "/dataset/init", {"source": "hf://a/qa"})[1]
    assert any("split 'test' was chosen" in note for note in told["notes"])


def test_a_filter_on_a_column_that_is_not_there_is_refused(address: ServerAddress) -> None:
    status, told = post(address, "/dataset/init", {"source": "hf://a/qa?filter_field=txt&filter_value=x"})
    assert status >= 400
    assert "column 'txt', which no row has" in told["error"]["message"]
    assert "Did you mean 'text'" in told["error"]["message"]


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


@pytest.mark.parametrize("scheme", ["hf", "HF", "HuggingFace"])
def test_a_workflow_passes_the_hubs_notes_on_whatever_the_case_of_the_scheme(
    hub: LoopbackHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    scheme: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    repo = hub.repo("a/qa")
    commit = repo.commit({"train.jsonl": jsonl(ROWS[:3]), "test.jsonl": jsonl(ROWS[3:5])})

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, f"{scheme}://a/qa", Row)
        found = [row.id async for row in rows]
        return {"rows": found, "commit": rows.metadata["commit"], "notes": rows.notes}

    online = asyncio.run(workflow("w", handler).run())
    assert (online["rows"], online["commit"]) == ([3, 4], commit)
    (stored,) = (tmp_path / "cache").rglob("rows.parquet")
    stored.write_bytes(stored.read_bytes()[:-9])
    asyncio.run(workflow("w", handler).run())
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    offline = asyncio.run(workflow("w", handler).run())
    assert any(f"main is taken to be commit {commit}" in note for note in offline["notes"])
    store = open_store(Workspace(tmp_path))
    told = [
        [event.message for event in store.events(run) if event.kind == "dataset.note"] for run in (1, 2, 3)
    ]
    store.close()
    assert [len(messages) for messages in told] == [1, 2, 2]
    assert "split 'test' was chosen" in told[0][0]
    assert any("a cached copy was damaged" in message for message in told[1])
    assert "a cached copy was damaged" in caplog.text


def test_a_workflow_on_a_column_that_is_not_there_fails(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hub.repo("a/qa").commit({"test.jsonl": jsonl(ROWS[:5])})

    async def handler(ctx: WorkflowContext) -> Any:
        rows = await dataset(ctx, "hf://a/qa?filter_field=idd&filter_value=1", Row)
        return [row.id async for row in rows]

    with pytest.raises(DatasetError, match="Did you mean 'id'"):
        asyncio.run(workflow("w", handler).run())
