"""Discovery of what installed packages bring. Knows nothing of what a plugin is for."""

from benchwright.plugins._discovery import (
    BrokenPlugin,
    LoadedPlugin,
    PluginEntry,
    find_plugins,
    load_plugin,
    load_plugins,
)

__all__ = [
    "BrokenPlugin",
    "LoadedPlugin",
    "PluginEntry",
    "find_plugins",
    "load_plugin",
    "load_plugins",
]
