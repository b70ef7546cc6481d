"""Benchmarks: how users define them, how rows become prompts and requests, and what can be checked beforehand.

This room only describes: it calls no model. The engine runs what it defines.
"""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
