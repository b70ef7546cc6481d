"""Headers with values of the environment, in every kind of run: each request has them, and no file does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.recording_server import RecordingServer, recording

import benchwright
from benchwright import call_llm
from benchwright.cli import main

TOKEN = "t0ken-of-mine-93"
MODEL = ["--model", "mine", "--max-retries", "0"]
EVAL = """
config: {{type: bench.py, output_dir: out, params: {{parallelism: 1}}}}
target: {{api_endpoint: {{model_id: m, type: chat, url: "{url}"}}}}
"""
BENCH = """
from benchwright import benchmark, judge_score, scorer

@benchmark(name="graded", dataset="qa.csv", prompt="{{question}}", target_field="answer",
           extra={{"judge": {{"url": "{url}", "model_id": "judge"}}}})
@scorer
def graded(sample):
    return judge_score(sample, template="binary_qa")
"""
KINDS: dict[str, list[str]] = {
    "run": ["run", "qa.csv", *MODEL],
    "run with a judge": ["run", "bench.py", *MODEL],
    "suite": ["run", "suite.toml", "--max-retries", "0"],
    "load test": ["perf", "qa.csv", "--model", "mine", "--requests", "2", "--no-stream"],
    "load test by processes": ["perf", "qa.csv", "--model", "mine", "--requests", "2", "--no-stream", "--workers", "2"],
    "function calling": ["run", "bfcl_simple", "--limit", "2", *MODEL],
    "run_eval": ["run_eval", "--run_config", "eval.yaml", "--overrides", "target.api_endpoint.headers.X-Auth=Token ${MY_TOKEN}"],
    "list of models": ["run", "qa.csv", "--model", "unnamed", "--max-retries", "0"],
}  # fmt: skip


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    Path("qa.csv").write_text("question,answer\n1+1=,2\n2+2=,4\n", encoding="utf-8")
    with recording("GRADE: C") as found:
        header = 'headers = { X-Auth = "Token ${MY_TOKEN}", X-Team = "blue" }'
        table = f'base_url = "{found.url}"\n{header}\n'
        text = f'[models.mine]\nmodel = "m"\n{table}[models.unnamed]\n{table}'
        Path("benchwright.toml").write_text(text, encoding="utf-8")
        Path("suite.toml").write_text('models = ["mine"]\ndatasets = ["qa.csv"]\n', encoding="utf-8")
        Path("bench.py").write_text(BENCH.format(url=found.url), encoding="utf-8")
        Path("eval.yaml").write_text(EVAL.format(url=found.url), encoding="utf-8")
        yield found


def of_the_model(server: RecordingServer) -> list[dict[str, list[str]]]:
    """The headers that reached the model under test; the judge's requests have none of them."""
    received = server.take()
    assert not any("x-auth" in each.headers for each in received if each.body.get("model") == "judge")
    return [each.headers for each in received if each.body.get("model") != "judge"]


def files_with_the_token() -> list[Path]:
    return [path for path in Path().rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]


@pytest.mark.parametrize("kind", KINDS)
def test_each_request_of_every_run_has_the_value(
    server: RecordingServer, kind: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MY_TOKEN", raising=False)
    assert main(KINDS[kind]) == 2
    assert "MY_TOKEN, which is not set" in capfd.readouterr().err
    assert server.take() == []
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    code = main(KINDS[kind])
    printed = capfd.readouterr()
    assert code == 0, printed
    seen = of_the_model(server)
    assert len(seen) >= 2
    assert {tuple(headers.get("x-auth", ())) for headers in seen} == {(f"Token {TOKEN}",)}
    assert files_with_the_token() == []
    assert TOKEN not in printed.out + printed.err
    if kind == "run":
        (file,) = Path().rglob("run_config.yml")
        recorded = file.read_text(encoding="utf-8")
        assert "Token ${MY_TOKEN}" in recorded
        assert "blue" in recorded


def test_workflows_and_single_calls_have_it_and_rescoring_needs_no_value(
    server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    asyncio.run(call_llm("mine", None, [{"role": "user", "content": "1+1="}]))
    benchwright.run("bench.py", model="mine")
    assert {tuple(headers["x-auth"]) for headers in of_the_model(server)} == {(f"Token {TOKEN}",)}
    monkeypatch.delenv("MY_TOKEN")
    again = benchwright.rescore("last", judge={"temperature": 0.5})
    assert again.folder.is_dir()
    received = server.take()
    assert {each.body["model"] for each in received} == {"judge"}
    assert not any("x-auth" in each.headers for each in received)


def test_a_value_that_no_header_can_hold_is_refused(
    server: RecordingServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_TOKEN", f"{TOKEN}\r\nX-Other: 1")
    assert main(KINDS["run"]) == 2
    printed = capfd.readouterr().err
    assert "'X-Auth' has a line break" in printed
    assert TOKEN not in printed
    assert server.take() == []
