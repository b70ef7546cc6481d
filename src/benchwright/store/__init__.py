"""The workspace database: runs, durable steps, metrics, events. Tables of steps carry resume, cache and replay."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
