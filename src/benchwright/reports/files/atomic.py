"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchwright.core import make_private


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`, renamed to it when the block ends well and removed when it does not.

    A reader never sees half a file, and a kill leaves the old file as it was.
    """
    # The process id: two processes that write the same file must not share the half-written one.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # Prompts and replies are nobody else's business, whatever the folder is like.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT, 0o600))
        yield temporary
        make_private(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a small file atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
