"""What installed packages add: the extension points, and the look-up of entries by name.

Knows nothing about scorers, sources and the rest: the room that uses a kind of plugin checks its entries.
"""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
