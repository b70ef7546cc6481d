"""Which model is meant: flags, a name from benchwright.toml, or the embedded demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchwright.benchmarks import Generation
from benchwright.config import ConfigFile, ModelConfig
from benchwright.core import UsageError, suggest
from benchwright.endpoints import DemoSettings, EndpointSettings, ScriptedSettings
from benchwright.engine import ModelSettings
from benchwright.sdk._options import RunOptions

DEFAULT_PARALLELISM = 16
"""Samples in flight when nobody says otherwise: polite to a small server, enough for a laptop."""


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model, ready to be opened, and what its requests say."""

    endpoint: ModelSettings
    """Where it is."""
    generation: Generation
    """What every request body holds."""
    model_type: str | None
    """How it wants to be asked; None: as the benchmark declares."""
    parallelism: int
    """Samples in flight at once."""

    @property
    def demo(self) -> bool:
        """Whether this is the embedded demo model."""
        return isinstance(self.endpoint, DemoSettings)


def scripted_model(options: RunOptions) -> ChosenModel:
    """The model of a run that is answered by an endpoint object of the caller's."""
    parallelism = options.parallelism or DEFAULT_PARALLELISM
    endpoint = ScriptedSettings(parallelism=parallelism)
    return ChosenModel(
        endpoint, _generation(options, endpoint.model_id, None), options.model_type, parallelism
    )


def choose_model(options: RunOptions, config: ConfigFile | None) -> ChosenModel:
    """Resolve the model flags."""
    if options.model_url is not None:
        if options.model is not None:
            raise UsageError(
                "--model names a configured model and --model-url describes one; give only one of them"
            )
        if options.model_id is None:
            raise UsageError("--model-url also needs --model-id, the name the server knows the model by")
        return _http(
            options, ModelConfig(name=options.model_id, base_url=options.model_url, model=options.model_id)
        )
    if options.model_id is not None:
        raise UsageError("--model-id also needs --model-url, the address of the server")
    if options.api_key_name is not None and options.model in (None, "demo"):
        raise UsageError("--api-key-name is for a model reached by --model-url; the demo model has no key")
    name = options.model or "demo"
    configured = config.models if config is not None else {}
    if name in configured:
        model = configured[name]
        return _demo(options, model) if model.type == "demo" else _http(options, model)
    if name == "demo":
        return _demo(options, None)
    where = config.path.name if config is not None else "no benchwright.toml was found"
    raise UsageError(
        f"no model named {name!r} ({where}).{suggest(name, [*configured, 'demo'])} "
        f"Known: {', '.join([*configured, 'demo'])}. Or describe one: --model-url URL --model-id ID"
    )


def _http(options: RunOptions, model: ModelConfig) -> ChosenModel:
    parallelism = options.parallelism or model.max_concurrency or DEFAULT_PARALLELISM
    if model.max_concurrency is not None:  # a promise to the server, whatever a run would like
        parallelism = min(parallelism, model.max_concurrency)
    if options.demo_skill is not None:
        raise UsageError("--demo-skill is for the demo model; a server has the skill it has")
    optional: dict[str, Any] = {
        "request_timeout_s": _first(options.request_timeout, model.timeout),
        "sample_timeout_s": options.timeout_per_sample,
        "max_retries": _first(options.max_retries, model.retries),
        "retry_backoff_s": options.retry_backoff,
    }
    model_type = _first(options.model_type, model.type)
    endpoint = EndpointSettings(
        url=model.base_url or "",
        model_id=model.model or model.name,
        model_type=model_type or "chat",
        api_key_name=_first(options.api_key_name, model.api_key_name),
        headers=dict(model.headers),
        parallelism=parallelism,
        **{name: value for name, value in optional.items() if value is not None},
    )
    return ChosenModel(endpoint, _generation(options, endpoint.model_id, model), model_type, parallelism)


def _demo(options: RunOptions, model: ModelConfig | None) -> ChosenModel:
    parallelism = options.parallelism or DEFAULT_PARALLELISM
    values: dict[str, Any] = dict(model.demo) if model is not None else {}
    if options.demo_skill is not None:
        values["skill"] = options.demo_skill
    if options.max_retries is not None:
        values["max_retries"] = options.max_retries
    endpoint = DemoSettings(**{**values, "parallelism": parallelism})
    return ChosenModel(endpoint, _generation(options, "demo", model), options.model_type, parallelism)


def _generation(options: RunOptions, model_id: str, model: ModelConfig | None) -> Generation:
    said: dict[str, Any] = {
        "temperature": _first(options.temperature, model and model.temperature),
        "top_p": _first(options.top_p, model and model.top_p),
        "max_tokens": _first(options.max_tokens, model and model.max_tokens),
        "stop": _first(options.stop, model and model.stop),
        "seed": _first(options.seed, model and model.seed),
        "stream": options.stream,
        "extra_body": {**(model.extra_body if model else {}), **(options.extra_body or {})} or None,
    }
    return Generation(model=model_id, **{name: value for name, value in said.items() if value is not None})


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
