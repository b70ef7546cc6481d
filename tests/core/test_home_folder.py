"""Paths that begin with `~`, on machines where such a user or any home folder is missing."""

from __future__ import annotations

import pwd
from pathlib import Path

import pytest

from benchwright.cli import main
from benchwright.core import expand_home


def no_user(_: object) -> None:
    raise KeyError


def test_a_leading_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (expand_home("~/a b"), expand_home(Path("~"))) == (tmp_path / "a b", tmp_path)
    assert expand_home("a~b") == Path("a~b")


def test_without_a_home_folder_a_tilde_is_a_part_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", no_user)
    monkeypatch.setattr(pwd, "getpwnam", no_user)
    assert (expand_home("~/x"), expand_home("~me/x")) == (Path("~/x"), Path("~me/x"))


@pytest.mark.parametrize("home", [True, False], ids=["with a home", "without"])
def test_a_run_needs_no_home_folder_and_takes_a_tilde_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    if not home:
        monkeypatch.delenv("HOME")
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        monkeypatch.setattr(pwd, "getpwuid", no_user)
    Path("~data.csv").write_text("question,answer\n1+1=,2\n", encoding="utf-8")
    assert main(["run", "~data.csv", "--output-dir", "~no_such_user", "-q"]) == 0
    assert Path("~no_such_user", "results.yml").is_file()
