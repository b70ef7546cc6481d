"""Runs of every kind, from a target and options to a result, and the functions that Python users call: `run`, `check`,
`resume`, `rescore`, `perf`, `compare`, `gate` and lists. Suites are in `_suites`."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
