"""Where an endpoint is: turns what users write as its URL into the URLs that requests go to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from benchwright.core import Api, ConfigError, WireFormat, is_secret_name, public_url, url_owner
from benchwright.endpoints._wires.formats import wire_format

_TRITON_MODEL = re.compile(r"/v2/models/([^/]+)(?:/versions/[^/]+)?$")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Address:
    """A base URL in canonical form."""

    scheme: str
    """`http` or `https`."""
    host: str
    """Lower case, without brackets."""
    port: int
    """Always given."""
    path: str
    """Base path without the route and without a slash at the end; `/v1` for a bare host, where routes are below it."""
    query: str = ""
    """Query string to send with every request, without the question mark."""
    guessed: bool = False
    """Whether `/v1` is our addition to a bare host; a server that does not know it is asked without."""

    @property
    def origin(self) -> str:
        """Scheme, host and port; the scheme's own port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    @property
    def public(self) -> str:
        """The base URL for people and fingerprints. No secrets: an address with one is not accepted."""
        return self.origin + self.path + (f"?{self.query}" if self.query else "")

    def url_of(self, route: str) -> str:
        """The full URL of a route, which begins with a slash."""
        return self.origin + self.path + route + (f"?{self.query}" if self.query else "")

    @property
    def named_model(self) -> str | None:
        """The model that a Triton URL names (`…/v2/models/NAME`), if it does."""
        found = _TRITON_MODEL.search(self.path)
        return None if found is None else unquote(found.group(1))

    def without_guess(self) -> Address:
        """The same bare host with no path at all."""
        return Address(self.scheme, self.host, self.port, "", self.query)


@lru_cache(maxsize=64)
def parse_address(url: str, api: Api = "openai") -> Address:
    """Read a model URL, with or without path, route and slash at the end.

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
    for name, value in parse_qsl(f"{parts.query}&{parts.fragment}", keep_blank_values=True):
        if is_secret_name(name):
            where = f" parameter {name!r}" if value else ""  # a name without value may be the secret itself
            raise ConfigError(
                f"the model URL for host {host} carries a secret in its query{where}, and URLs are recorded. Take it "
                "out, put the key into an environment variable and name that with --api-key-name; a server that does "
                "not take it as a bearer token can be sent a header, written in benchwright.toml as "
                'headers = { X-Api-Key = "${MY_KEY}" }'
            )
    format = wire_format(api)
    path, named_route = _without_route(parts.path.rstrip("/"), format)
    guessed = path == "" and not named_route and format.versioned
    return Address(
        scheme=scheme,
        host=host.lower(),
        port=port or _DEFAULT_PORTS[scheme],
        path="/v1" if guessed else quote(path, safe="/%:@!$&'()*+,;=-._~"),
        query=parts.query,
        guessed=guessed,
    )


def model_in_url(url: str, api: Api) -> str | None:
    """The model that a URL names, where the wire format has models in its URLs.

    >>> model_in_url("http://h/v2/models/llama/generate", "triton")
    'llama'
    """
    return parse_address(url, api).named_model if wire_format(api).model_in == "url" else None


def _without_route(path: str, format: WireFormat) -> tuple[str, bool]:
    """The base path, and whether the route was written behind it."""
    for ending in format.routes:
        if path.endswith(ending):
            return path[: -len(ending)].rstrip("/"), True
    if not format.versioned:  # such a server may have an OpenAI route too, whose base URL people have at hand
        path = path.removesuffix("/v1")
    return path, False


def _shown(text: str) -> str:
    """A URL for messages: without what may be a password or a key."""
    if "://" not in text:  # forgotten, perhaps, and a password may stand there all the same
        return public_url(f"http://{text}").removeprefix("http://").partition("?")[0]
    return re.split(r"[?#]", public_url(text), maxsplit=1)[0]
