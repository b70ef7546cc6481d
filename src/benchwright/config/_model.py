"""`[models.NAME]`: an endpoint under a short name, or a demo model with its own character."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from benchwright.config._run_settings import MODEL_TYPES
from benchwright.config._setting import Setting
from benchwright.config._tables import read_table
from benchwright.core import ConfigError, JsonObject

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|password|cookie", re.IGNORECASE)

_TYPE = Setting("type", "text", "how it is asked", choices=(*MODEL_TYPES, "demo"))
_GENERATION = (
    Setting("temperature", "number", "sampling temperature", least=0),
    Setting("top_p", "number", "nucleus sampling", above=0, most=1),
    Setting("max_tokens", "int", "longest reply", least=1, aliases=("max_new_tokens",)),
    Setting("stop", "texts", "where replies end"),
    Setting("extra_body", "table", "further fields of each request body"),
)
_HTTP = (
    _TYPE,
    Setting("base_url", "text", "URL, with or without the route", aliases=("url", "model_url")),
    Setting("model", "text", "the model's name at the server", aliases=("model_id",)),
    Setting("api_key_name", "text", "environment variable of the key", aliases=("api_key_env",)),
    Setting("timeout", "number", "seconds for one attempt", above=0, aliases=("request_timeout",)),
    Setting("retries", "int", "further attempts after a failure", least=0, aliases=("max_retries",)),
    Setting(
        "max_concurrency", "int", "most requests at a time", least=1, aliases=("parallelism", "concurrency")
    ),
    Setting("seed", "int", "sampling seed"),
    Setting("headers", "table", "further request headers"),
    *_GENERATION,
)
_CHARACTER = (
    Setting("skill", "number", "share of solvable questions answered rightly", least=0, most=1),
    Setting("ttft_ms", "number", "milliseconds to the first token", least=0),
    Setting("itl_ms", "number", "milliseconds between tokens", least=0),
    Setting("error_rate", "number", "share of attempts that fail", least=0, most=1),
    Setting("max_retries", "int", "further attempts after a failure", least=0, aliases=("retries",)),
    Setting("seed", "int", "which questions it gets wrong"),
)
_DEMO = (_TYPE, *_GENERATION, *_CHARACTER)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A model as the configuration file describes it. None: not set there."""

    name: str
    """The name users type."""
    type: str | None = None
    """chat, completions, completions_logprob, or demo; None: as the benchmark declares."""
    base_url: str | None = None
    """URL of the server; set exactly when the model is no demo."""
    model: str | None = None
    """The model's name at the server; set exactly when the model is no demo."""
    api_key_name: str | None = None
    """Environment variable that holds the key."""
    temperature: float | None = None
    """Sampling temperature."""
    top_p: float | None = None
    """Nucleus sampling."""
    max_tokens: int | None = None
    """Longest reply, in tokens."""
    seed: int | None = None
    """Sampling seed."""
    stop: tuple[str, ...] | None = None
    """Where replies end."""
    timeout: float | None = None
    """Seconds for one attempt."""
    retries: int | None = None
    """Further attempts after a failure."""
    max_concurrency: int | None = None
    """Most requests at a time."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further request headers as written; `${VARIABLE}` stands for a value of the environment."""
    extra_body: JsonObject = field(default_factory=dict)
    """Further fields of each request body."""
    demo: JsonObject = field(default_factory=dict)
    """What is set of a demo model's character: skill, ttft_ms, itl_ms, error_rate, max_retries, seed."""


def read_model(file: Path, name: str, values: Mapping[str, object]) -> ModelConfig:
    """One `[models.NAME]` table, checked."""
    table = f"models.{name}"
    demo = values.get("type") == "demo"
    if name == "demo" and not demo:
        raise ConfigError(
            f'{file}: [{table}]: the name "demo" is kept for the embedded stand-in, so that no real result is '
            'mistaken for it. Choose another name, or add type = "demo"'
        )
    # Any: the table was checked key by key, against the types of the fields below.
    checked: dict[str, Any] = dict(
        read_table(file, table, values, _DEMO if demo else _HTTP, hints=_hints(demo))
    )
    if not demo:
        for key, example in (("base_url", "http://localhost:8000/v1"), ("model", "my-model")):
            if key not in checked:
                raise ConfigError(f'{file}: [{table}] has no {key}. Add, for example: {key} = "{example}"')
    variable = checked.get("api_key_name")
    if variable is not None and _VARIABLE.fullmatch(variable) is None:
        raise ConfigError(  # probably the key itself, so it is not repeated
            f"{file}: [{table}] api_key_name is not the name of an environment variable (letters, digits, _). "
            'Export the key as a variable and write its name: api_key_name = "MY_KEY"'
        )
    if demo:
        character = {s.name: checked.pop(s.name) for s in _CHARACTER if s.name in checked}
        checked["demo"] = character
    if "stop" in checked:
        checked["stop"] = tuple(checked["stop"])
    if "headers" in checked:
        checked["headers"] = _headers(file, table, checked["headers"])
    return ModelConfig(name=name, **checked)


def resolve_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers with each `${VARIABLE}` replaced from the environment. The result may hold secrets.

    >>> resolve_headers({"X-Team": "search"})
    {'X-Team': 'search'}
    """

    def value_of(found: re.Match[str]) -> str:
        variable = found.group(1)
        if not os.environ.get(variable):
            raise ConfigError(
                f"a request header needs the environment variable {variable}, which is not set; nothing was sent. "
                f"Set it (export {variable}=…)"
            )
        return os.environ[variable]

    return {name: _REFERENCE.sub(value_of, value) for name, value in headers.items()}


def _headers(file: Path, table: str, headers: JsonObject) -> dict[str, str]:
    for name, value in headers.items():
        if not isinstance(value, str):
            raise ConfigError(f"{file}: [{table}] headers: {name} is {value!r}; expected a text")
        if _SECRET_HEADER.search(name) and _REFERENCE.search(value) is None:
            raise ConfigError(
                f"{file}: [{table}] headers: {name} looks like a secret, and keys are not kept in files. "
                f'Name an environment variable: {name} = "${{MY_KEY}}"'
            )
    return cast(dict[str, str], headers)


def _hints(demo: bool) -> dict[str, str]:
    if demo:
        text = 'a demo model runs in this process and has no server; leave it out, or remove type = "demo"'
        return dict.fromkeys(
            (s.name for s in _HTTP if s.name not in {d.name for d in _DEMO}),
            text,
        )
    text = 'only demo models have this; add type = "demo", or leave it out'
    return dict.fromkeys((s.name for s in _CHARACTER), text)
