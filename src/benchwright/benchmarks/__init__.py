"""Benchmarks: defines them, turns rows into prompts and requests, and checks them before a run.

This package calls no model; the engine runs what it defines.
"""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
