"""Suites: pairs of a model and a dataset, read from a file or a command line, checked, run and compared."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
