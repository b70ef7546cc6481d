"""Single requests of a load test, as `show` lists and prints them."""

from __future__ import annotations

import json
import re
import shlex
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
    assert shown(capsys, "--unparsed") == "No requests match."


def test_one_request_is_printed_in_plain_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    perf("qa.csv", score=True, concurrency=1, requests=2)
    text = shown(capsys, "1")
    assert text.startswith("request 1, stage 0: ok")
    for words in ("row 1 of qa.csv", "reply", "finish reason stop", "first token after", "normalised_exact "):
        assert words in text
    assert '{"s"' not in text
    assert "{'" not in text
    assert "arrivals" not in text


@pytest.mark.parametrize(
    "flags", [[], ["--template=- {question}\n{answer}", "--system=-{x}"], ["--input-columns=question"]]
)
def test_the_prompt_is_named_by_its_row_with_the_command_that_shows_it(
    folder: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    assert main(["perf", "qa.csv", "--concurrency=1", "--requests=5", *flags]) == 0
    capsys.readouterr()
    assert main(["show", "last", "3"]) == 0
    text = capsys.readouterr().out
    assert "not recorded by load tests; it was made from row 3 of qa.csv, counted from 0. To see it:" in text
    command = shlex.split(text.partition("To see it:\n")[2].partition("sent ──")[0])
    assert command[0] == "benchwright"
    assert main([*command[1:], "--json"]) == 0
    (sample,) = json.loads(capsys.readouterr().out)["checks"][0]["samples"]
    (request,) = sample["requests"]
    assert "3+3=" in request["body"]["messages"][-1]["content"]
    assert ("- 3+3=" in request["body"]["messages"][-1]["content"]) == (len(flags) == 2)
    assert [m["content"] for m in request["body"]["messages"][:-1]] == (["-{x}"] if len(flags) == 2 else [])
    assert main(["show", "last", "3", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["data"], shown["requests"][0]["row"]) == ("qa.csv", 3)


def test_a_prompt_without_a_file_of_questions_is_named_by_its_row_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["perf", "--synthetic", "input=8,output=2", "--concurrency=1", "--requests=2"]) == 0
    capsys.readouterr()
    text = shown(capsys, "1")
    assert "it was made from row 1 of synthetic, counted from 0 sent" in re.sub("─+ ?", "", text)


def test_what_an_unscored_test_cannot_list_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    perf("qa.csv", concurrency=1, requests=2)
    for flags in (["--wrong"], ["--text", "4"], ["--where", "f1<1"]):
        assert main(["show", "last", *flags]) == 2
        assert "without --score: its replies were neither kept nor scored" in capsys.readouterr().err
    assert "not kept; load tests keep replies with --score" in shown(capsys, "0")
