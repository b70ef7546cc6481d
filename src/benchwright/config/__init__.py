"""Configuration: `benchwright.toml`, suites, run configurations, and the settings that files and command line share."""

from benchwright.core import lazy_front

__getattr__, __all__ = lazy_front(__name__, __file__)
