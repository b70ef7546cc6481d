"""The front that Python users see: what the commands do, as functions."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
