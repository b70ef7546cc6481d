"""A streamed run records its times to the first token, so that nothing reads its samples again for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright.cli import main
from benchwright.core import RunFile, open_artifacts


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["show", "1", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("stream", [True, False])
def test_the_summary_has_the_times_of_streamed_replies_and_of_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stream: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("question,answer\n1+1=,2\n2+2=,4\n3+3=,6\n", encoding="utf-8")
    result = benchwright.run("rows.csv", model="demo", stream=stream)
    first = result.summary.ttft_s
    assert (first is not None) == stream
    if first is not None:
        times = [row["ttft_s"] for row in result.samples()]
        assert first["count"] == len(times) == 3
        assert first["mean"] == pytest.approx(sum(times) / 3)
    open_artifacts(result.folder).remove(RunFile.SAMPLES)
    found = shown(capsys)
    assert found["ttft_s"] == found["summary"]["ttft_s"] == result.to_json()["ttft_s"] == first
