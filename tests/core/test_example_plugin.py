"""`examples/plugin` installs with pip, and everything that it adds works from the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.core._plugins import EXTENSION_POINTS
from benchwright.demo import DemoSettings, demo_server
from waiting import PATIENCE_S

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin"
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as pip installs it; nothing is fetched."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    site = folder / "site"
    words = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--no-compile"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words, "--disable-pip-version-check", "--target", str(site), str(source)],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def command(installed: Path, tmp_path: Path) -> Command:
    """Runs `benchwright …` in a process that has the package, in a folder of its own."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "benchwright", *words],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip

    return run


def result_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    (result,) = json.loads(done.stdout)["results"]
    return dict(result)


def test_the_package_adds_one_plugin_of_every_kind(command: Command) -> None:
    done = command("ls", "--plugins", "--json")
    plugins = json.loads(done.stdout)["plugins"]
    assert [plugin["kind"] for plugin in plugins] == [point.kind for point in EXTENSION_POINTS]
    assert {plugin["package"] for plugin in plugins} == {"refund-desk"}
    assert [plugin["problem"] for plugin in plugins if plugin["problem"]] == []
    assert "refund_desk.data:tickets" in command("ls", "--plugins").stdout


def test_benchmark_source_and_report_through_the_command_line(command: Command, tmp_path: Path) -> None:
    words = [
        "run",
        "refunds",
        "--model",
        "demo",
        "--demo-skill",
        "1",
        "--report",
        "headline",
        "--tracker",
        "diary",
        "--json",
    ]
    result = result_of(command(*words, "--output-dir", "out"))
    assert result["summary"]["metrics"]["brief"]["value"] == 1.0
    assert result["report_problems"] == []
    assert (tmp_path / "out" / "headline.txt").read_text() == "refunds on demo: brief 1.00, words 1.00\n"
    first, *_, last = (tmp_path / "out" / "diary.txt").read_text().splitlines()
    assert (first, last) == ("started refunds", "completed: {'brief': 1.0, 'words': 1.0}")
    (tmp_path / "out" / "headline.txt").unlink()
    rescored = result_of(command("rescore", "last", "--json"))
    assert (Path(rescored["folder"]) / "headline.txt").exists(), "a run that is scored again has its reports"
    refused = command("run", "refunds", "--report", "headlines")
    assert refused.returncode == 2
    assert "Did you mean 'headline'?" in refused.stderr


def test_scorer_and_format_through_the_command_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "sums.qna").write_text("How much is 1 + 1? => 2\nHow much is 2 + 3? => 5\n")
    words = ["run", "sums.qna", "--evaluator", "brevity", "--model", "demo", "--demo-skill", "1", "--json"]
    metrics = result_of(command(*words))["summary"]["metrics"]
    assert (metrics["brief"]["value"], metrics["words"]["count"]) == (1.0, 2)
    metrics = result_of(command(*words, "--evaluator-kwargs", '{"words": 0}'))["summary"]["metrics"]
    assert metrics["brief"]["value"] == 0.0
    (tmp_path / "benchwright.toml").write_text(
        '[benchmarks.sums]\ntype = "custom_nocode"\ndataset = "sums.qna"\nprompt = "{{ row.question }}"\n'
        'style = { type = "scorer", scorer = "brevity", golden_column = "answer" }\n'
    )
    assert set(result_of(command("run", "sums", "--json"))["summary"]["metrics"]) == {"brief", "words"}


def test_wire_through_the_command_line(command: Command, tmp_path: Path) -> None:
    with demo_server(DemoSettings(skill=1.0)) as server:
        where = ["--model-url", server.url, "--model-id", "demo", "--api", "desk", "--output-dir", "out"]
        result = result_of(command("run", "tickets://open", *where, "--json"))
    assert result["summary"]["failed"] == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert "api=desk refund-desk==1.0" in manifest["endpoint"]["fingerprint"]
    refused = command("run", "tickets://open", "--model-url", "http://127.0.0.1:9", "--api", "dask")
    assert refused.returncode == 2
    assert "Did you mean 'desk'" in refused.stderr


def test_a_report_that_fails_leaves_the_run_as_it_is(
    command: Command, installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "headline.txt").mkdir()
    done = command("run", "refunds", "--report", "headline", "--output-dir", ".", "--quiet")
    assert done.returncode == 1
    assert "error: refunds ended, but report headline failed: IsADirectoryError" in done.stderr
    assert json.loads(command("show", "last", "--json").stdout)["run"]["status"] == "completed"


def test_step_takes_closing_words_off_answers(command: Command, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("question,answer\nHow much is 12 + 30?,42\n")
    steps = {"interceptors": [{"name": "sign_off", "config": {"words": "2"}}]}
    words = ["run", "rows.csv", "--model", "demo", "--demo-skill", "1", "--json", "--pipeline"]
    cut = result_of(command(*words, json.dumps(steps)))
    assert cut["summary"]["metrics"]["exact"]["value"] == 0.0
    steps["interceptors"][0]["config"] = {"word": "2"}
    refused = command(*words, json.dumps(steps))
    assert refused.returncode == 2
    assert "step sign_off (refund-desk 1.0) cannot be used" in refused.stdout
