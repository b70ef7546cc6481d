"""Names for things that can be extended: one generic registry and the discovery of installed plugins.

Knows nothing of what is registered; each room that can be extended owns a `Registry` of its own kind.
"""

from benchwright.plugins._discovery import (
    BrokenPlugin,
    LoadedPlugin,
    PluginEntry,
    find_plugins,
    load_plugin,
    load_plugins,
)
from benchwright.plugins._registry import PluginError, Registry

__all__ = [
    "BrokenPlugin",
    "LoadedPlugin",
    "PluginEntry",
    "PluginError",
    "Registry",
    "find_plugins",
    "load_plugin",
    "load_plugins",
]
