"""The request pipeline: small steps between a run and its model, in this process.

Files describe it under `pipeline` (or `adapter_config`); in Python, `run(…, pipeline=[SystemMessage("Be brief.")])` takes
the classes of this module, and objects of your own that implement `Step`.
"""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
