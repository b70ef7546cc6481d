"""Rows that a run skips change no figure of the others, and every count of failures includes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import RunResult, ScriptedEndpoint
from benchwright.cli import main
from benchwright.core import RequestFailure

GOOD = "1+1=,1,2,3,B\n3+3=,6,7,,A\n"
BAD = {
    "no option": "2+2=,,,,A\n",
    "one option": "2+2=,4,,,A\n",
    "a gap": "2+2=,4,,5,A\n",
    "no such option": "2+2=,4,5,6,F\n",
    "no question": ",4,5,6,A\n",
    "too few cells": "2+2=,4,5\n",
}


def ran(tmp_path: Path, rows: str, reply: Any = "A", **settings: Any) -> RunResult:
    data = tmp_path / "quiz.csv"
    data.write_text("question,A,B,C,answer\n" + rows, encoding="utf-8")
    endpoint = ScriptedEndpoint(lambda request: reply)
    found = benchwright.run(data, endpoint=endpoint, workspace=tmp_path, skip_bad_rows=True, **settings)
    assert isinstance(found, RunResult)
    return found


@pytest.mark.parametrize("data_type", ["mcq", "mcq_multi"])
@pytest.mark.parametrize("bad", BAD)
def test_a_skipped_row_has_no_part_in_the_chance_level(tmp_path: Path, bad: str, data_type: str) -> None:
    alone = ran(tmp_path, GOOD, data_type=data_type)
    result = ran(tmp_path, GOOD + BAD[bad], data_type=data_type)
    assert result.summary.outcomes["skipped"] == 1
    assert result.metrics["chance"] == alone.metrics["chance"]


def test_the_chance_level_of_failed_requests_counts(tmp_path: Path) -> None:
    alone = ran(tmp_path, GOOD)
    replies = iter(["A", RequestFailure("server_error", "HTTP 500", 500)])
    data = tmp_path / "quiz.csv"
    endpoint = ScriptedEndpoint(lambda request: next(replies))
    result = benchwright.run(data, endpoint=endpoint, workspace=tmp_path, max_retries=0, parallelism=1)
    assert isinstance(result, RunResult)
    assert result.summary.outcomes["request_failed"] == 1
    assert result.metrics["chance"].value == alone.metrics["chance"].value


def test_every_skipped_row_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for repeats in (1, 2):
        result = ran(Path(), "\n" + GOOD + "".join(BAD.values()), repeats=repeats)
        assert result.summary.outcomes["skipped"] == len(BAD) * repeats
        assert main(["show", "last", "--failed", "--json"]) == 0
        samples = json.loads(capsys.readouterr().out)["samples"]
        places = sorted(sample["error"].split(": ")[0] for sample in samples)
        assert places == sorted([f"quiz.csv:{line}" for line in range(5, 5 + len(BAD))] * repeats)


def test_the_share_of_the_commonest_failure_is_one_of_all_failures(tmp_path: Path) -> None:
    failure = RequestFailure("server_error", "HTTP 500", 500)
    result = ran(tmp_path, GOOD + "".join(BAD.values()), failure, max_retries=0)
    assert result.summary.failed == 8
    assert result.first_failure.endswith("HTTP 500 (2 of 8 failures)")
