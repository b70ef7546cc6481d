"""The bodies that a check shows are those that arrive, in every wire format and for every model of a suite."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.endpoints.wire_table import WIRES

import benchwright
from benchwright.cli import main
from recording_server import RecordingServer, recording


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingServer]:
    monkeypatch.chdir(tmp_path)
    Path("qa.csv").write_text("question,answer\n1+1=,2\n2+2=,4\n", encoding="utf-8")
    with recording(lambda body: "4") as running:
        yield running


def bodies(requests: Any) -> list[str]:
    """Sorted texts; Triton's requests have a new id each."""
    return sorted(json.dumps({**body, "id": None}, sort_keys=True) for body in requests)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", sorted({wire.api for wire in WIRES}))
def test_a_check_shows_the_bodies_that_arrive(server: RecordingServer, api: str, stream: bool) -> None:
    how: Any = {"model_url": server.url, "model_id": "m", "api": api, "stream": stream, "temperature": 0.5}
    if api in ("tgi", "triton", "mindie"):
        how["model_type"] = "completions"
    (report,) = benchwright.check("qa.csv", **how)
    assert report.ok
    assert not server.take()
    benchwright.run("qa.csv", max_retries=0, cache=False, **how)
    shown = [request.body for sample in report.samples for request in sample.requests]
    assert bodies(shown) == bodies(each.body for each in server.take())


def test_a_check_says_that_a_wire_format_has_no_words_for_a_request(server: RecordingServer) -> None:
    how: Any = {"model_url": server.url, "model_id": "m", "api": "tgi", "model_type": "completions"}
    (report,) = benchwright.check("qa.csv", extra_body={"response_format": {"type": "json_object"}}, **how)
    assert not report.ok
    assert "wire format tgi: 'response_format' cannot be sent" in "\n".join(report.errors)


def test_every_model_of_a_suite_has_its_own_bodies(
    server: RecordingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = f'base_url = "{server.url}"'
    models = f'{{ name = "a", model = "m-a", {entry} }}, {{ name = "b", model = "m-b", stream = true, seed = 7, {entry} }}'
    Path("suite.toml").write_text(
        f'datasets = [{{ path = "qa.csv" }}]\nmodels = [{models}]\n', encoding="utf-8"
    )
    assert main(["check", "suite.toml", "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [each["suite_model"] for each in checks] == ["a", "b"]
    shown = [r["body"] for check in checks for sample in check["samples"] for r in sample["requests"]]
    assert not server.take()
    assert main(["run", "suite.toml", "--no-cache", "-q"]) == 0
    assert bodies(shown) == bodies(each.body for each in server.take())
