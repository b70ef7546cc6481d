"""The load that a model's own settings describe, and the commands of the other tool that rely on it."""

from __future__ import annotations

import asyncio
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.perf.stub_server import Stub, serving

import benchwright
from benchwright.cli import main
from benchwright.config import LoadOptions
from recording_server import recording


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qa.csv").write_text("question\na\nb\nc\n", encoding="utf-8")
    return tmp_path


def model(url: str, load: str, kind: str = "VLLMCustomAPIChatStream") -> None:
    table = f'[models.mine]\ntype = "{kind}"\nurl = "{url}"\nmodel = "stub"\nbatch_size = 2\n{load}\n'
    Path("benchwright.toml").write_text(table, encoding="utf-8")


def loaded(load: str, **how: Any) -> tuple[Any, Stub]:
    async def work() -> tuple[Any, Stub]:
        async with serving(events=1) as stub:
            model(stub.url, load)
            return await asyncio.to_thread(benchwright.perf, "qa.csv", model="mine", **how), stub

    return asyncio.run(work())


def test_a_load_test_follows_the_models_own_load_unless_it_has_one(folder: Path) -> None:
    result, stub = loaded("request_rate = 100\ntraffic_cfg = { burstiness = 0 }", requests=5)
    settings = result.view.settings
    assert (settings.profile, settings.levels, settings.max_concurrency) == ("constant", (100.0,), 2)
    assert len(stub.log) == 5
    result, _ = loaded("request_rate = 100", concurrency=3)
    settings = result.view.settings
    assert (settings.profile, settings.levels, settings.max_concurrency) == ("concurrent", (3.0,), None)
    result, _ = loaded("request_rate = 0")
    assert (result.view.settings.profile, result.view.settings.levels) == ("concurrent", (2.0,))


def test_any_flag_that_shapes_the_load_replaces_the_models() -> None:
    load = {"profile": "ramp", "ramp": "linear", "rate": [1, 9], "max_concurrency": 4}
    assert LoadOptions().over_model(load).profile == "ramp"
    assert LoadOptions.from_keywords({"requests": 9}).over_model(load).requests == 9
    for given in ({"rate": 3}, {"concurrency": 3}, {"trace_speed": 2}, {"find_max_load": True}):
        assert LoadOptions.from_keywords(given).over_model(load).max_concurrency is None


@pytest.mark.parametrize("kind", ["VLLMCustomAPIChat", "VLLMCustomAPIChatStream"])
@pytest.mark.parametrize(("written", "how", "streamed"), [
    ("", {}, True),
    ("stream = false", {}, False),
    ("stream = false", {"stream": True}, True),
    ("stream = true", {"stream": False}, False),
])  # fmt: skip
def test_replies_are_streamed_unless_the_table_or_a_flag_says_otherwise(
    folder: Path, kind: str, written: str, how: dict[str, Any], streamed: bool
) -> None:
    """A profile that does not stream is no decision about load tests."""
    asked = sent_by(written, kind, **how)
    assert [bool(body.get("stream")) for body in asked] == [streamed] * 3


def sent_by(written: str, kind: str, **how: Any) -> list[dict[str, Any]]:
    with recording() as server:
        model(server.url, written, kind)
        benchwright.perf("qa.csv", model="mine", server_metrics=False, **how)
        return [each.body for each in server.take() if each.body]


def test_a_suite_of_load_tests_streams_as_it_says(folder: Path) -> None:
    with recording() as server:
        entry = f'name = "mine", base_url = "{server.url}", model = "stub"'
        for run, table, streamed in (
            ("", "", True),
            ("stream = false", "", False),
            ("", ", stream = false", False),
        ):
            text = f'datasets = [{{ path = "qa.csv" }}]\nmodels = [{{ {entry}{table} }}]\n[run]\n{run}\n'
            (folder / "suite.toml").write_text(text, encoding="utf-8")
            benchwright.perf("suite.toml", server_metrics=False)
            assert [bool(each.body.get("stream")) for each in server.take() if each.body] == [streamed] * 3


def test_the_limits_of_a_models_table_hold_for_load_tests(folder: Path) -> None:
    result, _ = loaded("", rate=200)
    assert result.view.settings.max_concurrency == 2
    result, _ = loaded("", rate=200, max_concurrency=3)
    assert result.view.settings.max_concurrency == 3
    result, _ = loaded("retries = 2\nrepeats = 2", concurrency=3)
    assert result.summary.sent == 3
    said = "\n".join(result.view.manifest["notes"])
    assert "--concurrency 3 is above the model's max_concurrency of 2" in said
    for name in ("retries", "repeats"):
        assert f"{name} of the model has no effect" in said


@pytest.mark.parametrize("how", [{}, {"rate": 3}, {"rate": 1, "find_max_load": True, "slo": "e2e=1s"}])
def test_a_load_that_may_send_more_than_the_table_promises_is_refused(
    folder: Path, how: dict[str, Any]
) -> None:
    model("http://127.0.0.1:9", "requests_per_minute = 120")
    with pytest.raises(benchwright.UsageError, match="--rate 2 or less"):
        benchwright.perf("qa.csv", model="mine", **how)
    result, _ = loaded("requests_per_minute = 12000", rate=200)
    assert result.summary.sent == 3


def test_runs_do_not_follow_it_and_say_so(folder: Path) -> None:
    async def work() -> Any:
        async with serving(events=1) as stub:
            model(stub.url, "request_rate = 0.5")
            return await asyncio.to_thread(benchwright.run, "qa.csv", model="mine")

    notes = asyncio.run(work()).summary.notes
    assert any(
        "request_rate, traffic_cfg and use_timestamp are for load tests alone" in note for note in notes
    )


def picture() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(4)))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("name", ["vllm_api_general", "mindie_stream_api_general"])
@pytest.mark.parametrize("place", ["mm_custom_gen.jsonl", "data/mm_custom/rows.jsonl"])
def test_mm_custom_gen_is_a_file_in_its_usual_place(
    folder: Path, name: str, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    (file.parent / "a.png").write_bytes(picture())
    file.write_text(
        '{"type": "image", "path": ["a.png"], "question": "what?", "answer": "x"}\n', encoding="utf-8"
    )

    async def work() -> tuple[int, Stub]:
        async with serving(events=1) as stub:
            monkeypatch.setattr("benchwright.config._servers.DEFAULT_PROFILE_URL", stub.url)
            words = [
                "run",
                "--models",
                name,
                "--datasets",
                "mm_custom_gen",
                "--mode",
                "perf",
                "--model-id",
                "stub",
            ]
            return await asyncio.to_thread(main, words), stub

    code, stub = asyncio.run(work())
    assert code == 0
    (truth,) = stub.log
    kinds = [part["type"] for part in truth.body["messages"][0]["content"]]
    assert kinds == ["image_url", "text"]
    assert "chat route" in capsys.readouterr().out


def test_mm_custom_gen_without_a_file_says_where_it_looks(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--datasets", "mm_custom_gen", "--mode", "perf"]) == 4
    assert "call it mm_custom_gen.jsonl" in capsys.readouterr().err
