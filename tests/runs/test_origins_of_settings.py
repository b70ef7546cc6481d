"""Runs record where each setting comes from; the JSON and the page of a run say so, and say it of no setting that was not recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright import run
from benchwright.cli import main
from benchwright.results import kind_of
from benchwright.results._run_page import run_page
from benchwright.store import Workspace, open_store
from recording_server import recording

CALL = "command line or call"
FILE = """
[run]
temperature = 0.2
limit = 4

[models.big]
type = "demo"
max_retries = 5
top_p = 0.9

[benchmarks.mine]
file = "sums.csv"
limit = 3
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    rows = "".join(f"{n}+1,{n + 1}\n" for n in range(6))
    Path("sums.csv").write_text("question,answer\n" + rows, encoding="utf-8")
    Path("benchwright.toml").write_text(FILE, encoding="utf-8")
    return tmp_path


def started(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    """The origins of the run that a command starts."""
    assert main([*words, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["show", "last", "--json"]) == 0
    found: dict[str, str] = json.loads(capsys.readouterr().out)["origins"]
    return found


def shown(here: Path, number: int = 1) -> dict[str, Any]:
    """The rows of the settings on the page of a run: values and origins by key."""
    with open_store(Workspace(here)) as store:
        record = store.run(number)
        details: Any = kind_of(record).details(store, record)
    page: Any = run_page(details, details.result, {})
    rows = {key: (value, origin) for _, group in page["settings"] for key, value, origin in group}
    return {**rows, "recorded": page["origins"]}


def test_each_layer_is_named_for_what_it_sets_and_no_other(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    found = started(capsys, "run", "mine", "--model", "big", "--max-tokens", "50")
    assert found == {
        "max_tokens": CALL,
        "model": CALL,
        "limit": "benchwright.toml [benchmarks.mine]",
        "temperature": "benchwright.toml [run]",
        "max_retries": "benchwright.toml [models.big]",
        "top_p": "benchwright.toml [models.big]",
        "cache": "environment variable CI",
    }
    page = shown(here)
    assert page["max_new_tokens"] == ("50", CALL)
    assert page["limit_samples"] == ("3", "benchwright.toml [benchmarks.mine]")
    assert page["temperature"] == ("0.2", "benchwright.toml [run]")
    assert page["max_retries"] == ("5", "benchwright.toml [models.big]")
    assert page["top_p"] == ("0.9", "benchwright.toml [models.big]")
    assert page["parallelism"][1] == page["extra.dataset.fewshot_seed"][1] == "default"
    assert page["task"] == ("mine", "benchmark")
    assert page["model_id"] == ("demo", CALL)
    assert page["type"][1] == "benchmark"
    assert page["recorded"] is True


def test_a_higher_layer_hides_the_origin_of_a_lower_one(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--temperature", "0", "--limit", "2", "--top-p", "1", "--max-retries", "1")
    found = started(capsys, "run", "mine", "--model", "big", *flags)
    assert set(found.values()) == {CALL}


def test_an_entry_of_a_suite_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = {"path": "sums.csv", "limit": 2, "template": "Add: {question}"}
    suite = {
        "models": [{"name": "m", "type": "demo", "max_retries": 7}],
        "datasets": [entry],
        "run": {"seed": 3},
    }
    Path("nightly.json").write_text(json.dumps(suite), encoding="utf-8")
    found = started(capsys, "run", "nightly.json", "--max-tokens", "9")
    assert found == {
        "max_tokens": CALL,
        "model": "nightly.json: models, entry 1 (m)",
        "max_retries": "nightly.json: models, entry 1 (m)",
        "limit": "nightly.json: datasets, entry 1",
        "template": "nightly.json: datasets, entry 1",
        "seed": "nightly.json [run]",
        "temperature": "benchwright.toml [run]",
    }
    assert shown(here)["extra.questions.template"] == ("Add: {question}", "nightly.json: datasets, entry 1")


def test_a_run_configuration_is_named_and_its_overrides_are_the_command_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("rc.yaml").write_text("config:\n  type: mine\n  params:\n    limit_samples: 2\n    top_p: 0.5\n")
    found = started(capsys, "run", "--config", "rc.yaml", "-o", "config.params.top_p=0.6")
    assert found == {"limit": "rc.yaml", "top_p": CALL, "temperature": "benchwright.toml [run]"}


def test_resuming_and_scoring_again_change_what_they_are_given(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("sums.csv", model="demo", max_requests=2)
    assert main(["resume", "1", "--max-requests", "9", "--parallelism", "2", "--quiet"]) == 0
    assert shown(here)["parallelism"] == ("2", CALL)
    found = started(capsys, "rescore", "1", "--failure-threshold", "0.5")
    assert found["failure_threshold"] == CALL
    assert shown(here, 2)["extra.rescored_from"] == ("1", CALL)


def test_a_run_of_an_older_version_says_that_nothing_was_recorded(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("sums.csv", model="demo")
    with open_store(Workspace(here)) as store:
        settings = dict(store.run(1).settings)
        del settings["origins"]
        store.update_run(1, settings=settings)
    assert main(["show", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["origins"] is None
    page = shown(here)
    assert (page["temperature"], page["recorded"]) == (("0.2", None), False)


def test_origins_change_no_file_and_no_comparison(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("sums.csv", model="demo", limit=4)
    run("sums.csv", model="demo")
    with open_store(Workspace(here)) as store:
        assert store.run(1).settings["origins"] != store.run(2).settings["origins"]
        assert all("origins:" not in (store.run(n).folder / "run_config.yml").read_text() for n in (1, 2))
    assert main(["compare", "1", "2", "--json"]) == 0
    assert '"origins' not in capsys.readouterr().out


def test_the_settings_of_a_server_come_from_its_table_its_profile_or_its_own_list(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording(lambda body: "2") as server:
        url = server.url
        table = f'[models.local]\nbase_url = "{url}"\nmodel = "m"\ntimeout = 7\nmax_concurrency = 2\n'
        Path("benchwright.toml").write_text(table, encoding="utf-8")
        found = started(capsys, "run", "sums.csv", "--model", "local", "--parallelism", "9")
        place = "benchwright.toml [models.local]"
        assert found == {
            "model": CALL,
            "model_url": place,
            "model_id": place,
            "request_timeout": place,
            "parallelism": place,  # the server's limit is lower than what the command asks for
        }
        assert shown(here)["parallelism"] == ("2", place)
        assert shown(here)["url"][1] == place
        words = ("--model", "vllm_api_general_chat", "--model-url", url, "--model-id", "m")
        found = started(capsys, "run", "sums.csv", *words)
        assert {found[name] for name in ("model", "model_url", "model_id")} == {CALL}
        unnamed = started(capsys, "run", "sums.csv", "--model-url", url)
        assert unnamed == {"model_url": CALL, "model_id": "server"}
        assert found["stream"] == found["model_type"] == "profile vllm_api_general_chat"
