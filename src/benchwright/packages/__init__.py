"""Makes installable packages of benchmarks: the files of a module, its wheel, its installation, and its container image."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
