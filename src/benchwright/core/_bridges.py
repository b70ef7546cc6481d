"""The bridges to foreign formats: the one table through which the package reaches them.

No room imports the room `bridges`; what reads or writes a foreign format asks for its row here, and the module is loaded then.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

BRIDGES = {
    # reads configurations of NeMo Evaluator's launcher, with several tasks
    "launcher": "_launcher",
    # writes the files that NeMo Evaluator adds to the folder of a run
    "run_eval": "_eval_folder",
    # reads models and datasets as AISBench writes them
    "aisbench entries": "_aisbench_entries",
    # writes the files of a load test with the names and forms of AISBench
    "aisbench": "_aisbench_load",
}
"""The module in `bridges` of each foreign format, by the name that it is asked for by; where users choose it, what they type."""


def bridge(name: str) -> Any:
    """Load the module of a bridge. Any: each kind of format has its own functions, which its callers know."""
    return import_module(f"benchwright.bridges.{BRIDGES[name]}")
