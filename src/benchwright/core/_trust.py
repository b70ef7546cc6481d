"""Trust and permissions of a command: whose folders it takes settings from, who may read its files, and what a user's
file may do while it is loaded."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from weakref import WeakSet

from benchwright.core._errors import ConfigError, UsageError


def own_ancestors(start: Path) -> Iterator[Path]:
    """Yield `start` and the folders above it, up to the first one that everybody may write to.

    In such a folder, for example /tmp, anybody could leave a workspace or a configuration, which names code to run.
    `start` itself is always included: users who work there mean it.
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
    """Raise ConfigError for a file or folder that another user could have created or can change.

    The file decides what is run and where requests and keys go, so only the user and the administrator may write it.
    Members of its group may not, unless it is the user's primary group, as on systems with one group per user. Root in
    another user's folder, as in a container with a mounted clone, works on behalf of the owner of `start`.
    """
    if not hasattr(os, "geteuid"):
        return
    trusted = {os.geteuid(), 0}
    try:
        if os.geteuid() == 0:
            trusted.add(start.stat().st_uid)
        found = [path.lstat(), path.stat()] if path.is_symlink() else [path.stat()]
    except OSError:
        return  # not readable: reading it gives the error
    if any(entry.st_uid not in trusted for entry in found):
        raise ConfigError(
            f"{path}: this {what} belongs to another user (uid {next(e.st_uid for e in found if e.st_uid not in trusted)}), "
            "so benchwright does not use it. Work in a folder of your own that is not below it, or copy it to one that is yours"
        )
    mode = found[-1].st_mode
    group = mode & stat.S_IWGRP and found[-1].st_gid not in (os.getegid(), 0)
    if mode & stat.S_IWOTH or group:
        raise ConfigError(
            f"{path}: others may write to this {what}, so benchwright does not use it. Take that right away: chmod go-w {path}"
        )


def make_private(path: Path) -> None:
    """Let only the owner read or enter a path. Nothing changes if we are not the owner."""
    try:
        found = path.stat()
        if found.st_mode & 0o077 and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid()):
            path.chmod(stat.S_IMODE(found.st_mode) & 0o700)
    except OSError:
        pass


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name next to `path`. It is renamed to `path` if the block succeeds, and removed if it fails.

    A reader never sees half a file, and a kill leaves the old file as it was.
    """
    # The process id: two processes that write the same file must not share the half-written one.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    _remove_leftovers(path)
    try:
        # Prompts and replies are private even if the folder is not.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT, 0o600))
        yield temporary
        make_private(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_leftovers(path: Path) -> None:
    """Remove the unfinished copies of the same file that killed processes left behind."""
    start, end = f".{path.name}.", ".part"
    for name in os.listdir(path.parent):
        if name.startswith(start) and name.endswith(end):
            number = name[len(start) : -len(end)]
            if number.isascii() and number.isdigit() and not _is_alive(int(number)):
                path.with_name(name).unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def write_whole(path: Path, content: bytes) -> None:
    """Write a small file atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


_loading: ContextVar[bool] = ContextVar("benchwright_loading", default=False)
"""A context variable, so that threads and notebook cells that were running before are not affected."""
_before: list[frozenset[threading.Thread]] = []
"""For each file that is being loaded, the threads that existed before."""
_started: WeakSet[threading.Thread] = WeakSet()
"""Threads that a file started while it was loaded; they may live on and send requests later."""


@contextmanager
def loading_code() -> Iterator[None]:
    """Make `refuse_while_loading` raise inside the block, and permanently in threads that the loaded file starts."""
    token = _loading.set(True)
    before = frozenset(threading.enumerate())
    _before.append(before)
    try:
        yield
    finally:
        _started.update(thread for thread in threading.enumerate() if thread not in before)
        _before.remove(before)
        _loading.reset(token)


def refuse_while_loading(function: str) -> None:
    """Raise UsageError if a file that is only being loaded calls `function`; the loader adds file and line."""
    if _loading.get() or _in_thread_of_loaded_file():
        raise UsageError(
            f"{function}() is called while the file is loaded; nothing was sent. Put this under "
            f"`if __name__ == '__main__':`, and start it with python, not with benchwright"
        )


def _in_thread_of_loaded_file() -> bool:
    thread = threading.current_thread()
    return thread in _started or any(thread not in before for before in _before)
