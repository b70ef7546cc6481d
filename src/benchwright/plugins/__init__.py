"""What installed packages add: the extension points, and the look-up of entries by name.

Knows nothing about scorers, sources and the rest: the room that uses a kind of plugin checks its entries.
"""

from benchwright.plugins._discovery import BrokenPlugin, LoadedPlugin, PluginEntry, find_plugins, load_plugin
from benchwright.plugins._points import EXTENSION_POINTS, ExtensionPoint, extension_point
from benchwright.plugins._registry import InstalledPlugin, Registry, check_function

__all__ = [
    "EXTENSION_POINTS",
    "BrokenPlugin",
    "ExtensionPoint",
    "InstalledPlugin",
    "LoadedPlugin",
    "PluginEntry",
    "Registry",
    "check_function",
    "extension_point",
    "find_plugins",
    "load_plugin",
]
