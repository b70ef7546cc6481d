"""One fixture over drivers: a test of the store that asks for `store` or `workspace` runs on each of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from backends import BACKENDS

from benchwright.store import Store, Workspace, open_store
from benchwright.store._drivers.sqlite_memory import SqliteMemory


@pytest.fixture(params=BACKENDS)
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace in `tmp_path` without records."""
    workspace = BACKENDS[request.param](tmp_path)
    yield workspace
    SqliteMemory.forget(workspace.store_url)


@pytest.fixture
def store(workspace: Workspace) -> Iterator[Store]:
    """Its store."""
    with open_store(workspace) as opened:
        yield opened
