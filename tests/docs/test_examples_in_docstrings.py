"""Every example in a docstring of the package is true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import benchwright

ROOT = Path(benchwright.__file__).parent
MODULES = sorted(
    ".".join(("benchwright", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for file in ROOT.rglob("*.py")
    if ">>> " in file.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
