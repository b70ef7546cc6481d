"""The settings of an HTTP endpoint, checked on creation, before anything is sent; its API key; and what a run records for
a script."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from msgspec import field
from msgspec.structs import replace

from benchwright.config import HARMLESS, RECORDED, Setting
from benchwright.core import (
    MODEL_TYPES,
    ConfigError,
    HidesFields,
    ModelRequest,
    ModelType,
    UsageError,
    environment_secret,
    is_secret_name,
    late_pattern,
    load_json,
    remember_secret,
    suggest,
)
from benchwright.endpoints._addresses import Address, check_proxy, parse_address
from benchwright.endpoints._endpoint import ModelSettings
from benchwright.endpoints._wires.formats import package_of, wire_format, wire_of

if TYPE_CHECKING:
    from benchwright.endpoints._endpoint import TimedEndpoint
    from benchwright.endpoints._metrics_page import MetricsPage


def read_api_key(variable: str, setting: str = "--api-key-name") -> str:
    """Read the key from an environment variable. Raises an error that names the variable if there is none."""
    value = environment_secret(variable).strip()
    if not value:
        state = "is empty" if variable in os.environ else "is not set"
        raise ConfigError(
            f"the API key's environment variable {variable} {state}; nothing was sent. "
            f"Set it (export {variable}=…), or leave {setting} out if the server needs no key"
        )
    if not value.isascii() or not value.isprintable():
        raise ConfigError(
            f"the API key in {variable} contains a character that cannot be sent in a header; copy it again"
        )
    return value


SERVED_BY_DEMO = "benchwright-demo"
"""The mark of `simulate` in its replies (`system_fingerprint`), so that its numbers are recognised as such."""

_VARIABLE = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")


_NO_OPTION = ("requests_per_minute", "proxy", "http2")
"""Fields that no option of a run sets and that affect when and how a reply arrives, but not its content."""


_DEFAULT_API = "openai"
"""The format of a server whose settings name none. Fingerprints leave it out."""


class EndpointSettings(HidesFields, ModelSettings, frozen=True, kw_only=True):
    """A model server and how to treat it.

    >>> EndpointSettings(url="localhost:8000", model_id="m")
    Traceback (most recent call last):
    ...
    benchwright.ConfigError: model URL 'localhost:8000' has no http:// or https:// in front. \
Write http://localhost:8000
    """

    usual_retries: ClassVar[int] = 3
    """Attempts after the first, unless the user chooses another number."""

    hidden = ("headers",)
    kind = "http"
    by_http = True

    url: str
    """With or without the path: `http://host:8000`, `…/v1` and `…/v1/chat/completions` mean the same."""
    model_id: str
    """The model's name, as the server knows it."""
    model_type: ModelType = "chat"
    """How requests are sent to the model."""
    api: str = _DEFAULT_API
    """Which wire format the server speaks."""
    api_key_name: str | None = None
    """Environment variable that contains the key. The key itself is never part of the settings."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional request headers as written; `${VARIABLE}` refers to an environment variable. Not shown in
    representations, because the values may be secret."""
    request_timeout_s: float = 120.0
    """Limit for one attempt, from connecting to the last byte."""
    sample_timeout_s: float | None = None
    """Limit for all attempts of one request and the pauses between them, not counting time spent waiting for a free
    place. None: `request_timeout_s` × (`max_retries` + 1)."""
    max_retries: int = usual_retries
    """Attempts after the first. As many again may be made if a failure says little about the next attempt: the server
    answers most requests, or refused many together (429, 503)."""
    retry_backoff_s: float = 0.5
    """Upper end of the first random pause; doubles with each attempt."""
    parallelism: int = 16
    """The most requests in flight at once."""
    requests_per_minute: float | None = None
    """The most requests sent in a minute, including retries, evenly spread; None: only the parallelism limits them."""
    proxy: str | None = None
    """Proxy URL; None: as HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY say. Loopback is never proxied.
    A proxy with a password must be given by the environment: settings are recorded."""
    verify: bool | str = True
    """Check TLS certificates; a path names a PEM file with a further root certificate."""
    http2: bool = False
    """Offer HTTP/2 on TLS connections."""
    max_event_bytes: int = 16 * 1024 * 1024
    """Largest event of a stream; a larger one fails the request instead of filling the memory."""

    def __post_init__(self) -> None:
        wire_format(self.api)
        parse_address(self.url, self.api)
        named = Address.model_in(self.url, self.api)
        if not self.model_id:
            raise ConfigError("the model has no id. Give the name the server knows it by: --model-id NAME")
        if named is not None and named != self.model_id:
            raise ConfigError(
                f"the model URL names the model {named!r}, and the model id is {self.model_id!r}. "
                f"Leave one out, or write --model-id {named}"
            )
        if self.model_type not in MODEL_TYPES:
            raise ConfigError(
                f"model type {self.model_type!r} is not known; expected {', '.join(MODEL_TYPES)}."
                + suggest(str(self.model_type), MODEL_TYPES)
            )
        if self.api_key_name is not None and _VARIABLE.fullmatch(self.api_key_name) is None:
            raise ConfigError(  # probably the key itself, so it is not repeated
                "--api-key-name is not the name of an environment variable (letters, digits, _). "
                "Export the key (export MY_KEY=…) and give the variable's name: --api-key-name MY_KEY"
            )
        if self.requests_per_minute is not None and not self.requests_per_minute > 0:
            raise ConfigError(
                f"requests_per_minute is {self.requests_per_minute!r}; expected a number above 0"
            )
        for name, option in _CHECKED.items():
            value = getattr(self, name)
            if value is not None:
                _check_range(name, option, value)
        _check_headers(self.headers)
        if self.proxy is not None:
            check_proxy(self.proxy, "the setting `proxy`", "leave it out")
        if self.proxy is not None and "@" in self.proxy:
            raise ConfigError(
                "the proxy URL carries a user name or password, which would be recorded with the run. "
                "Put it into the environment instead (export HTTPS_PROXY=…) and leave the setting out"
            )

    @property
    def address(self) -> Address:
        """Where requests go."""
        return parse_address(self.url, self.api)

    @property
    def sample_budget_s(self) -> float:
        """Seconds for all attempts of one request."""
        if self.sample_timeout_s is not None:
            return self.sample_timeout_s
        return self.request_timeout_s * (self.max_retries + 1)

    def type_for(self, declared: ModelType, *, conversation: bool = False, tools: bool = False) -> ModelType:
        """The model type to use if a benchmark declares `declared`: `completions` for a server that takes plain text.

        Raises ConfigError for what the wire format cannot do: ranking, tools, and conversations if it takes one text.

        >>> EndpointSettings(url="http://h", model_id="m", api="tgi").type_for("chat")
        'completions'
        """
        format = wire_format(self.api)
        if declared == "completions_logprob":
            if format.ranks_choices:
                return declared
            raise ConfigError(
                f"choices are ranked with the echoed log-probabilities of OpenAI's completions route, which wire "
                f"format {self.api!r} does not give; nothing was sent. Use --api openai with a server that has that "
                "route (vLLM has), or --model-type completions with a benchmark that asks for text"
            )
        if format.takes_messages:
            if tools and not format.takes_tools:
                raise ConfigError(
                    f"the benchmark sends functions as tools, which wire format {self.api!r} does not take; nothing was sent. "
                    "Describe the functions in the prompt: --no-native-calling"
                )
            return declared
        if conversation:
            raise ConfigError(
                f"the benchmark is a conversation, and wire format {self.api!r} takes one text; nothing was sent. "
                "Use --api openai, if the server has that route"
            )
        return "completions"

    def check_secrets(self, key_setting: str = "--api-key-name") -> None:
        """Raise ConfigError if the environment lacks the key or a value of a header; nothing is opened or sent."""
        if self.api_key_name:
            read_api_key(self.api_key_name, key_setting)
        self.own_headers()
        self.address.url_of("")

    def own_headers(self) -> dict[str, str]:
        """The additional headers with values from the environment, for requests only; these are never recorded."""
        if not self.headers:
            return {}
        from benchwright.config import resolve_headers

        found = resolve_headers(self.headers)
        _check_headers(found)
        for name, value in found.items():
            if is_secret_name(name):  # no matter where the value came from
                remember_secret(value, f"header {name}")
        return found

    def variables(self) -> list[str]:
        """The variables of its headers and its key."""
        from benchwright.config import header_variables

        return [*header_variables(self.headers), *([self.api_key_name] if self.api_key_name else [])]

    def as_sent(self, request: ModelRequest) -> ModelRequest:
        """The request in the words of the wire format; an id that is new for every request is one of many."""
        from benchwright.endpoints._wires.wire import UnsendableRequestError  # not for runs

        try:
            payload = wire_of(self.api).payload(request)
        except UnsendableRequestError as error:
            raise UnsendableRequestError(f"wire format {self.api}: {error}") from None
        return replace(request, body=load_json(payload), payload=payload)

    def at_server(self, **changes: Any) -> Self:
        """The settings with these changes."""
        return replace(self, **changes)

    def metrics_page(self) -> MetricsPage:
        """The page, of any server: many have none."""
        from benchwright.endpoints._metrics_page import MetricsPage

        return MetricsPage(self)

    def open(self, **arguments: Any) -> TimedEndpoint:
        from benchwright.endpoints._open import open_server

        return open_server(self, **arguments)

    def fingerprint(self) -> str:
        """Identifies the endpoint and model in request keys; equal for all spellings of one URL.

        It contains no secret: of headers and query parameters with a secret value, only the name is part of it.

        >>> EndpointSettings(url="HTTP://Host:80/v1/chat/completions", model_id="m").fingerprint()
        'http://host/v1 m'
        """
        parts = [self.address.public, self.model_id]
        if self.api != _DEFAULT_API:
            parts.append(f"api={self.api} {package_of(self.api)}".rstrip())
        for name in sorted(self.headers, key=str.lower):
            shown = "…" if is_secret_name(name) else self.headers[name]
            parts.append(f"{name.lower()}={shown}")
        return " ".join(parts)

    @staticmethod
    def changing_no_reply() -> frozenset[str]:
        """Fields of `EndpointSettings` that affect when and how a reply arrives, but not its content."""
        return frozenset(
            name
            for name in EndpointSettings.__struct_fields__
            if name in _NO_OPTION or (name in RECORDED and RECORDED[name].decides in HARMLESS)
        )


_CHECKED = {
    name: RECORDED[name]
    for name in EndpointSettings.__struct_fields__
    if name in RECORDED and RECORDED[name].kind in ("int", "number")
}
"""Fields with a range, and the options of a run that declare it."""


def _check_range(name: str, option: Setting, value: float) -> None:
    try:
        option.check(value)
    except ValueError:
        unit = "seconds " if option.kind == "number" else ""
        raise ConfigError(f"{name} is {value!r}; expected {unit}{option.limits}") from None


def _check_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not name or not name.isascii() or any(c in name for c in " :\t\r\n"):
            raise ConfigError(f"header name {name!r} cannot be sent; use letters, digits and '-'")
        if any(c in value for c in "\r\n\0") or not value.isascii():
            raise ConfigError(f"the value of header {name!r} has a line break or a character outside ASCII")


class ScriptedSettings(ModelSettings, frozen=True, kw_only=True):
    """Records that a run used a script. The answers themselves are recorded as replies."""

    kind = "scripted"
    reusable = False  # all scripts have the same fingerprint

    model_id: str = "scripted"
    """Name in listings and files."""
    parallelism: int = 16
    """Requests at a time."""

    def fingerprint(self) -> str:
        """The fingerprint, which is the same for all scripts."""
        return f"scripted://{self.model_id}"

    def open(self, **_: object) -> TimedEndpoint:
        """Raise UsageError: nothing is known of the script."""
        raise UsageError("this run was answered by a script; give it again: resume(run, endpoint=…)")
