"""What is no benchmark at all is refused with a word on what is expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright import check, run
from benchwright.cli import main
from benchwright.core import UsageError


@pytest.mark.parametrize("target", [5, None, [], ["bench.py"], b"bench.py", {"name": "x"}, 0.5])
@pytest.mark.parametrize("function", [run, check], ids=["run", "check"])
def test_values_of_other_types_are_refused(function: Any, target: object) -> None:
    with pytest.raises(UsageError, match=r"names no benchmark; expected a file \(bench\.py") as caught:
        function(target)
    assert repr(target) in str(caught.value)
    assert type(target).__name__ in str(caught.value)


@pytest.mark.parametrize("target", ["", "  ", "\n"])
@pytest.mark.parametrize("function", [run, check], ids=["run", "check"])
def test_an_empty_text_is_refused(function: Any, target: str) -> None:
    with pytest.raises(UsageError, match=r"an empty text names no benchmark; expected a file"):
        function(target)


@pytest.mark.parametrize("command", ["run", "check"])
def test_an_empty_word_is_wrong_usage(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([command, ""]) == 2
    assert "names no benchmark; expected a file" in capsys.readouterr().err
