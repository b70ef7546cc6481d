"""The addresses of servers, and the proxies on the way to them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from benchwright.core import (
    ConfigError,
    WireFormat,
    environment_secret,
    key_in_url,
    late_pattern,
    public_url,
    url_owner,
)
from benchwright.endpoints._wires.formats import wire_format

_TRITON_MODEL = late_pattern(r"/v2/models/([^/]+)(?:/versions/[^/]+)?$")
_PLAIN = "/%:@!$&'()*+,;=-._~"
"""Characters that a path may have as they are; others, such as spaces, are sent percent-encoded."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


_VARIABLE = late_pattern(r"\$\{(\w+)\}")


def with_variables(url: str) -> str:
    """A URL with the values of its `${VARIABLE}`s, for requests only. Raises ConfigError if one is not set."""
    return _VARIABLE.sub(_value_of, url) if "${" in url else url


def _value_of(found: re.Match[str]) -> str:
    value = environment_secret(found[1]).strip()
    if not value:
        raise ConfigError(
            f"the model URL needs the environment variable {found[1]}, which is not set; nothing was sent. Set it (export "
            f"{found[1]}=…)"
        )
    return quote(value, safe="")


class Address(Struct, frozen=True):
    """A base URL in canonical form."""

    scheme: str
    """`http` or `https`."""
    host: str
    """Lower case, without brackets."""
    port: int
    """Always given."""
    path: str
    """Base path without the route and without a trailing slash; `/v1` for a bare host if the format's routes are below it."""
    query: str = ""
    """Query string to send with every request, without the question mark."""
    guessed: bool = False
    """Whether benchwright added `/v1` to a bare host. If the server does not know that path, requests go without it."""

    @property
    def origin(self) -> str:
        """Scheme, host and port; the default port of the scheme is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    @property
    def public(self) -> str:
        """The base URL for people and fingerprints. No secrets: an address with one is not accepted, and variables are not replaced."""
        return self.origin + self.path + (f"?{self.query}" if self.query else "")

    def url_of(self, route: str) -> str:
        """The full URL of a route, which begins with a slash, with the values of variables: for requests only.

        Raises ConfigError if a variable is not set.
        """
        return with_variables(self.origin + self.path + route + (f"?{self.query}" if self.query else ""))

    @property
    def named_model(self) -> str | None:
        """The model that a Triton URL names (`…/v2/models/NAME`); None if it names none."""
        found = _TRITON_MODEL.search(self.path)
        return None if found is None else unquote(found.group(1))

    def without_guess(self) -> Address:
        """The same bare host with no path at all."""
        return Address(self.scheme, self.host, self.port, "", self.query)

    @staticmethod
    def model_in(url: str, api: str) -> str | None:
        """The model that a URL names, if the wire format has models in its URLs.

        >>> Address.model_in("http://h/v2/models/llama/generate", "triton")
        'llama'
        """
        return parse_address(url, api).named_model if wire_format(api).model_in == "url" else None


@lru_cache(maxsize=64)
def parse_address(url: str, api: str = "openai") -> Address:
    """Parse a model URL, with or without path, route and trailing slash.

    >>> parse_address("http://localhost:8000").url_of("/chat/completions")
    'http://localhost:8000/v1/chat/completions'
    >>> parse_address("http://localhost:8000/v1/chat/completions/").url_of("/completions")
    'http://localhost:8000/v1/completions'
    >>> parse_address("http://localhost:8080/v1", "tgi").url_of("/generate")
    'http://localhost:8080/generate'
    """
    text = url.strip()
    if not text:
        raise ConfigError("the model URL is empty. Give it with --model-url http://HOST:PORT/v1")
    shown = _shown(text)
    if text == "demo":
        raise ConfigError(
            "the demo model has no address: --model demo names it, and so does the URL demo of a judge"
        )
    if "://" not in text:
        raise ConfigError(
            f"model URL {shown!r} has no http:// or https:// in front. Write http://{shown.lstrip('/')}"
        )
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ConfigError(
            f"model URL {shown!r} cannot be read. Write it as http://HOST:PORT/v1, the port a number up to 65535"
        ) from None
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise ConfigError(f"model URL {shown!r} starts with {scheme}://; expected http:// or https://")
    if parts.username is not None or parts.password is not None or url_owner(text) is not None:
        # Not quoted: the text holds a password.
        raise ConfigError(
            f"the model URL for host {host} carries a user name or password. Take it out, put the key into an "
            "environment variable and name that with --api-key-name"
        )
    if not host:
        raise ConfigError(f"model URL {shown!r} names no host. Write it as {scheme}://HOST:PORT/v1")
    if "${" in f"{parts.netloc}{parts.fragment}":
        raise ConfigError(
            "the model URL has a variable in its host or after a #. ${VARIABLE} is replaced in the path and in the "
            "query only; write host and port out, or let your shell replace the variable (double quotes)"
        )
    if (part := key_in_url(text)) is not None:
        # Not quoted: the text holds a key.
        raise ConfigError(
            f"the model URL for host {host} carries what looks like a key in {part}, and URLs are recorded. Take it out, put the key "
            "into an environment variable and name that with --api-key-name; a server that does not take it as a bearer token can "
            "be sent a header, such as --header 'X-Api-Key=${MY_KEY}'. If it must be in the URL, write '${MY_KEY}' in its place, in "
            "single quotes"
        )
    format = wire_format(api)
    path, named_route = _without_route(parts.path.rstrip("/"), format)
    guessed = path == "" and not named_route and format.versioned
    return Address(
        scheme=scheme,
        host=host.lower(),
        port=port or _DEFAULT_PORTS[scheme],
        path="/v1" if guessed else _quoted(path, _PLAIN),
        query=_quoted(parts.query, f"{_PLAIN}?"),
        guessed=guessed,
    )


def _quoted(text: str, safe: str) -> str:
    """The text with odd characters percent-encoded, and each `${VARIABLE}` left as it is."""
    return "".join(
        piece if number % 2 else quote(piece, safe=safe)
        for number, piece in enumerate(re.split(r"(\$\{\w+\})", text))
    )


def _without_route(path: str, format: WireFormat) -> tuple[str, bool]:
    """The base path, and whether the route was written after it."""
    for ending in format.routes:
        if path.endswith(ending):
            return path[: -len(ending)].rstrip("/"), True
    if not format.versioned:  # such a server may have an OpenAI route too, whose base URL users may give
        path = path.removesuffix("/v1")
    return path, False


def _shown(text: str) -> str:
    """A URL for messages, without parts that may be a password or a key."""
    scheme = "" if "://" in text else "http://"  # it may be forgotten, and a password there all the same
    return re.split(r"[?#]", public_url(scheme + text), maxsplit=1)[0].removeprefix(scheme)


_SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
"""The proxy schemes of the HTTP client. It silently ignores proxies with any other scheme."""


def proxy_for(scheme: str, host: str, port: int, environment: Mapping[str, str]) -> str | None:
    """The proxy's URL, or None for a direct connection.

    Raises ConfigError for a proxy that cannot be used. Lower-case variables take precedence over upper-case ones, and
    `<scheme>_proxy` over `all_proxy`. Loopback is never proxied: an evaluation of a local server must not depend on a
    company's proxy settings.
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


def shown_proxy(proxy: str) -> str:
    """A proxy for messages: scheme, host and port, without user name, password and anything else."""
    parts = urlsplit(proxy)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def check_proxy(proxy: str, source: str, way_round: str) -> None:
    """Raise ConfigError for a proxy that the client would ignore. The message leaves out its URL, which may contain a
    password."""
    try:
        parts = urlsplit(proxy)
        scheme, host = parts.scheme.lower(), parts.hostname
        _ = parts.port
    except ValueError:
        scheme, host = "", None
    if scheme in _SCHEMES and host:
        return
    wrong = f"has the scheme {scheme}://" if host and scheme else "is not a URL"
    raise ConfigError(
        f"the proxy in {source} {wrong}; nothing was sent. Write http://HOST:PORT "
        f"(or {', '.join(f'{name}://' for name in _SCHEMES[1:])}), or connect directly: {way_round}"
    )


def is_loopback(host: str) -> bool:
    """Whether a host name or address is that of this machine."""
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
