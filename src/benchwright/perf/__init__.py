"""Load tests: when requests are sent, what came of each, and whether the client kept up."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
