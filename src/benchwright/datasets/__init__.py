"""Users' data: files, URIs and Python sources become streams of rows, each with the line it came from.

Knows nothing of prompts, models or scores. `open_dataset` gives a reader that streams in bounded memory and
can be read again and again; `load_dataset` gives a plain list. Whatever is wrong with a row is reported with
file and line, never repaired silently.
"""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
