"""Function-calling evaluation: the published categories, custom datasets, simulated environments and scores."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
