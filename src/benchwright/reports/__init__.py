"""Turns recorded runs into views, and shows views on the terminal, as HTML and as files. It reads the store and never
calls a model."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
