"""Statuses, outcomes, routes and model types: declared once, and no other file has a list of them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

import benchwright
from benchwright.core import (
    MODEL_TYPES,
    ROUTE_PATHS,
    RUN_STATUSES,
    BenchwrightError,
    ModelType,
    Outcome,
    Route,
    RunStatus,
    StepStatus,
    known_run_status,
)

PACKAGE = Path(benchwright.__file__).parent


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (RUN_STATUSES, RunStatus),
        ([name for name, status in RUN_STATUSES.items() if status.of_steps], StepStatus),
        (ROUTE_PATHS, Route),
        (MODEL_TYPES, ModelType),
    ],
    ids=["runs", "steps", "routes", "model types"],
)
def test_the_table_has_every_word_of_the_type(table: dict[str, object], words: object) -> None:
    assert set(table) == set(get_args(words))


def test_what_the_statuses_mean() -> None:
    assert {name for name, status in RUN_STATUSES.items() if status.live} == {"queued", "running"}
    assert {name for name, status in RUN_STATUSES.items() if status.final} == {
        "completed",
        "failed",
        "canceled",
    }
    assert {name for name, status in RUN_STATUSES.items() if status.troubled} == {"failed", "interrupted"}
    assert {o.value for o in Outcome if not o.has_reply} == {"request_failed", "skipped"}
    assert not [name for name, status in RUN_STATUSES.items() if status.live and status.final]


def test_words_of_newer_versions_are_named() -> None:
    with pytest.raises(BenchwrightError, match=r"run 7 .*status 'paused'.*newer benchwright.*upgrade"):
        known_run_status("paused", 7)
    with pytest.raises(BenchwrightError, match=r"outcome 'postponed'.*newer benchwright.*upgrade"):
        Outcome("postponed")


VOCABULARIES = [set(RUN_STATUSES), {outcome.value for outcome in Outcome}, set(MODEL_TYPES)]


@pytest.mark.parametrize("room", sorted(p.parent.name for p in PACKAGE.glob("*/__init__.py")))
def test_no_other_file_lists_the_words(room: str) -> None:
    """A word that is added in one place must be enough, so three words of one vocabulary are one list too many."""
    home = {PACKAGE / "core" / name for name in ("_statuses.py", "_requests.py", "_wire_formats.py")}
    found = []
    for path in (PACKAGE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words = set(constants(node))
            if path not in home and any(len(words & known) > 2 for known in VOCABULARIES):
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")  # type: ignore[attr-defined]
    assert not found, f"derive these from benchwright.core: {', '.join(found)}"


def constants(node: ast.AST) -> list[str]:
    """The texts in a list, set, tuple or `Literal`, or the keys of a dictionary."""
    entries: list[ast.expr | None] = []
    if isinstance(node, ast.List | ast.Set | ast.Tuple):
        entries = list(node.elts)
    elif isinstance(node, ast.Dict):
        entries = list(node.keys)
    return [
        entry.value for entry in entries if isinstance(entry, ast.Constant) and isinstance(entry.value, str)
    ]
