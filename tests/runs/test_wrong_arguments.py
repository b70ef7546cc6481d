"""An argument of the wrong type is refused before anything is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright import ScriptedEndpoint, check, compare, rescore, resume, run
from benchwright.core import NotFoundError, UsageError
from benchwright.store import find_workspace, open_existing


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mc.csv").write_text("question,A,B,answer\n1+1=,1,2,B\n2+2=,4,5,A\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def list_runs() -> list[Any]:
    store = open_existing(find_workspace(Path.cwd(), None, to_read=True))
    if store is None:
        return []
    with store:
        return list(store.runs())


ENDPOINTS = [("endpoint", "demo"), ("endpoint", 3), ("endpoint", ScriptedEndpoint), ("endpoint", object())]
WATCHERS = [("watcher", "me"), ("watcher", 3), ("watcher", print)]
TARGETS = [("target", 3), ("target", ["mc.csv"])]
CALLS: list[tuple[Any, str | int, list[tuple[str, Any]]]] = [
    (run, "mc.csv", [*ENDPOINTS, *WATCHERS, ("finished", "x"), ("finished", 3)]),
    (resume, 1, [*ENDPOINTS, *WATCHERS, *TARGETS, ("overrides", 3)]),
    (rescore, 1, [*WATCHERS, *TARGETS]),
]


@pytest.mark.parametrize(
    ("function", "first", "name", "value"),
    [
        pytest.param(function, first, name, value, id=f"{function.__name__}-{name}-{number}")
        for function, first, wrong in CALLS
        for number, (name, value) in enumerate(wrong)
    ],
)
def test_a_keyword_of_the_wrong_type_is_refused(function: Any, first: Any, name: str, value: Any) -> None:
    if function is not run:
        run("mc.csv")
    before = len(list_runs())
    with pytest.raises(UsageError, match=rf"^{function.__name__}\(\): {name} is .*; expected "):
        function(first, **{name: value})
    assert len(list_runs()) == before


@pytest.mark.parametrize("options", [3, "demo", {"limit": 1}, [], 0])
@pytest.mark.parametrize("function", [run, check, rescore])
def test_options_of_the_wrong_type_are_refused(function: Any, options: Any) -> None:
    run("mc.csv")
    with pytest.raises(UsageError, match=r"\(\): options is .*; expected RunOptions"):
        function(1 if function is rescore else "mc.csv", options)
    assert len(list_runs()) == 1


@pytest.mark.parametrize("wrong", [None, 0.5, [1], True, {}])
def test_what_names_no_run_is_refused(wrong: Any) -> None:
    run("mc.csv")
    for call in (
        lambda: resume(wrong),
        lambda: rescore(wrong),
        lambda: compare(wrong, 1),
        lambda: compare(1, wrong),
    ):
        with pytest.raises(UsageError, match="expected the number, name or folder of a run"):
            call()


def test_a_name_without_its_ending_is_answered_with_the_file() -> None:
    with pytest.raises(NotFoundError, match=r"'mc'\. Did you mean 'mc\.csv'\?"):
        run("mc")
