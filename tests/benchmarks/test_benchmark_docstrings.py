"""Examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = [
    "benchmarks._missing_fields",
    "benchmarks._scoring",
    "benchmarks._template",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"benchwright.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
