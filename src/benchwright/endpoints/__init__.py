"""Endpoints: models behind one `send` method. HTTP servers and scripts are here; the demo model is in `demo`."""

from benchwright.core import lazy_front

# Loaded on first use: a limiter needs an event loop, which `--help` does not, and only ranking needs echoes and
# likelihoods.
__getattr__, __all__ = lazy_front(__name__, __file__)
