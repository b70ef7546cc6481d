from benchwright.plugins._points import (
    EXTENSION_POINTS as EXTENSION_POINTS,
    extension_point as extension_point,
)
from benchwright.plugins._registry import (
    Registry as Registry,
    check_function as check_function,
    find_plugins as find_plugins,
)
