"""What joins a load test with a server's log: the id of each reply, its `x-request-id`, and the wall clock."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.perf.loads import load, plan_of
from tests.perf.stub_server import serving

from benchwright.perf import LoadSettings, RequestRecord, Requests, summarise
from benchwright.perf._request_files import write_request_file


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("workers", [1, 2])
def test_every_request_can_be_found_in_the_servers_log(tmp_path: Path, workers: int, stream: bool) -> None:
    async def test() -> list[RequestRecord]:
        async with serving(fail_every=4) as stub:
            settings = LoadSettings(requests=12, stream=stream, workers=workers)
            records, _ = await load(stub.url, settings, plan_of(stream=stream))
            return records

    before = time.time()
    records = asyncio.run(test())
    after = time.time()
    seen = {record.request_id for record in records}
    assert seen == {f"req-{number}" for number in range(1, 13)}  # failed ones too
    for record in records:
        assert record.request_id is not None
        number = record.request_id.removeprefix("req-")
        assert record.reply_id == (f"reply-{number}" if record.ok else None)
        assert record.sent_at is not None
        assert before - 1 <= record.sent_at <= after + 1
    requests = Requests.of(records)
    found = summarise(requests, LoadSettings())
    assert found.started_at is not None
    assert found.started_at == found.to_json()["stages"][0]["started_at"]  # type: ignore[index, call-overload]
    started = datetime.fromisoformat(found.started_at)
    with (tmp_path / "requests.parquet").open("wb") as file:
        write_request_file(requests, file)
    rows = pq.read_table(tmp_path / "requests.parquet").to_pylist()
    assert min(row["sent_at"] for row in rows) - started < timedelta(milliseconds=1)
    assert all(row["sent_at"].tzinfo is not None for row in rows)
    assert [row["reply_id"] for row in rows] == [record.reply_id for record in records]
    spans = {
        round(row["sent_at"].astimezone(UTC).timestamp() - row["sent_s"], 4) for row in rows
    }  # one clock, two zeros
    assert max(spans) - min(spans) < 0.001
