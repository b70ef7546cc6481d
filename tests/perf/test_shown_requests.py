"""Single requests of a load test, as `show` lists and prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright import perf
from benchwright.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = "".join(f"{n}+{n}=,{2 * n}\n" for n in range(20))
    (tmp_path / "qa.csv").write_text("question,answer\n" + rows, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "200")  # no cell is broken
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["show", "last", *arguments]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_wrong_replies_of_a_scored_test_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = perf("qa.csv", score=True, concurrency=1, requests=20)
    wrong = 20 - round(20 * result.summary.stages[0].scores["normalised_exact"].mean)
    assert 0 < wrong < 20
    assert shown(capsys, "--wrong").count("normalised_exact 0, …") == wrong
    right = shown(capsys, "--where", "normalised_exact>0.5")
    assert (right.count("normalised_exact 1, …"), right.count("normalised_exact 0")) == (20 - wrong, 0)
    assert shown(capsys, "--unparsed") == "no request is like that"


def test_one_request_is_printed_in_plain_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    perf("qa.csv", score=True, concurrency=1, requests=2)
    text = shown(capsys, "1")
    assert text.startswith("request 1, stage 0: ok")
    for words in ("row 1 of qa.csv", "reply", "finish reason stop", "first token after", "normalised_exact "):
        assert words in text
    assert '{"s"' not in text
    assert "{'" not in text
    assert "arrivals" not in text


def test_what_an_unscored_test_cannot_list_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    perf("qa.csv", concurrency=1, requests=2)
    for flags in (["--wrong"], ["--text", "4"], ["--where", "f1<1"]):
        assert main(["show", "last", *flags]) == 2
        assert "without --score: its replies were neither kept nor scored" in capsys.readouterr().err
    assert "not kept; load tests keep replies with --score" in shown(capsys, "0")
