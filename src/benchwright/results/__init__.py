"""Recorded runs as values: runs and their samples, comparisons, gates, calibrations. It reads the store and the files of runs,
prints nothing, and does not know who shows its values."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
