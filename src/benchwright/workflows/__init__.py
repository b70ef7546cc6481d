"""Durable workflows: their steps, datasets and model calls, the clients that record them, and programs as runs."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
