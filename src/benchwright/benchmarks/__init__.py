"""Benchmarks: how users define them, how rows become prompts and requests, and what can be checked beforehand.

Describes and never performs: no model is called here. The engine runs what this room defines.
"""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
