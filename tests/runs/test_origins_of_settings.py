"""Runs record where each setting comes from; the JSON and the page of a run say so, and say it of no setting that was not recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright import run
from benchwright.cli import main
from benchwright.config import LOAD_OPTIONS, SHARED_WITH_RUNS
from benchwright.perf import LoadSettings
from benchwright.results import kind_of
from benchwright.results._load_page import load_document
from benchwright.results._run_page import run_page
from benchwright.results._settings import _OPTIONS_OF_LOAD, load_origin
from benchwright.store import Workspace, open_store
from recording_server import recording

CALL = "command line or call"
LOAD_NAMES = {*SHARED_WITH_RUNS, *(option.name for option in LOAD_OPTIONS)}
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


# -- load tests


@pytest.fixture
def server(here: Path) -> Iterator[None]:
    with recording() as served, Path("benchwright.toml").open("a", encoding="utf-8") as file:
        file.write(LOADS.format(url=served.url))
        file.flush()
        yield


LOADS = """
[perf]
warmup = 1
slo = "e2e=9s"

[models.served]
base_url = "{url}"
model = "m"
max_concurrency = 3
top_p = 0.8
retries = 4

[models.paced]
base_url = "{url}"
model = "m"
request_rate = 50
"""
OF_PERF = {"warmup": "benchwright.toml [perf]", "slo": "benchwright.toml [perf]"}


def load_settings_on_page(here: Path, number: int) -> dict[str, tuple[str, str | None]]:
    """The rows of the settings on the page of a load test: values and origins."""
    with open_store(Workspace(here)) as store:
        words: Any = load_document(store, store.run(number))["words"]
    return {name: (value, origin) for name, value, origin in words["settings"]}


@pytest.mark.usefixtures("server")
def test_each_layer_is_named_for_what_it_sets_in_a_load_test(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "benchwright.toml [models.served]"
    of_run = {"temperature": "benchwright.toml [run]", "limit": "benchwright.toml [benchmarks.mine]"}
    of_model = dict.fromkeys(("model_url", "model_id", "top_p"), table)
    closed = started(capsys, "perf", "mine", "--model", "served", "--requests", "4")
    given = {"model": CALL, "requests": CALL}
    assert closed == {**given, **of_run, **of_model, **OF_PERF, "concurrency": table}
    page = load_settings_on_page(here, 1)
    assert page["levels"] == ("3", table)
    assert page["requests"] == ("4", CALL)
    assert page["warmup"] == ("1", "benchwright.toml [perf]")
    assert page["slo"] == ("e2e ≤ 9 s", "benchwright.toml [perf]")
    assert page["address"][1] == table
    assert page["seed"] == ("0", "default")
    assert page["time to drain"] == ("30 s", "default")
    opened = started(
        capsys, "perf", "mine", "--model", "served", "--rate", "200", "--warmup", "0", "--requests", "4"
    )
    assert opened == {
        **given,
        **of_run,
        **of_model,
        **OF_PERF,
        "rate": CALL,
        "warmup": CALL,
        "max_concurrency": table,
    }
    page = load_settings_on_page(here, 2)
    assert (page["profile"], page["levels"]) == (("poisson", CALL), ("200", CALL))
    assert page["max concurrency"] == ("3", table)


@pytest.mark.usefixtures("server")
def test_a_load_in_the_table_of_a_model_is_named_unless_another_one_is_given(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        started(capsys, "perf", "mine", "--model", "paced", "--requests", "2")["rate"]
        == "benchwright.toml [models.paced]"
    )
    assert load_settings_on_page(here, 1)["levels"] == ("50", "benchwright.toml [models.paced]")
    found = started(capsys, "perf", "mine", "--model", "paced", "--requests", "2", "--concurrency", "2")
    assert "rate" not in found
    assert load_settings_on_page(here, 2)["levels"] == ("2", CALL)
    # A run has no such setting.
    assert "rate" not in started(capsys, "run", "mine", "--model", "paced")


@pytest.mark.usefixtures("server")
def test_an_entry_of_a_suite_is_named_in_its_load_tests(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = {
        "models": [{"name": "m", "type": "demo", "top_p": 0.7}],
        "datasets": [{"path": "sums.csv", "limit": 2}],
    }
    Path("nightly.json").write_text(json.dumps(suite), encoding="utf-8")
    found = started(capsys, "perf", "nightly.json", "--concurrency", "2")
    entry = "nightly.json: models, entry 1 (m)"
    assert found == {
        **OF_PERF,
        "concurrency": CALL,
        "model": entry,
        "top_p": entry,
        "limit": "nightly.json: datasets, entry 1",
        "temperature": "benchwright.toml [run]",
    }


def test_every_setting_of_a_load_has_a_place_on_its_page(here: Path) -> None:
    """Deny by default: a field of the settings is that of an option, or of those that are named for it."""
    derived = {"synthetic", "stream"}  # facts about generated prompts; a setting of request bodies
    for field in LoadSettings.__struct_fields__:
        options = _OPTIONS_OF_LOAD.get(field, (field,))
        assert field in derived or all(name in LOAD_NAMES for name in options), field
        for name in options:
            assert load_origin({"origins": {name: CALL}}, field) == CALL
        assert load_origin({"origins": {}}, field) == "default"
        assert load_origin({}, field) is None


@pytest.mark.parametrize("command", [("run",), ("perf", "--requests", "2")])
def test_a_record_without_origins_says_so_in_every_kind(
    here: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    assert started(capsys, *command, "sums.csv") is not None
    with open_store(Workspace(here)) as store:
        record = store.run(1)
        store.update_run(
            1, settings={name: value for name, value in record.settings.items() if name != "origins"}
        )
    assert main(["show", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["origins"] is None


def test_origins_change_no_comparison_of_load_tests(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    started(capsys, "perf", "sums.csv", "--requests", "4", "--temperature", "0.2")
    started(capsys, "perf", "sums.csv", "--requests", "4")
    with open_store(Workspace(here)) as store:
        assert store.run(1).settings["origins"] != store.run(2).settings["origins"]
        for number in (1, 2):
            assert "origins" not in (store.run(number).folder / "summary.json").read_text(encoding="utf-8")
    main(["compare", "1", "2", "--json"])
    assert '"origins' not in capsys.readouterr().out
