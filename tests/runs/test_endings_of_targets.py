"""What a file may be follows from its ending alone, in one place: a new format of data changes it everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.benchmarks import written_as
from benchwright.config import SUITE_SUFFIXES
from benchwright.core import DATA_FORMATS, _data_names
from benchwright.runs import Suite, list_evaluations, resolve
from benchwright.runs._resolve import Questions
from benchwright.runs._targets import find_targets

SUITE = {"models": ["demo"], "datasets": [{"path": "quiz.csv"}]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "quiz.csv").write_text("question,answer\n1 + 1?,2\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rows_in_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """A format of data whose files end as suites do."""
    format_ = next(each for each in DATA_FORMATS if each.name == "json")
    monkeypatch.setitem(_data_names._BY_ENDING, "yaml", format_)
    monkeypatch.setitem(_data_names._CERTAIN, "yaml", format_)


@pytest.mark.parametrize("suffix", SUITE_SUFFIXES)
def test_every_ending_of_suites_reads_a_suite(suffix: str, folder: Path) -> None:
    text = {
        ".toml": 'models = ["demo"]\ndatasets = [{path = "quiz.csv"}]\n',
        ".py": 'models = ["demo"]\ndatasets = [{"path": "quiz.csv"}]\n',
    }.get(suffix, json.dumps(SUITE))
    (folder / f"suite{suffix}").write_text(text, encoding="utf-8")
    assert isinstance(resolve(f"suite{suffix}"), Suite)
    shared = suffix in (".py", ".json")  # benchmarks, and rows
    assert (written_as(f"suite{suffix}") == "suite") is not shared


def test_an_ending_that_data_gets_may_be_either(folder: Path, rows_in_yaml: None) -> None:
    (folder / "suite.yaml").write_text(json.dumps(SUITE), encoding="utf-8")
    (folder / "rows.yaml").write_text('[{"question": "1 + 1?", "answer": "2"}]', encoding="utf-8")
    assert written_as("rows.yaml") == "questions"
    assert written_as("rows.yaml") != "suite"
    assert isinstance(resolve("suite.yaml"), Suite)
    assert isinstance(resolve("rows.yaml"), Questions)
    assert find_targets("rows.yaml", None, folder)[0].spec.key == "rows"
    assert "rows.yaml" in {each.name for each in list_evaluations(folder)}
