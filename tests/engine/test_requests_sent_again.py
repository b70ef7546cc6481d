"""Requests that a closing connection lost are sent again, and are not called retries."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from rich.console import Console
from tests.endpoints.loopback_server import Call, in_loop, serving

from benchwright import run
from benchwright.core import ModelReply
from benchwright.reports import drawn


@in_loop
async def test_requests_of_lost_connections_are_no_retries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{number}+1=,{number + 1}\n" for number in range(6))
    (tmp_path / "qa.csv").write_text("question,answer\n" + rows, encoding="utf-8")
    served: set[int] = set()

    async def closes_after_a_reply(call: Call) -> None:
        if call.connection in served:
            call.close()  # it was closing when this request arrived
        else:
            served.add(call.connection)
            await call.says("2")

    async with serving(closes_after_a_reply) as server:
        result = await asyncio.to_thread(
            run, "qa.csv", model_url=server.url, model_id="m", max_retries=0, parallelism=1
        )
        sent = len(server.calls)
    assert result.requests_sent == sent
    assert (result.retries, result.sent_again) == (0, sent - 6)
    assert result.sent_again > 0
    printed = result.to_json()
    assert (printed["retries"], printed["sent_again"]) == (0, result.sent_again)
    out = io.StringIO()
    Console(file=out, width=300).print(drawn(result))
    assert f"({result.sent_again} sent again after a lost connection)" in out.getvalue()
    assert "retr" not in out.getvalue()


def test_a_recorded_reply_keeps_how_many_attempts_were_lost() -> None:
    record = ModelReply("answered", "2", attempts=3, lost=2).to_json()
    assert (record["n"], record["o"]) == (3, 2)
    assert ModelReply.from_json(record).lost == 2
    assert "o" not in ModelReply("answered", "2").to_json()
