"""The examples in the doc strings run, and importing the rooms stays cheap."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import benchwright.scorers
import benchwright.stats

MODULES = [
    module.name
    for room in (benchwright.scorers, benchwright.stats)
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_import_leaves_heavy_packages_alone() -> None:
    code = "import sys, benchwright.scorers, benchwright.stats; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"rapidfuzz", "sacrebleu", "numpy", "statistics", "asyncio", "pyarrow"} & set(loaded)
