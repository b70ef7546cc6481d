"""Opens pages: finds the server of a workspace by its record, or starts one that ends when nobody uses it any more."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, ClassVar

import orjson
from msgspec import Struct

from benchwright.core import BenchwrightError, HidesFields, NotFoundError
from benchwright.store import Workspace

_PATIENCE_S = 10.0
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


class OpenedPage(HidesFields, Struct, frozen=True):
    """A page that can be opened in a browser."""

    hidden = ("open_url",)

    idle_minutes: ClassVar[int] = 30
    """Minutes after which a server that was started to open a page ends, if no page is open and nothing asks it."""
    open_url: str
    """Opens it, once, within ten minutes."""
    pid: int
    """The process of its server."""
    started: bool
    """Whether the server was started for it."""


def open_url(url: str, code: str, address: str = "") -> str:
    """The URL that opens a page with a code. `address`: the part after `#`, such as `/runs/7`."""
    return f"{url}/?code={code}" + (f"#{address}" if address else "")


def store_mark(workspace: Workspace) -> str:
    """Tells the stores of a workspace apart; a URL may contain a password."""
    return hashlib.sha256(workspace.store_url.encode()).hexdigest()[:16]


def new_open_url(workspace: Workspace, address: str = "", *, read_only: bool = False) -> str:
    """Another URL that opens the pages of the server of a workspace. Raises NotFoundError if there is no such server."""
    with _server_of(workspace) as server:
        return server.open_url(address, read_only=read_only)


def opened_page(workspace: Workspace, address: str, *, handed: tuple[str, Any] | None = None) -> OpenedPage:
    """A page of the server of a workspace, which is started if there is none. `handed`: a path and a body that the server must have
    for this page."""
    try:
        with _server_of(workspace) as server:
            return server.page(address, handed, started=False)
    except NotFoundError:
        _start(workspace)
    with _server_of(workspace) as server:
        return server.page(address, handed, started=True)


class _Server(Struct, frozen=True):
    """A server that lives, as its record describes it."""

    url: str
    token: str
    pid: int
    tls_cert: str | None

    def _connection(self) -> HTTPConnection:
        """A connection to it. With TLS, it must show the certificate of its own file, which no public authority may know."""
        place = self.url.partition("://")[2]
        if self.tls_cert is None:
            return HTTPConnection(place, timeout=_PATIENCE_S)
        import ssl

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False  # the certificate itself is compared
        context.verify_mode = ssl.CERT_NONE
        connection = HTTPSConnection(place, timeout=_PATIENCE_S, context=context)
        connection.connect()
        with open(self.tls_cert, encoding="ascii", errors="replace") as file:
            first = _CERTIFICATE.search(file.read())
        if first is None or ssl.PEM_cert_to_DER_cert(first[0]) != connection.sock.getpeercert(True):
            connection.close()
            raise BenchwrightError(
                f"the server at {self.url} shows another certificate than {self.tls_cert}; if the file was renewed, start the server again"
            )
        return connection

    def post(self, path: str, body: Any) -> Any:
        """What it answers."""
        connection = self._connection()
        try:
            headers = {"Authorization": f"Bearer {self.token}"}
            connection.request("POST", path, orjson.dumps(body), headers)
            answer = connection.getresponse()
            told = orjson.loads(answer.read())
            if answer.status != 200:
                raise BenchwrightError(
                    f"the server of this workspace refused {path}: {told['error']['message']}"
                )
            return told
        finally:
            connection.close()

    def open_url(self, address: str, *, read_only: bool = False) -> str:
        """The URL of a page."""
        return open_url(self.url, self.post("/api/codes", {"read_only": read_only})["code"], address)

    def page(self, address: str, handed: tuple[str, Any] | None, *, started: bool) -> OpenedPage:
        """The page, after the server was given what it needs for it."""
        if handed is not None:
            self.post(*handed)
        return OpenedPage(self.open_url(address), self.pid, started)


@contextmanager
def _server_of(workspace: Workspace) -> Iterator[_Server]:
    """The server that serves a workspace. Raises NotFoundError if there is none, or none that answers."""
    none = NotFoundError(f"{workspace.root} is not served; start a server with `benchwright serve`")
    try:
        opened = os.open(workspace.state / "server.json", os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        raise none from None
    try:
        if _unlocked(opened):  # its server has died, and another program may have its port
            raise none
        found = orjson.loads(os.pread(opened, 1 << 16, 0))
        if found["store"] != store_mark(workspace):
            raise none
        yield _Server(found["url"], found["token"], found["pid"], found.get("tls_cert"))
    except (OSError, HTTPException, ValueError, KeyError):
        raise none from None
    finally:
        os.close(opened)


def _unlocked(opened: int) -> bool:
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # locked, or a network file system without locks
        return False
    return True


def _start(workspace: Workspace) -> None:
    """Start a server in a process of its own, which outlives this one. Returns when it listens."""
    workspace.create()
    command = [
        sys.executable, "-m", "benchwright", "serve", "--port", "0", "--workspace", str(workspace.root),
        "--stop-when-idle", str(OpenedPage.idle_minutes), "--json",
    ]  # fmt: skip
    named = {} if workspace.url is None else {"BENCHWRIGHT_STORE": workspace.url}
    with subprocess.Popen(
        command,
        env={**os.environ, **named},
        cwd=workspace.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in this terminal is not meant for it
    ) as process:
        assert process.stdout is not None
        said = b""
        for line in process.stdout:
            said += line
            if line.startswith(b"}"):
                break
        process.returncode = 0  # it goes on without this process
    told = orjson.loads(said or b"{}")
    if "url" not in told:
        why = told.get("error", {}).get("message", "it ended at once")
        raise BenchwrightError(f"no server could be started for {workspace.root}: {why}")
