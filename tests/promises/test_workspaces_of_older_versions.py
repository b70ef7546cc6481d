"""A workspace that the previous version made opens, and everything can be done with its runs.

`workspace_before.zip` was made by version 0.1.0 at bb92ebc (its database has version 3), with the demo model:

    1  sums      completed     12 rows
    2  sums      killed -9     5 of 12 rows recorded; its demo model takes 0.4 s a reply
    3  doubling  completed     a workflow of 6 steps
    4  doubling  killed -9     3 steps done, the fourth begun

The database is SQL text. Its names of the folder, the interpreter and the machine are placeholders.
"""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import warm
from waiting import PATIENCE_S

ARCHIVE = Path(__file__).with_name("workspace_before.zip")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    database = sqlite3.connect(tmp_path / ".benchwright" / "benchwright.db")
    database.executescript((tmp_path / "workspace.sql").read_text(encoding="utf-8"))
    columns = [column[1] for column in database.execute("PRAGMA table_info(runs)")]
    for number, *values in database.execute("SELECT rowid, * FROM runs").fetchall():
        assigned = ", ".join(f"{column} = ?" for column in columns)
        here = [_here(value, tmp_path) for value in values]
        database.execute(f"UPDATE runs SET {assigned} WHERE rowid = ?", (*here, number))
    database.commit()
    database.close()
    (tmp_path / "workspace.sql").unlink()
    return tmp_path


def _here(value: object, folder: Path) -> object:
    """The value with this folder, interpreter and machine in the places of those that made it."""
    if isinstance(value, bytes):
        return str(_here(value.decode(), folder)).encode()
    if not isinstance(value, str):
        return value
    placed = value.replace("@FOLDER@", str(folder)).replace("@PYTHON@", sys.executable)
    return placed.replace("@HOST@", platform.node())


def benchwright(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "benchwright", *words]
    done = warm.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def told(folder: Path, *words: str) -> Any:
    return json.loads(benchwright(folder, *words, "--json"))


def test_its_runs_are_listed_with_what_they_recorded(folder: Path) -> None:
    runs = {run["id"]: run for run in told(folder, "list")["runs"]}
    assert [(n, runs[n]["name"], runs[n]["status"]) for n in sorted(runs)] == [
        (1, "sums", "completed"),
        (2, "sums", "interrupted"),
        (3, "doubling", "completed"),
        (4, "doubling", "interrupted"),
    ]
    assert "0.667" in benchwright(folder, "list")


def test_a_completed_run_is_shown_with_its_samples(folder: Path) -> None:
    shown = told(folder, "show", "1")
    assert shown["summary"]["metrics"]["correct"]["value"] == pytest.approx(8 / 12)
    assert shown["summary"]["outcomes"]["scored"] == 12
    assert "What is 11 + 12?" in benchwright(folder, "show", "1", "11")


def test_an_interrupted_run_resumes_and_asks_only_what_is_missing(folder: Path) -> None:
    resumed = told(folder, "resume", "2")["results"][0]
    assert resumed["requests_sent"] == 7, "five of twelve were recorded"
    assert resumed["summary"]["outcomes"]["scored"] == 12
    compared = told(folder, "compare", "1", "2")
    paired = compared["metrics"][0]["paired"]
    assert (paired["pairs"], paired["ties"], compared["differs"]) == (12, 12, False)


def test_a_completed_run_is_scored_again_without_a_request(folder: Path) -> None:
    rescored = told(folder, "rescore", "1")["results"][0]
    assert rescored["requests_sent"] == 0
    assert rescored["summary"]["metrics"]["correct"]["value"] == pytest.approx(8 / 12)
    assert rescored["run_id"] == 5


def test_a_completed_run_is_exported_as_its_own_version_did(folder: Path) -> None:
    samples = [json.loads(line) for line in benchwright(folder, "export", "1", "-o", "-").splitlines()]
    written = pq.read_table(folder / ".benchwright" / "runs" / "0001-sums" / "samples.parquet").to_pylist()
    assert [sample["prediction"] for sample in samples] == [row["response"] for row in written]


def test_an_old_reply_is_found_in_the_cache(folder: Path) -> None:
    again = told(folder, "run", "sums.py")["results"][0]
    assert again["requests_sent"] == 0
    assert again["summary"]["metrics"]["correct"]["value"] == pytest.approx(8 / 12)


def test_a_completed_workflow_is_shown_and_an_interrupted_one_resumes(folder: Path) -> None:
    assert "30" in benchwright(folder, "show", "3")
    benchwright(folder, "resume", "4")
    steps = told(folder, "show", "4")
    assert steps["run"]["status"] == "completed"
    assert steps["run"]["output"] == {"total": 30}
