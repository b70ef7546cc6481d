"""Plugins of installed packages: the extension points, and the look-up of entries by name.

It knows nothing about scorers, sources and so on: the package that uses a kind of plugin checks its entries.
"""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
