"""Evaluate language-model endpoints on data and benchmarks you bring yourself.

>>> from benchwright import benchmark, scorer, ScorerInput

The package exports what you type in a benchmark, a workflow, a suite or a notebook, and the errors that you catch.
"""

from __future__ import annotations

import sys
from types import ModuleType


def __getattr__(name: str) -> object:
    """Read `__init__.pyi`, the list of names, when the first one is used: `--help` uses none and stays fast."""
    from benchwright.core import VERSION, lazy_front

    load, names = lazy_front(__name__, __file__)
    globals().update(__getattr__=load, __all__=names, __version__=VERSION)
    return globals()[name] if name in ("__all__", "__version__") else load(name)


class _Package(ModuleType):
    """This package. `perf` is both a subpackage and a function. Users mean the function, so importing the subpackage
    must not replace it."""

    @property
    def perf(self) -> object:
        from benchwright.runs import perf

        return perf

    @perf.setter
    def perf(self, package: object) -> None:
        pass


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted([*sys.modules[__name__].__all__, "__version__"])
