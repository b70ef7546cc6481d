"""A load test of a real server: every request completes, and its figures agree with what the server counts itself."""

from __future__ import annotations

import json
from pathlib import Path

import llama_server
import pyarrow.parquet as pq
import pytest

import benchwright


@pytest.mark.parametrize("stream", [False, True])
def test_all_requests_complete_and_have_the_tokens_of_the_server(stream: bool, tmp_path: Path) -> None:
    questions = tmp_path / "sums.jsonl"
    rows = [{"question": f"What is {a}+{a + 1}?", "answer": str(2 * a + 1)} for a in range(4)]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with llama_server.serving() as url:
        result = benchwright.perf(
            questions, model_url=url, model_id="smollm2-135m", workspace=tmp_path, concurrency=[2], requests=8,
            max_tokens=8, stream=stream, request_timeout=3600,
        )  # fmt: skip
    (stage,) = result.summary.stages
    assert (stage.counts.sent, stage.counts.failed) == (8, 0)
    for request in pq.read_table(result.folder / "requests.parquet").to_pylist():
        assert request["outcome"] == "ok"
        assert request["token_source"] == "usage"
        assert 0 < request["output_tokens"] <= 8
        assert request["finish_reason"] == "stop" or request["output_tokens"] == 8
        # The server closes the connection of each stream: what it lost in doing so was sent again.
        assert request["attempts"] <= (2 if stream else 1)
        assert request["sent_s"] <= request["first_byte_s"] <= request["ended_s"]
        if stream:
            assert request["first_byte_s"] <= request["first_token_s"] <= request["last_content_s"]
