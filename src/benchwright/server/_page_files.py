"""The files of the pages: a shell, its scripts and its styles, served as they are. They have no data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from benchwright.reports import APP

_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
SHELL = "index.html"
"""The document that loads all others."""
PAGE_FILES: dict[str, str] = {
    path.name: _KINDS[path.suffix] for path in sorted(APP.iterdir()) if path.suffix in _KINDS
}
"""Each file that the shell may load, with its media type."""


def file_handler(name: str) -> Callable[[Any, Any], Awaitable[bytes]]:
    """The handler that answers with a file."""

    async def read(state: Any, call: Any) -> bytes:
        """Get a file of the pages."""
        return (APP / name).read_bytes()

    return read
