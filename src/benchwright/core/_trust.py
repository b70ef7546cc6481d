"""What a command trusts and protects: whose folders it obeys, who may read its files, and what a user's file may do while
it is loaded."""

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
    """`start` and the folders above it, up to the first that everybody may write to.

    In such a folder (/tmp, for one) anybody could leave a configuration, which names code to run, or a
    workspace for others to find. `start` itself always counts: users who work there mean it.
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
        return  # not readable: reading it gives the error
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
    """Let only the owner read or enter. Nothing changes where we are not the owner."""
    try:
        found = path.stat()
        if found.st_mode & 0o077 and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid()):
            path.chmod(stat.S_IMODE(found.st_mode) & 0o700)
    except OSError:
        pass


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name next to `path`: renamed to it when the block succeeds, removed when it fails.

    A reader never sees half a file, and a kill leaves the old file as it was.
    """
    # The process id: two processes that write the same file must not share the half-written one.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    _remove_left(path)
    try:
        # Prompts and replies are nobody else's business, whatever the folder is like.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT, 0o600))
        yield temporary
        make_private(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_left(path: Path) -> None:
    """Take away what a killed process has left of the same file."""
    start, end = f".{path.name}.", ".part"
    for name in os.listdir(path.parent):
        if name.startswith(start) and name.endswith(end):
            number = name[len(start) : -len(end)]
            if number.isascii() and number.isdigit() and not _lives(int(number)):
                path.with_name(name).unlink(missing_ok=True)


def _lives(pid: int) -> bool:
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
"""A context variable: threads, and cells of a notebook's loop, that were there before may run what they like meanwhile."""
_before: list[frozenset[threading.Thread]] = []
"""For each file that is being loaded, the threads that were there before."""
_started: WeakSet[threading.Thread] = WeakSet()
"""Threads that appeared while a file was loaded: its own, which may live on and send later."""


@contextmanager
def loading_code() -> Iterator[None]:
    """Inside, `refuse_while_loading` raises; in threads that the file starts, from then on."""
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
    if _loading.get() or _in_a_thread_of_the_file():
        raise UsageError(
            f"{function}() is called while the file is loaded; nothing was sent. Put this under "
            f"`if __name__ == '__main__':`, and start it with python, not with benchwright"
        )


def _in_a_thread_of_the_file() -> bool:
    thread = threading.current_thread()
    return thread in _started or any(thread not in before for before in _before)
