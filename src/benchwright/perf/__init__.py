"""Load tests: schedules and sends requests, records and summarises them, and checks that the client kept up."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
