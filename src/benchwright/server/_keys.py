"""What a request may do: tokens, each with what it allows, and codes that a browser exchanges for one.

No cookies: a browser sends them to every server of the machine, also to those of other users.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator

from msgspec import Struct

from benchwright.core import HidesFields
from benchwright.server._guard import Refusal
from benchwright.server._people import Access, People, Person

CODE_VALID_S = 600
"""Seconds in which a code must be used."""
MOST_CODES = 1_000
"""Most codes remembered; the oldest is forgotten first."""
ANOTHER_CODE = "run `benchwright serve --new-code` in the workspace for a new URL"
"""How to get a code."""


class Session(HidesFields, Struct, frozen=True):
    """What a browser tab gets for a code."""

    hidden = ("token",)

    token: str
    """Its token. It ends with this start of the server, or with the token of the person to whom it was given."""
    access: Access
    """What it allows."""

    def is_(self, sent: bytes) -> bool:
        """Whether this is its token."""
        return hmac.compare_digest(sent, self.token.encode())


_OF_TABS = (Access.READ, Access.FULL)


class Keys:
    """The tokens and codes of one start of a server.

    Args:
        token: The token for everything.
        open_reads: Whether reading needs no token.
        people: The tokens of people, which outlive the server; None: there are none.
        now: A clock that never goes back.
    """

    def __init__(
        self,
        token: str,
        *,
        open_reads: bool = False,
        people: People | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = {access: Session(secrets.token_urlsafe(24), access) for access in _OF_TABS}
        self._tokens = (
            (token.encode(), Access.FULL),
            *((session.token.encode(), access) for access, session in self._sessions.items()),
        )
        self._secret = secrets.token_bytes(32)
        self._free = Access.READ if open_reads else Access.OPEN
        self._people = people
        self._now = now
        self._codes: dict[bytes, tuple[float | None, Access, str | None]] = {}
        """Codes that were given out, by their digests: when one ends, by the clock of the keys, or None once it was used; what the tab may do
        that it opens; and the digest of the person's token that made it."""

    def session(self, access: Access) -> Session:
        """The token of all tabs that may do this much."""
        return self._sessions[access]

    def admit(self, authorization: str, needs: Access) -> Person | None:
        """Refuse a request whose Authorization header does not allow what its route needs. Returns whose token it has; None: nobody's own."""
        if needs <= self._free:
            return None
        kind, _, given = authorization.partition(" ")
        sent = given.strip().encode()
        matches = [access for token, access in self._tokens if hmac.compare_digest(sent, token)]
        person = None
        if not matches and given and self._people is not None:
            found = [
                (each, access) for each in self._people.known for access in self._allowed(each, given.strip())
            ]
            person = found[0][0] if found else None
            matches = [access for _, access in found]
        if kind.lower() != "bearer" or not matches:
            raise Refusal(
                401,
                "unauthorized",
                "this request needs the server's token" if not given else "the token is wrong",
                "send it as: Authorization: Bearer TOKEN (printed by `benchwright serve`; in BENCHWRIGHT_TOKEN of runs)",
            )
        if max(matches) < needs:
            raise Refusal(
                403, "read_only", "this token only reads", "use the token that `benchwright serve` printed"
            )
        return person

    def _allowed(self, person: Person, token: str) -> Iterator[Access]:
        """What a token allows, if it is the person's own or that of a tab that the person opened."""
        if person.has(token):
            yield person.access
        tabs = (self._of(person, most) for most in _OF_TABS)
        yield from (tab.access for tab in tabs if tab.is_(token.encode()))

    def _of(self, person: Person, most: Access = Access.FULL) -> Session:
        """The token of a person's tabs that may do at most this much. It is made of the person's own, so that it ends with that."""
        access = min(most, person.access)
        made = hmac.digest(self._secret, f"{person.digest}/{access:d}".encode(), "sha256")
        return Session(urlsafe_b64encode(made).decode().rstrip("="), access)

    def new_code(self, access: Access = Access.FULL, person: Person | None = None) -> str:
        """A code that opens the pages in a browser, once. One that a person's token made ends with that token."""
        code = secrets.token_urlsafe(24)
        while len(self._codes) >= MOST_CODES:
            del self._codes[next(iter(self._codes))]
        by = None if person is None else person.digest
        self._codes[_digest(code)] = self._now() + CODE_VALID_S, access, by
        return code

    def exchange(self, code: str) -> Session:
        """The token for a code, or for the token of a person. Refuses a code that was used, has expired or was never given."""
        digest = _digest(code)
        if digest not in self._codes:
            for person in () if self._people is None else self._people.known:
                if person.has(code):
                    return self._of(person)
            raise Refusal(401, "unknown_code", "this server did not give out this code", ANOTHER_CODE)
        until, access, by = self._codes[digest]
        self._codes[digest] = None, access, by
        if until is None:
            raise Refusal(401, "used_code", "this code was used before; each code works once", ANOTHER_CODE)
        if self._now() >= until:
            raise Refusal(
                401, "expired_code", f"this code is older than {CODE_VALID_S // 60} minutes", ANOTHER_CODE
            )
        if by is None:
            return self._sessions[access]
        for person in () if self._people is None else self._people.known:
            if person.digest == by:
                return self._of(person, access)
        raise Refusal(
            401, "withdrawn_code", "the token with which this code was made was taken away", ANOTHER_CODE
        )


def _digest(code: str) -> bytes:
    """Codes are looked up by their hash, so that the time of a lookup tells nothing about a code."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).digest()
