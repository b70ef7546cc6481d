"""Which folders may decide what a command does: looking upwards, and where to stop."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from benchwright.core._errors import ConfigError


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


def refuse_foreign(path: Path, what: str, start: Path) -> None:
    """Refuse, with ConfigError, a file or folder that somebody else could have put there or can change.

    It says what is run and where requests and keys go, so only its user, or the administrator, may write it. Others in
    a group may not either, unless it is the user's own primary group, as systems with a group per user have it. Root
    in a folder of somebody else's, as in a container with a mounted clone, works for the owner of `start`.
    """
    if not hasattr(os, "geteuid"):
        return
    trusted = {os.geteuid(), 0}
    try:
        if os.geteuid() == 0:
            trusted.add(start.stat().st_uid)
        found = [path.lstat(), path.stat()] if path.is_symlink() else [path.stat()]
    except OSError:
        return  # not readable: whoever reads it says so
    if any(entry.st_uid not in trusted for entry in found):
        raise ConfigError(
            f"{path}: this {what} belongs to another user (uid {next(e.st_uid for e in found if e.st_uid not in trusted)}), "
            "so it is not obeyed. Work in a folder of your own that is not below it, or copy it to one that is yours"
        )
    mode = found[-1].st_mode
    group = mode & stat.S_IWGRP and found[-1].st_gid not in (os.getegid(), 0)
    if mode & stat.S_IWOTH or group:
        raise ConfigError(
            f"{path}: others may write to this {what}, so it is not obeyed. Take that right away: chmod go-w {path}"
        )


def make_private(path: Path) -> None:
    """Let nobody but the owner read or enter; left as it is where we are not the owner."""
    try:
        found = path.stat()
        if found.st_mode & 0o077 and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid()):
            path.chmod(stat.S_IMODE(found.st_mode) & 0o700)
    except OSError:
        pass
