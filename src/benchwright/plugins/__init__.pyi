from benchwright.plugins._discovery import (
    BrokenPlugin as BrokenPlugin,
)
from benchwright.plugins._discovery import (
    LoadedPlugin as LoadedPlugin,
)
from benchwright.plugins._discovery import (
    PluginEntry as PluginEntry,
)
from benchwright.plugins._discovery import (
    find_plugins as find_plugins,
)
from benchwright.plugins._discovery import (
    load_plugin as load_plugin,
)
from benchwright.plugins._points import (
    EXTENSION_POINTS as EXTENSION_POINTS,
)
from benchwright.plugins._points import (
    ExtensionPoint as ExtensionPoint,
)
from benchwright.plugins._points import (
    extension_point as extension_point,
)
from benchwright.plugins._registry import (
    InstalledPlugin as InstalledPlugin,
)
from benchwright.plugins._registry import (
    Registry as Registry,
)
from benchwright.plugins._registry import (
    check_function as check_function,
)
