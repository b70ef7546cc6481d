"""Several servers of one model: requests go to all in turn, and each has figures of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.perf.stub_server import Stub, serving

import benchwright
from benchwright.core import UsageError
from benchwright.perf import LoadSummary


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "qa.csv"
    path.write_text("question\na\nb\nc\n", encoding="utf-8")
    return path


def load_two(file: Path, **how: Any) -> tuple[Any, Stub, Stub]:
    async def work() -> tuple[Any, Stub, Stub]:
        async with serving(events=1) as one, serving(events=1, fail_every=2) as other:
            urls = {"model_url": [one.url, other.url]} if "model" not in how else {"more_urls": [other.url]}
            if "model" in how:
                (file.parent / "benchwright.toml").write_text(
                    f'[models.mine]\nbase_url = "{one.url}"\nmodel = "stub"\n', encoding="utf-8"
                )
            else:
                urls["model_id"] = "stub"
            result = await asyncio.to_thread(
                benchwright.perf, str(file), workspace=str(file.parent), max_error_share=1.0, **urls, **how
            )
            return result, one, other

    return asyncio.run(work())


@pytest.mark.parametrize("workers", [1, 2])
def test_requests_go_round_and_each_server_has_its_figures(file: Path, workers: int) -> None:
    result, one, other = load_two(file, requests=12, concurrency=4, workers=workers)
    assert (len(one.log), len(other.log)) == (6, 6)
    (stage,) = result.summary.stages
    assert [(each.label, each.sent, each.failed) for each in stage.urls] == [
        (one.url, 6, 0),
        (other.url, 6, 3),
    ]
    assert stage.urls[1].outcomes == {"http_5xx": 3, "ok": 3}
    assert stage.urls[0].metrics["ttft_ms"].n == 6
    assert LoadSummary.from_json(result.summary.to_json()) == result.summary
    assert other.url in (result.folder / "report.html").read_text(encoding="utf-8")


def test_a_configured_model_has_further_servers(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    _, one, other = load_two(file, requests=5, model="mine")
    assert (len(one.log), len(other.log)) == (3, 2)


def test_the_command_takes_the_flag_several_times(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from benchwright.cli import main

    async def work() -> tuple[int, Stub, Stub]:
        async with serving(events=1) as one, serving(events=1) as other:
            words = [
                "perf",
                str(file),
                "--model-url",
                one.url,
                "--model-url",
                other.url,
                "--model-id",
                "stub",
                "-q",
            ]
            code = await asyncio.to_thread(main, [*words, "--workspace", str(file.parent), "--requests", "4"])
            return code, one, other

    code, one, other = asyncio.run(work())
    assert code == 0
    assert (len(one.log), len(other.log)) == (2, 2)
    assert "server" in capsys.readouterr().out


def test_the_demo_model_has_no_further_server(file: Path) -> None:
    with pytest.raises(UsageError, match="the demo model answers in this process"):
        benchwright.perf(str(file), workspace=str(file.parent), more_urls=["http://127.0.0.1:1"])
