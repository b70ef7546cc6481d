"""The files of the pages: a shell, its scripts and its styles, without comments. They have no data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchwright.reports import page_files

_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
SHELL = "index.html"
"""The document that loads all others."""
PAGE_FILES: dict[str, str] = {
    name: _KINDS[suffix] for name in page_files() if (suffix := Path(name).suffix) in _KINDS
}
"""Each file that the shell may load, with its media type."""


def file_handler(name: str) -> Callable[[Any, Any], Awaitable[bytes]]:
    """The handler that answers with a file."""

    async def read(state: Any, call: Any) -> bytes:
        """Get a file of the pages."""
        return page_files()[name]

    return read
