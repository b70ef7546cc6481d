"""The named tokens of a workspace, for people and programs. The file has their hashes, so that nobody can read a token out of it."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum

import msgspec
from msgspec import Struct

from benchwright.core import NotFoundError, UsageError, clause, ready, rfc3339, suggest
from benchwright.store import Workspace

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", re.ASCII)


class Access(IntEnum):
    """What a route needs, and what a token allows; more includes less."""

    OPEN = 0
    """Nothing: the route has no data."""
    READ = 1
    """Read records."""
    FULL = 2
    """Everything: write records, and read hub data with the owner's own hub token."""


class Person(Struct, frozen=True):
    """One named token."""

    name: str
    """Whose it is."""
    read_only: bool
    """Whether it only reads."""
    digest: str
    """SHA-256 of the token, which is random and long."""
    created_at: str
    """When it was given out (UTC, RFC 3339)."""

    @property
    def access(self) -> Access:
        """What it allows."""
        return Access.READ if self.read_only else Access.FULL

    def has(self, token: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(self.digest, _digest(token))


class People:
    """The named tokens of one workspace. A server sees a token that is added or taken away at once."""

    def __init__(self, workspace: Workspace) -> None:
        self._path = workspace.state / "tokens.json"
        self._workspace = workspace
        self._seen: tuple[int, int, int] | None = None
        self._known: tuple[Person, ...] = ()

    def listed(self) -> tuple[Person, ...]:
        """All of them, in the order in which they were made. UsageError if the file cannot be read."""
        try:
            status = self._path.stat()
            mark = (status.st_ino, status.st_mtime_ns, status.st_size)
            if mark != self._seen:
                self._known = msgspec.json.decode(self._path.read_bytes(), type=ready(tuple[Person, ...]))
                self._seen = mark
        except FileNotFoundError:
            self._seen, self._known = None, ()
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{self._path} cannot be read: {clause(error)}. Remove it, and make the tokens again with: benchwright token add NAME"
            ) from None
        return self._known

    @property
    def known(self) -> tuple[Person, ...]:
        """Those whom a server lets in: a file that cannot be read lets nobody in."""
        with suppress(UsageError):
            return self.listed()
        return ()

    def add(self, name: str, *, read_only: bool) -> str:
        """Make a token, which is shown once. UsageError for a name that is taken or cannot be one."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is not a name for a token; use up to 64 letters, digits and . _ @ -, such as ann"
            )
        token = secrets.token_urlsafe(24)
        with self._alone():
            known = self.listed()
            if any(person.name == name for person in known):
                raise UsageError(
                    f"{name} has a token already; take it away first: benchwright token rm {name}"
                )
            self._write((*known, Person(name, read_only, _digest(token), rfc3339(time.time()))))
        return token

    def remove(self, name: str) -> None:
        """Take a token away. NotFoundError if nobody has that name."""
        with self._alone():
            known = self.listed()
            names = [person.name for person in known]
            if name not in names:
                raise NotFoundError(
                    f"no token has the name {name!r}.{suggest(name, names)} See: benchwright token list"
                )
            self._write(tuple(person for person in known if person.name != name))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Read and write without another process in between. The lock ends with the process, however that ends."""
        self._workspace.create()
        opened = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            with suppress(OSError):  # some network file systems have no locks
                fcntl.flock(opened, fcntl.LOCK_EX)
            self._seen = None  # a file that was just replaced may have the mark of the one before
            yield
        finally:
            os.close(opened)

    def _write(self, people: tuple[Person, ...]) -> None:
        beside = self._path.with_suffix(f".{os.getpid()}.new")
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(people))
            file.flush()
            os.fsync(file.fileno())  # a power cut must not leave an empty file in its place
        os.replace(beside, self._path)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
