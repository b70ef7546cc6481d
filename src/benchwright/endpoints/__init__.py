"""Models with one method: HTTP servers and scripts; the demo model of the room `demo` is opened by its settings."""

from benchwright.core import lazy_front

# Loaded on first use: a limiter needs an event loop, which `--help` does not, and only ranking reads echoes and
# likelihoods.
__getattr__, __all__ = lazy_front(__name__, __file__)
