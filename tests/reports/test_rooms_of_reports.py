"""Renderers take views and never the store; pages are part of the package, and no library that draws is loaded before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import benchwright.reports

REPORTS = Path(benchwright.reports.__file__).parent


@pytest.mark.parametrize("folder", ["terminal", "pages", "files"])
def test_renderers_never_see_the_store(folder: str) -> None:
    wrong = [
        f"{path.relative_to(REPORTS)}:{node.lineno}"
        for path in (REPORTS / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("benchwright.store")
    ]
    assert not wrong, f"take a view instead: {', '.join(wrong)}"


def test_results_print_nothing() -> None:
    """They do not know who shows them: no library that draws, nothing on standard output."""
    wrong = []
    for path in (REPORTS.parent / "results").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            drawn = isinstance(node, ast.ImportFrom) and str(node.module).startswith(("rich", "jinja2"))
            if drawn or (isinstance(node, ast.Name) and node.id == "print"):
                wrong.append(f"{path.relative_to(REPORTS.parent)}:{node.lineno}")  # type: ignore[attr-defined]
    assert not wrong, f"make a value, and draw it in reports: {', '.join(wrong)}"


def test_reports_compute_nothing() -> None:
    """Of statistics they know the values, which they show, and no function."""
    from benchwright import stats

    asked = [
        f"{path.relative_to(REPORTS)}: {name.name}"
        for path in REPORTS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "benchwright.stats"
        for name in node.names
        if not isinstance(getattr(stats, name.name), type)
    ]
    assert not asked, "compute it in results, and show the value"


def test_rich_is_loaded_only_for_a_terminal() -> None:
    code = "import sys, benchwright.reports; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
