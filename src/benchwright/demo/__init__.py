"""The embedded demo model: a deterministic stand-in, in process and over HTTP. Never a real model."""

from benchwright.core import lazy_front

# Loaded on first use: the model compiles many expressions (20 ms), which a run on a server does not need.
__getattr__, __all__ = lazy_front(__name__, __file__)
