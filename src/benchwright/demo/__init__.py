"""The embedded demo model: a deterministic substitute for a real model, in process and over HTTP."""

from benchwright.core import lazy_front

# Loaded on first use: the model compiles many regular expressions (20 ms), which a run on a server does not need.
__getattr__, __all__ = lazy_front(__name__, __file__)
