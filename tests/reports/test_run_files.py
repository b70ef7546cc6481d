"""The files of a run: documented shapes, equal bytes for equal measurements, no secrets, never half there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from msgspec.structs import replace
from recorded_runs import SETTINGS, SUMMARY, every_kind_of_sample, write_run_files

from benchwright.config import BODY_SETTINGS, RUN_SETTINGS
from benchwright.core import RunFile, RunSummary, open_artifacts, replacing, write_whole
from benchwright.reports import write_run_config
from benchwright.results import benchmark_details, run_of_folder
from benchwright.results._command import command_of
from benchwright.results._settings import params_of, recorded_params
from benchwright.store import RunRecord, Store

Record = Callable[..., RunRecord]
GOLDEN = Path(__file__).parent / "golden"

pytestmark = pytest.mark.usefixtures("any_place")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(here: Path, name: str) -> bytes:
    return open_artifacts(here / "out").read(name)


def test_all_files_are_written_into_the_folder(store: Store, record: Record, here: Path) -> None:
    assert write_run_files(store, record(), SUMMARY) == list(RunFile)
    assert open_artifacts(here / "out").names() == sorted(RunFile), "no temporary file stays"


def test_results_file_has_the_documented_shape(store: Store, record: Record, here: Path) -> None:
    write_run_files(store, record(folder=Path("out")), SUMMARY)
    assert read(here, RunFile.RESULTS) == (GOLDEN / "results.yml").read_bytes()


VALUES: dict[str, Any] = {
    "int": 0, "number": 0.25, "bool": True, "text": "a text", "texts": ["a b", "c"], "ints": [1, 2], "table": {"top_k": 5}
}  # fmt: skip
"""A value of each kind. Zero is one, as any other number."""


def test_every_setting_of_bodies_and_data_is_found_in_the_command_and_read_back(record: Record) -> None:
    sent = {setting.name: VALUES[setting.kind] for setting in BODY_SETTINGS} | {"max_tokens": 9}
    data = {s.name: VALUES[s.kind] for s in RUN_SETTINGS if s.group == "data" and s.name != "input"}
    data |= {"filters": [["kind", "y"]], "limit": 3, "repeats": 2, "pass_k": [1, 2]}
    generation = {"model": "my-model", **sent, "extra_body": VALUES["table"]}
    run = record(settings={**SETTINGS, **data, "generation": generation})
    words = command_of(run).split()
    for setting in RUN_SETTINGS:
        if setting.name in sent or setting.name in data:
            assert any(word.partition("=")[0] in setting.flags for word in words), setting.name
    params = params_of(run)
    there = recorded_params(params)
    assert there["generation"] == {name: value for name, value in generation.items() if name != "model"}
    elsewhere = ("filters", "extra", "judge")  # under `settings` of run_config.yml
    assert {name: there[name] for name in data if name not in elsewhere} == {
        name: value for name, value in data.items() if name not in elsewhere
    }
    assert params["extra"].items() >= data["extra"].items()


def test_numbers_keep_their_full_precision(store: Store, record: Record, here: Path) -> None:
    write_run_files(store, record(), SUMMARY)
    task = yaml.safe_load(read(here, RunFile.RESULTS))["results"]["tasks"]["my_qa"]
    stats = task["metrics"]["pass@1"]["scores"]["words_[bold]"]["stats"]
    assert stats["mean"] == 1 / 3
    assert stats["stderr"] == 0.05773502691896258
    assert "mean_failures_as_wrong" not in stats, "unset values are left out"


def test_an_interrupted_and_an_undisturbed_run_give_equal_results(
    store: Store, record: Record, here: Path
) -> None:
    write_run_files(store, record(), SUMMARY)
    undisturbed = read(here, RunFile.RESULTS)
    settings = {**SETTINGS, "budget": {"max_requests": None, "max_tokens_total": None, "max_minutes": 5.0}}
    again = record(reversed(every_kind_of_sample()), settings=settings, groups=5)
    store.claim_run(again.id)
    store.finish_run(again.id, "completed", summary=SUMMARY.to_json())
    write_run_files(
        store, store.run(again.id), RunSummary.from_json(orjson.loads(orjson.dumps(SUMMARY.to_json())))
    )
    assert read(here, RunFile.RESULTS) == undisturbed


def test_awkward_texts_survive_yaml(record: Record, store: Store, here: Path) -> None:
    notes = ["yes", "1e3", "a: b # c", "zeile\nzwei", "émoji 🎉", "'quoted\"", "", " x ", "[x]", "\x07bell"]
    write_run_files(store, record(), replace(SUMMARY, notes=notes))
    task = yaml.safe_load(read(here, RunFile.RESULTS))["results"]["tasks"]["my_qa"]
    assert task["notes"] == notes


def test_no_file_holds_a_secret(store: Store, record: Record, here: Path) -> None:
    for name in write_run_files(store, record(), SUMMARY):
        content = read(here, name)
        for secret in (b"sk-in-url", b"sk-in-header", b"me:pw"):
            assert secret not in content, f"{name} holds {secret!r}"


def test_run_config_can_be_written_before_the_first_request(record: Record, here: Path) -> None:
    write_run_config(benchmark_details(record([], summary=None)))
    config = yaml.safe_load(read(here, RunFile.CONFIG))
    assert config["config"]["params"]["extra"]["dataset"]["num_fewshot"] == 2
    assert config["settings"]["budget"] == {"max_requests": 100}
    assert config["target"]["api_endpoint"]["api_key_name"] == "MY_KEY"
    assert config["settings"]["model"]["headers"] == {"X-Team": "search", "api-key": "…"}


def test_manifest_tells_what_and_when(store: Store, record: Record, here: Path) -> None:
    run = record()
    write_run_files(store, run, SUMMARY)
    manifest = orjson.loads(read(here, RunFile.MANIFEST))
    assert manifest["dataset"]["fingerprint"] == "sha256:abc"
    assert manifest["versions"]["benchwright"] == "0.1.0"
    assert manifest["run"]["id"] == run.id
    assert manifest["run"]["created_at"].endswith("+00:00")
    assert manifest["run"]["finished_at"] >= manifest["run"]["created_at"]


def test_the_demo_model_is_named_as_such(record: Record) -> None:
    settings: dict[str, Any] = {**SETTINGS, "model": {"kind": "demo", "model_id": "demo", "skill": 0.7}}
    document: Any = benchmark_details(record(settings=settings)).results_document(SUMMARY)
    assert "--model demo --demo-skill 0.7" in document["command"]
    assert document["target"]["api_endpoint"]["model_id"] == "demo"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "results.yml"
    write_whole(path, b"old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_bytes(b"half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["results.yml"]


def test_what_a_killed_process_left_goes_with_the_next_file(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = tmp_path / f".results.yml.{gone.pid}.part"
    others = [tmp_path / name for name in (".results.yml.1.part", f".more.results.yml.{gone.pid}.part")]
    for path in (left, *others):
        path.touch()
    write_whole(tmp_path / "results.yml", b"new")
    assert {path.name for path in tmp_path.iterdir()} == {"results.yml", *(path.name for path in others)}


@pytest.mark.parametrize("older", [True, False])
def test_labels_are_read_next_to_the_figures_and_among_them_as_in_older_files(
    store: Store, record: Record, here: Path, older: bool
) -> None:
    write_run_files(store, record(), SUMMARY)
    document = yaml.safe_load(read(here, RunFile.RESULTS))
    if older:
        for score in document["results"]["tasks"]["my_qa"]["metrics"]["pass@1"]["scores"].values():
            score["stats"]["interval"] = score.pop("interval")
        open_artifacts(here / "out").write(RunFile.RESULTS, yaml.safe_dump(document).encode())
    summary = run_of_folder(7, here / "out").summary
    assert summary is not None
    assert summary["metrics"] == SUMMARY.to_json()["metrics"]
