"""Processes that run benchwright without importing it first: `Popen` and `run` as those of `subprocess`.

Most of what a short command costs is its imports. Here they are paid once: a process that has done them is forked
(`warm_origin.py`), and becomes the command. It is a real process in all else: a child of its own with arguments,
folder, environment, streams, signals, exit code, killed or not. What depends on how Python starts (`-X`, `PYTHON…`
variables) or on what the system cannot do here starts in the usual way. Use `subprocess` where the start itself is
tested: which modules are imported, how long it takes.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from threading import Lock
from typing import Any

from warm_origin import ORIGIN

_AT_START = ("LANG", "LC_", "LD_", "MALLOC_", "PYTHON")
"""Variables that Python and the system's libraries read when a process starts."""
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h: orphans below this process become its children
COMMAND = str(Path(sys.executable).with_name("benchwright"))
"""The installed command: a script of Python."""


class Popen(subprocess.Popen[Any]):
    """A `subprocess.Popen` whose process is forked from one that has imported benchwright."""

    def _execute_child(
        self, args: Any, executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any, cwd: Any, env: Any,
        startupinfo: Any, creationflags: Any, shell: Any, p2cread: int, p2cwrite: int, c2pread: int,
        c2pwrite: int, errread: int, errwrite: int, restore_signals: Any, gid: Any, gids: Any, uid: Any,
        umask: int, start_new_session: bool, *group: int,
    ) -> None:  # fmt: skip
        plain = not (executable or preexec_fn or pass_fds or shell or gid or gids or uid)
        plain = plain and close_fds and restore_signals and umask < 0
        command = None if isinstance(args, str) or not plain else _read([os.fspath(word) for word in args])
        folder = os.path.abspath(cwd or ".")
        variables = dict(os.environ if env is None else env)
        origin = _origin() if command is not None and os.path.isdir(folder) else None
        if command is None or origin is None or not origin.suits(variables):
            super()._execute_child(  # type: ignore[misc]
                args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags, shell,
                p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, restore_signals, gid, gids, uid,
                umask, start_new_session, *group,
            )  # fmt: skip
            return
        fds = [given if given != -1 else number for number, given in enumerate((p2cread, c2pwrite, errwrite))]
        wanted = {
            **command,
            "cwd": folder,
            "env": variables,
            "session": start_new_session,
            "group": group[0] if group else -1,
        }
        try:
            self.pid = origin.fork(wanted, fds)
            self._child_created = True
        finally:
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]


def run(
    words: list[str],
    *,
    timeout: float | None = None,
    check: bool = False,
    capture_output: bool = False,
    input: str | bytes | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """As `subprocess.run`, with a warm process."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with Popen(words, **options) as process:
        try:
            stdout, stderr = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(words, process.returncode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


def _read(words: list[str]) -> dict[str, Any] | None:
    """What a command line asks Python for; None if it is not one that a warm process can follow."""
    if words[0] == COMMAND:
        words = [sys.executable, *words]
    if words[0] != sys.executable:
        return None
    command, rest, options = words[1:], words[1:], []
    while rest[:1] == ["-W"]:
        options.append(rest[1])
        rest = rest[2:]
    kind = {"-c": "c", "-m": "m"}.get(rest[0] if rest else "")
    if kind is not None and len(rest) > 1:
        return {"kind": kind, "what": rest[1], "words": rest[2:], "warnings": options, "command": command}
    if rest and (rest[0].endswith(".py") or rest[0] == COMMAND):
        return {"kind": "script", "what": rest[0], "words": rest[1:], "warnings": options, "command": command}
    return None


class _Origin:
    """The process to fork from, and the socket to it."""

    def __init__(self) -> None:
        self._requests, self._process = _connect()
        atexit.register(self._end)
        self._owner = os.getpid()
        self._started_with = _at_start(dict(os.environ))
        self._lock = Lock()

    def suits(self, variables: dict[str, str]) -> bool:
        """Whether a process with these variables would have started as the origin did."""
        return os.getpid() == self._owner and _at_start(variables) == self._started_with

    def fork(self, wanted: dict[str, Any], fds: list[int]) -> int:
        """Number of the new process, which is a child of this one."""
        body = json.dumps(wanted).encode()
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        with self._lock:
            prctl(_SUBREAPER, 1, 0, 0, 0)
            try:
                socket.send_fds(self._requests, [len(body).to_bytes(8, "big")], fds)
                self._requests.sendall(body)
                answer = self._requests.recv(16, socket.MSG_WAITALL)
            finally:
                prctl(_SUBREAPER, 0, 0, 0, 0)
        return int(answer)

    def _end(self) -> None:
        if os.getpid() == self._owner:
            self._requests.close()
            if self._process is not None:
                self._process.wait()


def _at_start(variables: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith(_AT_START)}


_found: list[_Origin] = []
_finding = Lock()


def _origin() -> _Origin | None:
    """The origin of this process, started when it is first needed; None where the system has no orphans to adopt."""
    with _finding:
        if not _found and sys.platform == "linux":
            _found.append(_Origin())
        return _found[0] if _found else None


def _connect() -> tuple[socket.socket, subprocess.Popen[bytes] | None]:
    if inherited := os.environ.pop(ORIGIN, None):
        return socket.socket(fileno=int(inherited)), None
    ours, theirs = socket.socketpair()
    with theirs:
        words = [sys.executable, str(Path(__file__).with_name("warm_origin.py")), str(theirs.fileno())]
        return ours, subprocess.Popen(words, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
