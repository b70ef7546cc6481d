"""`ls --models`: what `--model` takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchwright.config import DEFAULT_PROFILE_URL, PROFILES, ModelConfig, Profile, find_config


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A name that `--model` takes."""

    name: str
    """What to type."""
    kind: Literal["config", "profile", "demo"]
    """A model of benchwright.toml, a profile that still wants an address, or the embedded stand-in."""
    api: str | None
    """Wire format; None for demo models."""
    type: str | None
    """chat, completions or completions_logprob; None: as the benchmark declares."""
    stream: bool
    """Whether replies are streamed, unless told otherwise."""
    url: str | None
    """Where it is; for a profile, where it is looked for without an address."""
    model: str | None
    """The model's name at the server; None: the first that the server lists."""
    description: str
    """One line for people."""


def list_models(cwd: Path | None = None) -> list[KnownModel]:
    """Models of the configuration, the demo model, and the profiles. No server is asked."""
    config = find_config(cwd or Path.cwd())
    configured = {} if config is None else config.models
    found = [_configured(model) for model in configured.values()]
    if "demo" not in configured:
        found.append(
            KnownModel("demo", "demo", None, None, False, None, "demo", "embedded stand-in, no server")
        )
    found += [_of_profile(profile) for profile in PROFILES.values() if profile.name not in configured]
    return found


def _of_profile(profile: Profile) -> KnownModel:
    return KnownModel(
        profile.name, "profile", profile.api, profile.type, profile.stream, DEFAULT_PROFILE_URL, None,
        profile.description,
    )  # fmt: skip


def _configured(model: ModelConfig) -> KnownModel:
    if model.type == "demo":
        character = ", ".join(f"{name} {value}" for name, value in model.demo.items())
        return KnownModel(
            model.name, "config", None, None, False, None, "demo", f"demo model {character}".strip()
        )
    asked = model.model or "first model listed"
    if model.provider is not None:
        return KnownModel(
            model.name, "config", model.api, model.type, bool(model.generation.get("stream")), model.base_url, model.model,
            f"{asked} of {model.provider}",
        )  # fmt: skip
    return KnownModel(
        model.name, "config", model.api, model.type, bool(model.generation.get("stream")), model.base_url, model.model,
        f"{asked} at {model.base_url}",
    )  # fmt: skip
