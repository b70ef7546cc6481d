"""One run of a benchmark: from a target and options to a plan, a job and a result; resumed or scored again."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
