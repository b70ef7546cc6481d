"""Means, spreads and intervals of scores. Numbers in, numbers out; no disk, no clock."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
