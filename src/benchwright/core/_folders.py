"""Which folders may decide what a command does: looking upwards, and where to stop."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path


def own_ancestors(start: Path) -> Iterator[Path]:
    """`start` and the folders above it, up to the first that everybody may write to.

    In such a folder (/tmp, for one) anybody could leave a configuration, which names code to run, or a
    workspace for others to find. `start` itself is always looked at: who stands there means it.
    """
    start = start.resolve()
    yield start
    for folder in start.parents:
        try:
            if folder.stat().st_mode & stat.S_IWOTH:
                return
        except OSError:
            return
        yield folder
