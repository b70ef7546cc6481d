"""The drivers that the tests of the store run on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchwright.core import step_key
from benchwright.store import Workspace
from benchwright.store._statements.marks import forget_sample, lower_marks
from postgres_server import shared_server

BACKENDS: dict[str, Callable[[Path], Workspace]] = {
    "sqlite": Workspace,
    "memory": lambda folder: Workspace(folder, url=f"memory://{folder}"),
    "postgresql": lambda folder: Workspace(
        folder, url=shared_server().url("t" + hashlib.sha256(str(folder).encode()).hexdigest()[:20])
    ),
}
"""By name: an empty workspace in a folder."""

sqlite_only = pytest.mark.parametrize("workspace", ["sqlite"], indirect=True)
"""For a test of files, of other processes, or of damage."""


def forget_samples(
    store: Any,
    run_id: int,
    samples: Sequence[tuple[int, int]],
    kinds: Sequence[str] = ("call", "judge", "score"),
) -> None:
    """Delete steps of (index, repeat) pairs, as if the run had ended before it recorded them."""
    with store._transaction() as connection:
        for index, repeat in samples:
            forget_sample(connection, run_id, step_key("score", index, repeat), kinds)
        lower_marks(connection)
