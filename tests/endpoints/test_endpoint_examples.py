"""The examples in this room's documentation run, and entering the room is cheap."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import benchwright.endpoints

MODULES = sorted(path.stem for path in Path(benchwright.endpoints.__file__).parent.glob("_[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    module = importlib.import_module(f"benchwright.endpoints.{name}")
    assert doctest.testmod(module).failed == 0


def test_entering_the_room_loads_nothing_heavy() -> None:
    code = "import sys, benchwright.endpoints; print(*[m for m in ('asyncio', 'pyreqwest', 'ssl') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == ""
