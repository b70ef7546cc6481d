"""The functions for Python users: each does what a command does."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
