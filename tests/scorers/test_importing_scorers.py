"""Importing the rooms stays cheap."""

from __future__ import annotations

import subprocess
import sys


def test_import_leaves_heavy_packages_alone() -> None:
    code = "import sys, benchwright.scorers, benchwright.stats; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"rapidfuzz", "sacrebleu", "numpy", "statistics", "asyncio", "pyarrow"} & set(loaded)
