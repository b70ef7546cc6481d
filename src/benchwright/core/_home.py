"""The home folder in paths that users write. Some processes have none: in containers, users often have a number only."""

from __future__ import annotations

import os
from pathlib import Path


def expand_home(path: str | os.PathLike[str]) -> Path:
    """The path with its leading `~` or `~USER` replaced by that home folder. If there is none, `~` is a part of the name, as in
    a shell."""
    return Path(os.path.expanduser(path))
