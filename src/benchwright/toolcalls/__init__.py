"""Function calls: reads them from replies, checks them, and describes functions to a model. No I/O."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
