"""Function-calling evaluation: the public categories, a team's own datasets, simulated environments and scores."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
