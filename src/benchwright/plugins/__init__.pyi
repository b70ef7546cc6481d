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
    BrokenPlugin as BrokenPlugin,
)
from benchwright.plugins._registry import (
    InstalledPlugin as InstalledPlugin,
)
from benchwright.plugins._registry import (
    LoadedPlugin as LoadedPlugin,
)
from benchwright.plugins._registry import (
    PluginEntry as PluginEntry,
)
from benchwright.plugins._registry import (
    Registry as Registry,
)
from benchwright.plugins._registry import (
    check_function as check_function,
)
from benchwright.plugins._registry import (
    find_plugins as find_plugins,
)
from benchwright.plugins._registry import (
    load_plugin as load_plugin,
)
