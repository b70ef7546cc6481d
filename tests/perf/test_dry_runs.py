"""`perf --dry-run` shows what a load test would send, and sends and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from recording_server import RecordingServer, recording

PRICES = """
[[price]]
model = "m"
input = 1.0
output = 2.0
currency = "USD"
as_of = 2026-01-01
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingServer]:
    monkeypatch.chdir(tmp_path)
    Path("qa.csv").write_text("question,answer\n1+1=,2\n2+2=,4\n3+3=,6\n", encoding="utf-8")
    with recording(lambda body: "4") as running:
        yield running


def planned(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["perf", *words, "--dry-run", "--json"]) == 0
    checks: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["checks"]
    return checks


@pytest.mark.parametrize("how", [
    ("--concurrency=1,2", "--requests=4", "--warmup=2"),
    ("--rate=200", "--no-stream"),
    ("--api=tgi", "--requests=2"),
    ("--exact-output", "--max-tokens=5"),
])  # fmt: skip
def test_what_is_shown_is_what_arrives(
    server: RecordingServer, capsys: pytest.CaptureFixture[str], how: tuple[str, ...]
) -> None:
    words = ("qa.csv", "--model-url", server.url, "--model-id=m", "--no-server-metrics", *how)
    before = sorted(Path.cwd().iterdir())
    (check,) = planned(capsys, *words)
    assert not server.take()
    assert sorted(Path.cwd().iterdir()) == before
    main(["perf", *words, "-q"])
    arrived = [each.body for each in server.take()]
    assert len(arrived) == check["requests"]
    assert len(check["first"]) == 2
    assert all(request["body"] in arrived for request in check["first"])


def test_a_suite_is_planned_pair_by_pair(server: RecordingServer, capsys: pytest.CaptureFixture[str]) -> None:
    entry = f'base_url = "{server.url}"'
    models = f'{{ name = "a", model = "m-a", {entry} }}, {{ name = "b", model = "m-b", {entry} }}'
    Path("suite.toml").write_text(
        f'datasets = [{{ path = "qa.csv" }}]\nmodels = [{models}]\n', encoding="utf-8"
    )
    checks = planned(capsys, "suite.toml")
    assert [each["model"] for each in checks] == ["m-a", "m-b"]
    assert [each["first"][0]["body"]["model"] for each in checks] == ["m-a", "m-b"]
    assert not server.take()


def test_the_cost_is_that_of_all_planned_requests(
    server: RecordingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("prices.toml").write_text(PRICES, encoding="utf-8")
    where = ("qa.csv", "--model-url", server.url, "--model-id=m", "--max-tokens=100")
    few, many = (planned(capsys, *where, f"--requests={n}")[0]["cost"] for n in (3, 300))
    assert many["prompts"] == pytest.approx(100 * few["prompts"])
    assert many["at_most"] - many["prompts"] == pytest.approx(300 * 100 * 2.0 / 1e6)
    timed = planned(capsys, *where, "--seconds=9")[0]
    assert timed["requests"] is None
    assert timed["cost"]["prompts"] == pytest.approx(many["prompts"] / 0.3)
    paced = planned(capsys, *where, "--profile=constant", "--rate=20,40", "--seconds=5")[0]
    assert paced["requests"] == 300
    assert paced["cost"] == many
    assert main(["perf", *where, "--requests=300", "--slo=ttft=200ms", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "profile concurrent: 16 in flight, 300 requests" in said
    assert "300 requests: from " in said
    assert "limits  " in said
    assert "ttft ≤ 200 ms" in said
    assert not server.take()
