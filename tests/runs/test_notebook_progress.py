"""Progress in a notebook: one line per run, replaced as the run goes on, and nothing elsewhere."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from benchwright import run
from benchwright.runs import _notebook
from benchwright.runs._notebook import NotebookWatcher, notebook_watcher


class Shown:
    """Stands in for a notebook: what each of its outputs has shown."""

    def __init__(self) -> None:
        self.outputs: list[list[str]] = []

    def display(self, content: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        lines = [content["text/plain"]]
        self.outputs.append(lines)
        return SimpleNamespace(update=lambda new, raw: lines.append(new["text/plain"]))


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Shown:
    found = Shown()
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display.display = found.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(_notebook, "EVERY_S", 0.0)
    return found


def test_a_run_shows_one_line_that_ends_with_all_samples(
    notebook: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quiz.csv").write_text("question,answer\n" + "".join(f"{n}+1?,{n + 1}\n" for n in range(40)))
    run("quiz.csv", model="demo")
    (lines,) = notebook.outputs
    assert lines[-1].startswith("quiz: 40 of 40 samples")
    assert len(lines) > 1


def test_elsewhere_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert notebook_watcher() is None
    terminal = ModuleType("IPython")
    terminal.get_ipython = lambda: SimpleNamespace()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", terminal)
    assert notebook_watcher() is None


def test_lines_come_now_and_then(notebook: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchwright.engine import Progress

    monkeypatch.setattr(_notebook, "EVERY_S", 1000.0)
    watcher, progress = NotebookWatcher(), Progress("quiz")
    for _ in range(100):
        watcher.show(progress)
    progress.phase, progress.total, progress.done, progress.failed = "done", 3, 3, 1
    watcher.show(progress)
    assert notebook.outputs == [["quiz: checking", "quiz: 3 of 3 samples, 1 failed, done"]]


def test_examples_hold() -> None:
    assert doctest.testmod(_notebook).failed == 0
