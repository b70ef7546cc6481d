"""Whether a request to a host goes through a proxy, by the usual environment variables."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from benchwright.core import ConfigError

_SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
"""Those that the HTTP client speaks. It passes a proxy of any other kind by without a word."""


def proxy_for(scheme: str, host: str, port: int, environment: Mapping[str, str]) -> str | None:
    """The proxy's URL, or None for a direct connection.

    Raises ConfigError for a proxy that cannot be used. Lower-case variables win over upper-case ones, `<scheme>_proxy` over `all_proxy`. Loopback is never
    proxied: an evaluation of a local server must not depend on a company's proxy settings.
    """
    if is_loopback(host):
        return None
    no_proxy = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if _excluded(host, port, no_proxy):
        return None
    names = [f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY"]
    if "REQUEST_METHOD" in environment:
        # Under CGI a client's "Proxy:" header arrives as HTTP_PROXY.
        names.remove(f"{scheme.upper()}_PROXY")
    for name in names:
        if value := environment.get(name, "").strip():
            proxy = value if "://" in value else f"http://{value}"
            check_proxy(
                proxy, f"the environment variable {name}", f"unset {name}, or list {host} in NO_PROXY"
            )
            return proxy
    return None


def check_proxy(proxy: str, source: str, way_round: str) -> None:
    """Refuse, with ConfigError, a proxy that requests would not go through. Its URL is not repeated: it may hold a
    password."""
    try:
        parts = urlsplit(proxy)
        scheme, host = parts.scheme.lower(), parts.hostname
        _ = parts.port
    except ValueError:
        scheme, host = "", None
    if scheme in _SCHEMES and host:
        return
    wrong = f"has the scheme {scheme}://" if host and scheme else "is no URL"
    raise ConfigError(
        f"the proxy in {source} {wrong}; nothing was sent. Write http://HOST:PORT "
        f"(or {', '.join(f'{name}://' for name in _SCHEMES[1:])}), or connect directly: {way_round}"
    )


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _excluded(host: str, port: int, no_proxy: str) -> bool:
    for raw in no_proxy.split(","):
        entry = raw.strip().lower()
        if not entry:
            continue
        if entry == "*":
            return True
        if _in_network(host, entry):
            return True
        name, colon, wanted = entry.rpartition(":")
        if colon and wanted.isdigit() and ":" not in name:
            if int(wanted) != port:
                continue
            entry = name
        entry = entry.removeprefix("*").lstrip(".")
        if host == entry or host.endswith(f".{entry}"):
            return True
    return False


def _in_network(host: str, entry: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False
