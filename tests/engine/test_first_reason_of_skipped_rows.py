"""Rows that could not be read are the first failure of a run that has no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import benchwright
from benchwright import RunResult, ScorerInput, ScriptedEndpoint, benchmark, scorer
from benchwright.core import RequestFailure


def score(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": True}


def ran(tmp_path: Path, name: str, reply: Any) -> RunResult:
    data = tmp_path / "rows.jsonl"
    good = '{"question": "q", "target": "a"}\n'
    data.write_text(good + '{"question": \n' + good * 3 + "not json\n", encoding="utf-8")
    bench = benchmark(name=name, dataset=str(data), prompt="{question}")(scorer(score))
    endpoint = ScriptedEndpoint(lambda request: reply)
    return benchwright.run(bench, endpoint=endpoint, workspace=tmp_path, skip_bad_rows=True)


def test_the_first_unreadable_row_is_the_first_failure(tmp_path: Path) -> None:
    result = ran(tmp_path, "unread one", "x")
    assert result.summary.outcomes["skipped"] == 2
    assert "rows.jsonl:2:" in result.first_failure


def test_what_the_server_said_goes_before_an_unreadable_row(tmp_path: Path) -> None:
    result = ran(tmp_path, "unread two", RequestFailure("server_error", "HTTP 500", 500))
    assert "HTTP 500" in result.first_failure
