"""Runs benchmarks: durable calls, scoring, resuming, budgets, progress."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
