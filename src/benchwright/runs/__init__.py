"""Runs of benchmarks: turns a target and options into a plan, a job and a result; resumes runs and scores them again."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
