"""How to serve a workspace, and who can reach the server: where it listens, whether it speaks TLS, and by which names clients call it."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

from msgspec import Struct

from benchwright.core import HidesFields, UsageError
from benchwright.server._people import Person

MAX_BODY_BYTES = 64 * 1024 * 1024
"""Largest body after decompression."""
_LOCAL = frozenset(("127.0.0.1", "localhost", "[::1]"))
"""What a client on this machine may call a server that only this machine can reach."""
_HOST = re.compile(
    r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::([0-9]{1,5}))?",
    re.ASCII | re.IGNORECASE,
)
"""A name that can be read in one way only, with or without a port."""


class ServerSettings(HidesFields, Struct, frozen=True, kw_only=True):
    """How to serve a workspace."""

    hidden = ("token",)

    host: str = "127.0.0.1"
    """Address or name to listen on."""
    port: int = 8765
    """Port; 0: any free one."""
    token: str | None = None
    """Token of its clients; None: BENCHWRIGHT_TOKEN, else a random one."""
    open_reads: bool = False
    """Whether requests that only read need no token. Those for hub data do: the server reads with its owner's hub token."""
    max_body: int = MAX_BODY_BYTES
    """Largest body in bytes."""
    idle_s: float | None = None
    """Seconds without a request or an open page after which it ends; None: it runs until it is stopped."""
    tls_cert: str | None = None
    """PEM file with the certificate, and the chain above it; the server then speaks HTTPS."""
    tls_key: str | None = None
    """PEM file with the key of the certificate."""
    behind_proxy: bool = False
    """Whether a proxy stands in front of it, whose `X-Forwarded-Host` is the name that clients used."""

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < 8:
            raise UsageError(
                "the token is shorter than 8 characters; give a longer one, or none for a random one"
            )
        if not _HOST.fullmatch(_bracketed(self.host)):
            raise UsageError(f"--host is {self.host!r}; expected an address such as 127.0.0.1, or a name")
        if (self.tls_cert is None) is not (self.tls_key is None):
            given, missing = ("cert", "key") if self.tls_key is None else ("key", "cert")
            raise UsageError(f"--tls-{given} needs --tls-{missing}: a certificate works with its key only")
        if not (self.is_local or self.tls_cert or self.behind_proxy):
            raise UsageError(
                f"--host {self.host} can be reached from other machines, where tokens must not travel unencrypted; give --tls-cert FILE "
                "and --tls-key FILE, or --behind-proxy if a proxy in front of it speaks HTTPS"
            )
        if self.shared and self.open_reads:
            raise UsageError(
                "--open-reads is for a server that only this machine can reach; give people tokens that read instead: benchwright "
                "token add NAME --read-only"
            )

    @property
    def is_local(self) -> bool:
        """Whether it listens for this machine only. A name other than localhost may lead anywhere."""
        address = _address(self.host)
        return self.host.lower() == "localhost" if address is None else address.is_loopback

    @property
    def shared(self) -> bool:
        """Whether people on other machines can use it."""
        return self.behind_proxy or not self.is_local

    @property
    def _everywhere(self) -> bool:
        address = _address(self.host)
        return address is not None and address.is_unspecified

    def url(self, port: int) -> str:
        """Base URL on this port. A server on every address is called by the name of its machine."""
        host = socket.gethostname().lower() if self._everywhere else self.host
        return f"{'https' if self.tls_cert else 'http'}://{_bracketed(host)}:{port}"

    def names(self, reached: str | None = None) -> frozenset[str]:
        """What clients may call the server. A page whose own name was made to lead here still sends that name.

        Args:
            reached: The address of this machine at which a request arrived; it decides if the server listens on every address.
        """
        if not self._everywhere:
            return frozenset({_bracketed(self.host).lower()}) | (_LOCAL if self.is_local else frozenset())
        address = None if reached is None else _address(reached)
        own = frozenset() if address is None else frozenset({_bracketed(str(address))})
        local = _LOCAL if address is not None and address.is_loopback else frozenset()
        return frozenset({socket.gethostname().lower()}) | own | local

    def answers_to(self, host: str, reached: str | None = None) -> bool:
        """Whether a Host header names this server.

        >>> here = ServerSettings()
        >>> [here.answers_to(host) for host in ("127.0.0.1:8765", "[::1]:8765", "LocalHost", "evil@localhost", "localhost:abc")]
        [True, True, True, False, False]
        """
        name = plain_name(host)
        return name is not None and name in self.names(reached)

    def origins(self, host: str) -> tuple[str, ...]:
        """The origins of its own pages, as a browser that called it `host` sends them."""
        plain = () if self.tls_cert and not self.behind_proxy else (f"http://{host}",)
        return (f"https://{host}", *plain)

    def check_people(self, people: Sequence[Person]) -> None:
        """Raise UsageError if others can reach it and nobody has a token of their own."""
        if self.shared and not people:
            raise UsageError(
                "a server for other people needs a token for each of them, and nobody has one; make the first with: benchwright token add "
                "NAME"
            )

    def check_files(self) -> None:
        """Raise UsageError if the files of TLS cannot be used. Nobody is asked for a password: a server may start without a terminal."""
        if self.tls_cert is None or self.tls_key is None:
            return
        for flag, path in (("--tls-cert", self.tls_cert), ("--tls-key", self.tls_key)):
            try:
                with open(path, "rb"):
                    pass
            except OSError as error:
                raise UsageError(f"{flag} {path} cannot be read: {error.strerror}") from None
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.tls_cert, self.tls_key, lambda: "")
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", None) or "it has a password"
            raise UsageError(
                f"--tls-cert {self.tls_cert} and --tls-key {self.tls_key} cannot be used ({why}); give PEM files of a certificate and of "
                "its key without a password"
            ) from None

    def described(self, url: str, people: Sequence[Person]) -> list[str]:
        """Who can reach what, in words; nothing for a server that only this machine can reach."""
        if not self.shared:
            return []
        port = url.rpartition(":")[2]
        where = "every address of this machine" if self._everywhere else self.host
        way = "over TLS" if self.tls_cert else "without TLS of its own"
        proxy = "; a proxy in front of it must speak HTTPS" if self.behind_proxy and not self.tls_cert else ""
        called = "one of its addresses or " if self._everywhere else ""
        names = f"Host must be {called}{url.partition('://')[2]}"
        if self.behind_proxy:
            names += ", or X-Forwarded-Host the proxy's name"
        has = ", ".join(f"{each.name} (read-only)" if each.read_only else each.name for each in people)
        return [
            f"reached at: {where}, port {port}, {way}{proxy}",
            f"tokens: {has}. Each sees all runs; without (read-only), also changes them and sends requests in your name",
            f"names: {names}; Origin must be the same",
        ]


def plain_name(host: str) -> str | None:
    """The name in a Host header, in small letters and without its port; None if it is not of the plain form."""
    found = _HOST.fullmatch(host)
    if found is None or (found[2] is not None and not 0 < int(found[2]) < 65536):
        return None
    return found[1].lower()


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a text is; None for a name."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
