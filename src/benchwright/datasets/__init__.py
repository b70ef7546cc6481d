"""Reads users' data: files, URIs and Python sources become streams of rows, each with the line it came from.

It knows nothing of prompts, models or scores. `open_dataset` returns a reader that streams in bounded memory and can be
read any number of times; `load_dataset` returns a plain list. Bad rows are reported with file and line, never repaired
silently.
"""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
