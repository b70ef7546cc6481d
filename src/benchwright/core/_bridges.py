"""The bridges to foreign formats: the one table through which the package reaches them.

No room imports the room `bridges`; what reads or writes a foreign format asks for its row here, and the module is loaded then.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from msgspec import Struct


class Bridge(Struct, frozen=True):
    """One foreign format."""

    name: str
    """What the format is asked for by; where users choose it, what they type."""
    does: str
    """Which files it reads or writes."""
    module: str
    """The module in `bridges`."""


BRIDGES = (
    Bridge("launcher", "reads configurations of NeMo Evaluator's launcher, with several tasks", "_launcher"),
    Bridge("run_eval", "writes the files that NeMo Evaluator adds to the folder of a run", "_eval_folder"),
    Bridge("aisbench entries", "reads models and datasets as AISBench writes them", "_aisbench_entries"),
    Bridge(
        "aisbench", "writes the files of a load test with the names and forms of AISBench", "_aisbench_load"
    ),
)
"""All bridges."""


def bridge(name: str) -> Any:
    """Load the module of a bridge. Any: each kind of format has its own functions, which its callers know."""
    (found,) = (row for row in BRIDGES if row.name == name)
    return import_module(f"benchwright.bridges.{found.module}")
