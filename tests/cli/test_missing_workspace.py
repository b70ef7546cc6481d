"""Commands that look at runs say so when the named workspace is not there, and make nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright import compare
from benchwright.cli import main
from benchwright.core import NotFoundError

LOOKING = [
    ["list"],
    ["show", "last"],
    ["export", "last"],
    ["compare", "1", "2"],
    ["resume", "1"],
    ["rescore", "1"],
    ["rm", "1"],
    ["cancel", "1"],
]


@pytest.mark.parametrize("words", LOOKING, ids=lambda words: words[0])
def test_a_named_workspace_that_is_not_there_is_an_error(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--workspace", "no/such"]) == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    assert (
        "error: the workspace no/such is not there. Name the folder that contains .benchwright/" in shown.err
    )
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_workspace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("", encoding="utf-8")
    assert main(["list", "--workspace", str(file)]) == 4
    assert "is not a folder" in capsys.readouterr().err
    with pytest.raises(NotFoundError, match="is not a folder"):
        compare(1, 2, workspace=file)


def test_a_folder_without_runs_is_merely_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--workspace", str(tmp_path)]) == 0
    assert "no runs yet" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("link", "wrong"), [(False, "is a file"), (True, "is a link to gone, which is not there")]
)
def test_a_state_folder_that_is_none_does_not_pass_for_an_empty_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    link: bool,
    wrong: str,
) -> None:
    state = tmp_path / ".benchwright"
    state.symlink_to("gone") if link else state.touch()
    monkeypatch.chdir(tmp_path)
    for words in (["list"], ["list", "--workspace", "."], ["show", "last"]):
        assert main(words) == 2
        shown = capsys.readouterr()
        assert f"{state} {wrong}" in shown.err
        assert "no runs yet" not in shown.out
