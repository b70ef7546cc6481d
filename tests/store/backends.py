"""The backends that the tests of the store run on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchwright.store import Workspace

BACKENDS: dict[str, Callable[[Path], Workspace]] = {"sqlite": Workspace}
"""By name: an empty workspace in a folder."""

sqlite_only = pytest.mark.parametrize("workspace", ["sqlite"], indirect=True)
"""For a test that looks into the SQLite file itself."""
