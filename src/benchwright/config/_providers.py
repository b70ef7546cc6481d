"""Models by provider, `openai:gpt-4o-mini`, as other tools' files write them. The environment is looked at only
when such a model is used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import Struct

from benchwright.core import ConfigError

if TYPE_CHECKING:
    from benchwright.config._model import ModelConfig

RANDOM = ("random", "random_label")
"""Models that answer by chance."""

RANDOM_NOTE = "answers at random, the same for the same seed, prompt and repeat"
"""The note of a run on a random model."""


class Provider(Struct, frozen=True):
    """Where a provider's OpenAI-compatible routes are."""

    url: str
    """Base URL; `{account_id}` and `{gateway_id}` are filled in."""
    key_name: str
    """Environment variable of the key."""
    url_name: str | None = None
    """Environment variable that replaces the base URL."""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic": Provider("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "gemini": Provider("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "cloudflare_ai_gateway": Provider(
        "https://gateway.ai.cloudflare.com/v1/{account_id}/{gateway_id}/compat", "CLOUDFLARE_API_KEY"
    ),
}
"""Every provider by the name that stands before the colon."""

_PLACES = {"account_id": "CLOUDFLARE_ACCOUNT_ID", "gateway_id": "CLOUDFLARE_GATEWAY_ID"}


def is_provider_value(value: str) -> bool:
    """Whether a text names a model by its provider, or a random one.

    >>> is_provider_value("openai:gpt-4o-mini"), is_provider_value("random"), is_provider_value("local")
    (True, True, False)
    """
    return value in RANDOM or (":" in value and value.partition(":")[0] in PROVIDERS)


def provider_values(where: str, written: Mapping[str, object]) -> dict[str, object]:
    """A table whose `type` names a provider and a model, under our own keys; others come back as they are."""
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


def resolve_provider(model: ModelConfig) -> ModelConfig:
    """A model of a provider with its address and key variable; any other as it is.

    Raises ConfigError for a variable that is needed and not set.
    """
    provider = None if model.provider is None else PROVIDERS[model.provider]
    if provider is None:
        return model
    url = model.base_url or (os.environ.get(provider.url_name, "") if provider.url_name else "")
    name = model.model or ""
    if not url:
        places = {}
        for key, variable in _PLACES.items():
            if f"{{{key}}}" not in provider.url:
                continue
            found = getattr(model, key) or os.environ.get(variable)
            if not found:
                raise ConfigError(
                    f"model {model.name}: {model.provider} needs {key}. Write it in the model's table, or "
                    f"export {variable}=…"
                )
            places[key] = found
        url = provider.url.format(**places) if places else provider.url
    if model.provider == "cloudflare_ai_gateway" and name.startswith("@cf/"):
        name = f"workers-ai/{name}"  # how the gateway's common route calls Cloudflare's own models
    return replace(model, base_url=url, model=name, api_key_name=model.api_key_name or provider.key_name)
