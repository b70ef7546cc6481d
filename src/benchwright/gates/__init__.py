"""Gates: judge a recorded run by a policy as GO, NO-GO or INCONCLUSIVE. Baselines by name and as portable files."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
