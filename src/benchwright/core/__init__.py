"""Values that every part of the package uses. Imports no other part of the package, and reads no files but those of
runs, through `Artifacts`, and the metadata of installed packages, in which it looks for plugins."""

from benchwright.core._fronts import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
