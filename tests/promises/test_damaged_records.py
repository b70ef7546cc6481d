"""Runs whose records are missing, damaged, copied or moved: no command takes what is left for the whole run."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright.cli import main
from benchwright.store import find_workspace
from stored_records import lose_rows, pages_of_samples

BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset=[{"q": f"What is {k} + 1?", "target": str(k + 1)} for k in range(40)], prompt="{q}")
@scorer
def sums(sample: ScorerInput) -> dict:
    return {"correct": sample.target in sample.response}
"""
POLICY = '[[threshold]]\nmetric = "correct"\nmin = 0.0\nbound = "value"\n'
LOST = "of 40 samples are missing from the records"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "200")
    Path("benchwright.toml").write_text("")
    Path("bench.py").write_text(BENCH)
    Path("policy.toml").write_text(POLICY)
    assert main(["run", "bench.py", "--quiet"]) == 0
    assert main(["run", "bench.py", "--quiet", "--no-cache"]) == 0
    return place


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(list(words))
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return run


def database() -> Path:
    return find_workspace(Path.cwd()).database


def without_files(run: int) -> None:
    shutil.rmtree(next(Path(".benchwright/runs").glob(f"{run:04d}-*")))


def lose(run: int, rows: tuple[int, ...] = (0, 17, 39)) -> None:
    """Delete the records of some samples."""
    lose_rows(Path.cwd(), run, rows)


def overwrite_a_page(run: int) -> None:
    """Overwrite a page of the table of samples, as a bad disk does."""
    size, pages = pages_of_samples(Path.cwd())
    content = bytearray(database().read_bytes())
    page = pages[len(pages) // 2]
    content[(page - 1) * size : page * size] = random.Random(1).randbytes(size)
    database().write_bytes(content)


CONSUMERS: dict[str, tuple[tuple[str, ...], int, str]] = {
    "show": (("show", "1"), 0, LOST),
    "list": (("list",), 0, "interrupted"),
    "list by status": (("list", "--status", "completed", "--name", "sums"), 0, "completed"),
    "compare": (("compare", "1", "2"), 2, "have lost records (run 1)"),
    "compare, second": (("compare", "2", "1"), 2, "have lost records (run 1)"),
    "gate": (("gate", "1", "--policy", "policy.toml"), 3, LOST),
    "bless": (("bless", "1", "--as", "main"), 2, "interrupted"),
    "export": (("export", "1", "-o", "out.jsonl"), 3, LOST),
    "export to a pipe": (("export", "1", "-o", "-", "--format", "csv"), 3, LOST),
    "report": (("report", "1", "-o", "page.html"), 3, LOST),
    "report of two": (("report", "1", "2", "-o", "page.html"), 2, "have lost records (run 1)"),
    "export --baseline": (("export", "1", "--baseline", "b.jsonl"), 2, "interrupted"),
    "rescore": (("rescore", "1"), 0, "run 1 has lost 3 of its samples"),
}


@pytest.mark.parametrize("name", CONSUMERS)
def test_every_consumer_counts_the_samples_of_a_run(said: Any, name: str) -> None:
    words, expected, text = CONSUMERS[name]
    lose(1)
    code, shown = said(*words)
    assert (code, text in " ".join(shown.split())) == (expected, True), shown
    if name == "list by status":
        assert [run["id"] for run in json.loads(said(*words, "--json")[1])["runs"]] == [2]


def test_python_and_the_server_say_it_too(folder: Path) -> None:
    lose(1)
    policy = {"threshold": [{"metric": "correct", "min": 0.0, "bound": "value"}]}
    assert benchwright.gate(1, policy=policy).verdict == "INCONCLUSIVE"
    with benchwright.store.open_store(find_workspace(folder)) as store:
        found = [benchwright.store.whole(store, run) for run in store.runs()]
        assert {run.id: (run.status, run.lost) for run in found} == {
            1: ("interrupted", 3),
            2: ("completed", 0),
        }


def test_a_gate_is_not_changed_by_what_was_lost(said: Any) -> None:
    """The failed rows are lost, so that the rest would pass."""
    policy = POLICY.replace("0.0", "0.99")
    Path("policy.toml").write_text(policy)
    assert said("gate", "1", "--policy", "policy.toml")[0] == 1
    wrong = json.loads(said("show", "1", "--wrong", "--json", "--limit", "40")[1])["samples"]
    lose(1, tuple(int(sample["sample_id"]) for sample in wrong))
    assert said("gate", "1", "--policy", "policy.toml")[0] == 3
    assert said("doctor")[0] == 0
    assert said("gate", "1", "--policy", "policy.toml")[0] == 1


@pytest.mark.parametrize("damage", [lose, overwrite_a_page], ids=["missing", "damaged"])
def test_doctor_restores_lost_samples_from_the_files(said: Any, damage: Callable[[int], None]) -> None:
    before = json.loads(said("compare", "1", "2", "--json")[1])
    exported = said("export", "1", "-o", "-", "--format", "csv")[1]
    damage(1)
    code, shown = said("doctor")
    assert code == 0, shown
    assert "restored: " in shown
    assert said("doctor") == (0, shown[:0] + said("doctor")[1])
    after = json.loads(said("compare", "1", "2", "--json")[1])
    assert after["metrics"] == before["metrics"]
    assert after["samples"] == before["samples"]
    assert said("gate", "1", "--policy", "policy.toml")[0] == 0
    assert len(said("export", "1", "-o", "-", "--format", "csv")[1].splitlines()) == len(
        exported.splitlines()
    )


@pytest.mark.parametrize("damage", [lose, overwrite_a_page], ids=["missing", "damaged"])
def test_doctor_names_the_runs_that_it_cannot_restore(said: Any, damage: Callable[[int], None]) -> None:
    without_files(1)
    without_files(2)
    damage(1)
    assert said("doctor", "--dry-run")[0] == 1
    code, shown = said("doctor")
    assert code == 1
    lost = [
        run["id"] for run in json.loads(said("list", "--json")[1])["runs"] if run["status"] == "interrupted"
    ]
    assert lost
    for run in lost:
        assert f"run {run} sums is not complete: " in shown
        assert f"benchwright resume {run}" in shown
        assert said("gate", str(run), "--policy", "policy.toml")[0] == 3
        assert said("resume", str(run))[0] == 0
        assert said("gate", str(run), "--policy", "policy.toml")[0] == 0
    assert said("doctor")[0] == 0


def test_files_of_another_run_restore_nothing(said: Any) -> None:
    """They replaced those of the run, or belong to a run with the same number in another workspace."""
    lose(1)
    place = next(Path(".benchwright/runs").glob("0001-*"))
    manifest = json.loads((place / "manifest.json").read_text())
    manifest["run"]["id"] = 7
    (place / "manifest.json").write_text(json.dumps(manifest))
    assert said("doctor")[0] == 1


def test_a_folder_with_fewer_samples_than_its_results_count_is_refused(said: Any, folder: Path) -> None:
    import pyarrow.parquet as pq

    elsewhere = folder.parent / "copied"
    shutil.copytree(next(Path(".benchwright/runs").glob("0001-*")), elsewhere)
    assert said("gate", str(elsewhere), "--policy", "policy.toml")[0] == 0
    pq.write_table(pq.read_table(elsewhere / "samples.parquet").slice(3), elsewhere / "samples.parquet")
    for words in (("gate", str(elsewhere), "--policy", "policy.toml"), ("compare", str(elsewhere), "2")):
        code, shown = said(*words)
        assert code == 2
        assert "contains 37 samples, and results.yml counts 40" in shown


def test_a_lost_load_test_is_adopted_as_one(said: Any) -> None:
    assert said("perf", "bench.py", "--concurrency", "2", "--requests", "30", "--quiet")[0] in (0, 3)
    load = {"load": [{"figure": "error_share", "max": 0.5}]}
    before = json.loads(said("show", "3", "--json")[1])
    verdict = benchwright.gate(3, policy=load).to_json()
    for file in Path(".benchwright").glob("benchwright.db*"):
        file.unlink()
    code, shown = said("doctor")
    assert code == 0
    assert "30 requests" in shown
    after = json.loads(said("show", "3", "--json")[1])
    assert after["run"]["kind"] == "load"
    assert after["summary"] == before["summary"]
    again = benchwright.gate(3, policy=load).to_json()
    assert (again["verdict"], again["rows"]) == (verdict["verdict"], verdict["rows"])
    assert len(said("export", "3", "-o", "-", "--format", "jsonl")[1].splitlines()) == 30
    assert said("list")[0] == 0
    lose_rows(Path.cwd(), 3, range(10))
    assert said("gate", "3", "--policy", "policy.toml")[0] != 0
    assert "requests are missing from the records" in " ".join(said("show", "3")[1].split())
    assert said("doctor")[0] == 1


def test_load_tests_of_other_data_stay_so_without_their_records(said: Any) -> None:
    for name, text in (("one", "What is 1 + 1?"), ("two", "What is 2 + 2, and why is that so?")):
        Path(name).mkdir()
        Path(name, "quiz.jsonl").write_text(
            "".join(json.dumps({"question": f"{text} {k}", "answer": "2"}) + "\n" for k in range(8))
        )
        words = ("--concurrency", "2", "--requests", "8", "--quiet")
        assert said("perf", f"{name}/quiz.jsonl", *words)[0] in (0, 3)
    warning = "the tests sent the rows of different data"
    assert warning in said("compare", "3", "4")[1]
    folders = [str(next(Path(".benchwright/runs").glob(f"000{run}-*"))) for run in (3, 4)]
    assert warning in said("compare", *folders)[1]
    for file in Path(".benchwright").glob("benchwright.db*"):
        file.unlink()
    assert said("doctor")[0] == 0
    assert warning in said("compare", "3", "4")[1]
