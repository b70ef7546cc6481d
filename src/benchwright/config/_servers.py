"""The server of a model: profiles, providers, addresses, headers, certificates.

A profile says how to call a server; the user gives its address. `openai:gpt-4o-mini` names a provider, as in files of
other tools. The environment is read only when such a model is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from benchwright.core import (
    ConfigError,
    Route,
    environment_secret,
    expand_home,
    is_secret_name,
    late_pattern,
    suggest,
)

if TYPE_CHECKING:
    from benchwright.config._model import ModelConfig


DEFAULT_PROFILE_URL = "http://localhost:8080"
_REFERENCE = late_pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Profile(Struct, frozen=True):
    """How to call one kind of server."""

    name: str
    """The name users type."""
    api: str
    """Wire format."""
    type: Route
    """Messages, or one text."""
    stream: bool
    """Whether replies are streamed by default."""
    description: str
    """One line for listings."""

    @property
    def url(self) -> str:
        """Where its server is by default."""
        return DEFAULT_PROFILE_URL

    def model_at(self, url: str | None, model: str | None) -> ModelConfig:
        """A model that consists of the profile and an address."""
        from benchwright.config._model import ModelConfig

        return ModelConfig(
            name=self.name,
            type=self.type,
            base_url=url or self.url,
            model=model,
            profile=self.name,
            api=self.api,
            generation={"stream": self.stream},
        )

    @staticmethod
    def find(name: str) -> Profile | None:
        """The profile of a name. Raises ConfigError for names of models that would run in this process."""
        if name not in PROFILES and name.lower().startswith(_IN_PROCESS):
            raise ConfigError(
                f"{name} runs the model in this process, which benchwright does not. Start a server for it (vllm serve "
                "MODEL, for example) and use --model vllm_api_general_chat --model-url http://localhost:8000"
            )
        return PROFILES.get(name)


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("vllm_api_general", "openai", "completions", False, "OpenAI completions (vLLM, SGLang and others)"),
        Profile("vllm_api_general_stream", "openai", "completions", True, "OpenAI completions, streamed"),
        Profile("vllm_api_general_chat", "openai", "chat", False, "OpenAI chat (vLLM, SGLang, MindIE and others)"),
        Profile("vllm_api_stream_chat", "openai", "chat", True, "OpenAI chat, streamed"),
        Profile("vllm_api_stream_chat_multiturn", "openai", "chat", True, "OpenAI chat, streamed, for conversations"),
        Profile("vllm_api_function_call_chat", "openai", "chat", False, "OpenAI chat, for function calling"),
        Profile("openai_responses", "responses", "chat", False, "OpenAI responses"),
        Profile("mindie_stream_api_general", "mindie", "completions", True, "MindIE's own /infer, streamed"),
        Profile("tgi_api_general", "tgi", "completions", False, "Text Generation Inference, /generate"),
        Profile("tgi_stream_api_general", "tgi", "completions", True, "Text Generation Inference, /generate_stream"),
        Profile("triton_api_general", "triton", "completions", False, "Triton, /v2/models/NAME/generate"),
        Profile("triton_stream_api_general", "triton", "completions", True, "Triton, /v2/models/NAME/generate_stream"),
    )
}  # fmt: skip
"""All profiles by name."""

_IN_PROCESS = ("hf_", "vllm_offline", "huggingface", "vllmoffline", "mindformer")


def resolve_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Replace each `${VARIABLE}` in headers from the environment. The result may contain secrets.

    >>> resolve_headers({"X-Team": "search"})
    {'X-Team': 'search'}
    """

    def value_of(found: re.Match[str]) -> str:
        variable = found.group(1)
        value = environment_secret(variable)
        if not value:
            raise ConfigError(
                f"a request header needs the environment variable {variable}, which is not set; nothing was sent. "
                f"Set it (export {variable}=…)"
            )
        return value

    return {name: _REFERENCE.sub(value_of, value) for name, value in headers.items()}


def header_variables(headers: Mapping[str, str]) -> list[str]:
    """Names of the environment variables that headers refer to.

    >>> header_variables({"X-Api-Key": "${MY_KEY}", "X-Team": "search"})
    ['MY_KEY']
    """
    return [name for value in headers.values() for name in _REFERENCE.findall(value)]


def without_references(text: str) -> str:
    """A text without its `${VARIABLE}`s, for records and messages.

    >>> without_references("http://me:${PASSWORD}@host")
    'http://me:@host'
    """
    return _REFERENCE.sub("", text)


def check_headers(where: str, headers: Mapping[str, object]) -> dict[str, str]:
    """Check headers: all values are texts, and none is a secret in plain text."""
    checked: dict[str, str] = {}
    for name, value in headers.items():
        if not isinstance(value, str):
            raise ConfigError(f"{where}: {name} is {value!r}; expected a text. Put it in quotes")
        if is_secret_name(name) and _REFERENCE.search(value) is None:
            raise ConfigError(
                f"{where}: {name} looks like a secret, and keys are not kept in files. "
                f'Name an environment variable: {name} = "${{MY_KEY}}"'
            )
        checked[name] = value
    return checked


def host_url(host: str | None, port: int | None, *, ssl: bool = False) -> str:
    """The URL of a host and a port; an IPv6 address gets its brackets.

    >>> host_url("::1", 8000), host_url(None, 8000, ssl=True)
    ('http://[::1]:8000', 'https://localhost:8000')
    """
    host = (host or "localhost").strip()
    if "/" in host:
        raise ConfigError(f"host {host!r} is a URL; give it as base_url, or the bare name of the host here")
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    return f"{'https' if ssl else 'http'}://{host}:{port or 8080}"


def trusted_certificates(verify: bool | None, ca_file: str | None) -> bool | str | None:
    """The trusted certificates: any (False), those of the system (True), or these and those of a file; None: not given.

    >>> trusted_certificates(None, "/certs/own.pem"), trusted_certificates(False, None)
    ('/certs/own.pem', False)
    """
    if ca_file is None:
        return verify
    if verify is False:
        raise ConfigError(
            "verify = false checks no certificate, so ca_file has no effect; leave one of them out"
        )
    return str(expand_home(ca_file).absolute())


def apply_profile(where: str, checked: dict[str, Any]) -> None:
    """Fill in the values of the profile that the table does not give."""
    name = checked.get("profile")
    if name is None:
        return
    profile = Profile.find(name)
    if profile is None:
        raise ConfigError(
            f"{where} profile: {name!r} is not known.{suggest(name, PROFILES)} Known: {', '.join(PROFILES)}"
        )
    if checked.setdefault("api", profile.api) != profile.api:
        raise ConfigError(
            f"{where}: profile {name} speaks {profile.api}, and api is {checked['api']!r}; leave api out"
        )
    checked.setdefault("type", profile.type)
    checked.setdefault("stream", profile.stream)


def set_address(where: str, checked: dict[str, Any]) -> None:
    """Set one base URL for any form of the address, and whether the server must have a single model."""
    parts = [key for key in ("host_ip", "host_port", "enable_ssl") if key in checked]
    host, port, ssl = (checked.pop(key, None) for key in ("host_ip", "host_port", "enable_ssl"))
    url = checked.get("base_url")
    known_kind = "profile" in checked or "api" in checked
    if "provider" in checked:
        if parts or known_kind:
            raise ConfigError(
                f"{where}: the provider says where its models are; leave host, profile and api out"
            )
        if "model" not in checked:
            raise ConfigError(f'{where} has no model. Write type = "{checked["provider"]}:MODEL"')
        return
    for key in ("account_id", "gateway_id"):
        if key in checked:
            raise ConfigError(
                f'{where} {key}: only a provider has this; add type = "cloudflare_ai_gateway:MODEL"'
            )
    if url is not None:
        if host not in (None, "localhost") or port not in (None, 8080):  # defaults of their templates
            raise ConfigError(f"{where} has base_url and host_ip or host_port; keep one of them")
        if "://" not in url and "profile" in checked:
            checked["base_url"] = f"{'https' if ssl else 'http'}://{url}"
    elif parts or "profile" in checked:
        checked["base_url"] = host_url(host, port, ssl=bool(ssl))
    else:
        raise ConfigError(f'{where} has no base_url. Add, for example: base_url = "http://localhost:8000/v1"')
    checked["only_model"] = "model" not in checked and not known_kind


RANDOM = ("random", "random_label")
"""Models that answer by chance."""

RANDOM_NOTE = "answers at random, the same for the same seed, prompt and repeat"
"""The note of a run on a random model."""


PROVIDERS: Mapping[str, tuple[str, str]] = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "gemini": ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "cloudflare_ai_gateway": (
        "https://gateway.ai.cloudflare.com/v1/{account_id}/{gateway_id}/compat",
        "CLOUDFLARE_API_KEY",
    ),
}
"""Every provider by the name before the colon: the base URL of its OpenAI-compatible routes, in which `{account_id}` and `{gateway_id}` are
filled in, and the environment variable of the key."""
URL_VARIABLES = {"openai": "OPENAI_BASE_URL"}
"""Environment variables that replace the base URL of a provider."""


def is_provider_value(value: str) -> bool:
    """Whether a text names a model by its provider, or a random one.

    >>> is_provider_value("openai:gpt-4o-mini"), is_provider_value("random"), is_provider_value("local")
    (True, True, False)
    """
    return value in RANDOM or (":" in value and value.partition(":")[0] in PROVIDERS)


def provider_values(where: str, written: Mapping[str, object]) -> dict[str, object]:
    """Translate a table whose `type` names a provider and a model to our keys; others stay unchanged."""
    kind = written.get("type")
    values = dict(written)
    if not isinstance(kind, str):
        return values
    if kind in RANDOM:
        return {**values, "type": "demo"}
    provider, colon, model = kind.partition(":")
    if not colon or "://" in kind:
        return values
    if provider not in PROVIDERS:
        raise ConfigError(
            f"{where} type: provider {provider!r} is not known. Known: {', '.join(PROVIDERS)}. For another server "
            "with OpenAI's routes, give base_url and model instead"
        )
    if not model:
        raise ConfigError(f'{where} type: {kind!r} names no model; expected "{provider}:MODEL"')
    if "model" in values:
        raise ConfigError(f"{where} names the model in type and in model; keep one of them")
    del values["type"]
    return {**values, "provider": provider, "model": model}
