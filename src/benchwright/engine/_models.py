"""Finds the model of a run: by flags, by a name from benchwright.toml, by a profile, or the embedded demo."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks import Generation
from benchwright.config import (
    BODY_SETTINGS,
    PROFILES,
    PROVIDERS,
    RECORDED,
    ConfigFile,
    ModelConfig,
    Profile,
    RunOptions,
)
from benchwright.core import LEFT_OUT, ConfigError, UsageError, is_secret_name, nearest, suggest
from benchwright.demo import DemoSettings
from benchwright.endpoints import Address, EndpointSettings, ScriptedSettings, wire_format
from benchwright.engine._loop import in_event_loop
from benchwright.engine._settings import AnyModel

if TYPE_CHECKING:
    from benchwright.config import PipelineSettings


_ATTEMPTS = {
    name: RECORDED[name]
    for name in EndpointSettings.__struct_fields__
    if name in RECORDED and RECORDED[name].group == "requests" and name != "parallelism"
}
"""Fields of an endpoint that options of a run set directly."""
_LISTED = 20
"""Most names of models in a message."""
DEFAULT_PARALLELISM = 16
"""The default number of samples in flight: gentle on a small server, enough for a laptop."""


class ChosenModel(Struct, frozen=True):
    """A model that is ready to be opened, and the settings of its requests."""

    unnamed: ClassVar[str] = "?"
    """The name of a model that only its server could name, if the server was not called."""

    endpoint: AnyModel
    generation: Generation
    """Settings of every request body."""
    model_type: str | None
    """The route of its requests; None: as the benchmark declares."""
    parallelism: int
    """Samples in flight at once."""
    repeats: int | None = None
    """Requests per row; None: as set for the run."""
    notes: tuple[str, ...] = ()
    """Notes about settings without effect and about substitutions."""
    system: str | None = None
    """Its system message, for benchmarks without a system message."""
    pipeline: PipelineSettings | None = None
    """Steps between runs and the model."""
    load: Mapping[str, Any] = {}
    """Settings of load tests, by name."""
    max_concurrency: int | None = None
    """The most requests at a time, from its table."""
    streams: bool | None = None
    """Whether replies are streamed, if that was set; None: as the profile says, or the default."""
    of_runs: tuple[str, ...] = ()
    """Settings of its table that have no meaning for load tests."""

    @classmethod
    def of(cls, options: RunOptions, config: ConfigFile | None, *, ask_server: bool = True) -> ChosenModel:
        """Resolve the model flags. If the model is not named, the server is asked for its list; if nothing may be sent, the
        model's name is a question mark."""
        address = options.address
        name = options.model
        configured = config.models if config is not None else {}
        model = None if name is None else configured.get(name) or ModelConfig.of_provider(name)
        if model is not None:
            _refuse_description(options, model, address)
            return _demo(options, model) if model.type == "demo" else _http(options, model, ask_server)
        profile = None if name is None else Profile.find(name)
        if profile is not None:
            if options.api not in (None, profile.api):
                raise UsageError(
                    f"profile {profile.name} speaks {profile.api}; leave --api {options.api} out"
                )
            return _http(options, profile.model_at(address, options.model_id), ask_server)
        if name is not None and name != "demo" and address is not None:
            raise UsageError(
                f"--model names a model of benchwright.toml or a profile, and {name!r} is neither. The name of a model on the server "
                f"of --model-url is its id: --model-id {name}"
            )
        if name is not None and name != "demo":
            where = config.path.name if config is not None else "no benchwright.toml was found"
            raise UsageError(
                f"no model named {name!r} ({where}).{_near_model(name, [*configured, *PROFILES, 'demo'])} "
                f"Known: {', '.join([*configured, 'demo'])}, PROVIDER:MODEL ({', '.join(PROVIDERS)}), and the profiles that benchwright ls "
                "--models lists. Or describe one: --model-url URL --model-id ID"
            )
        if address is None:
            _refuse_server_flags(options)
            return _demo(options, None)
        if name == "demo":
            raise UsageError("the demo model runs in this process and has no address; leave --model out")
        model = ModelConfig(
            name=options.model_id or ChosenModel.unnamed,
            base_url=address,
            model=options.model_id,
            only_model=options.api is None,
        )
        return _http(options, model, ask_server)

    @classmethod
    def scripted(cls, options: RunOptions) -> ChosenModel:
        """The model of a run with an endpoint object from the caller."""
        parallelism = options.parallelism or DEFAULT_PARALLELISM
        endpoint = ScriptedSettings(parallelism=parallelism)
        return cls(
            endpoint,
            _generation(options, endpoint.model_id, None),
            options.model_type,
            parallelism,
            pipeline=options.pipeline,
        )


_MAKERS = {
    "gpt": "openai",
    "chatgpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude": "anthropic",
    "gemini": "gemini",
}
"""Providers by the first word of their models' names."""


def _near_model(name: str, known: Sequence[str]) -> str:
    """What the user may have meant by a model that is not known."""
    provider, colon, model = name.partition(":")
    if colon and model and (near := nearest(provider, PROVIDERS)) is not None:
        return f" Did you mean --model {near}:{model}?"
    own = name.partition("/")[2] or name  # litellm writes openai/gpt-4o
    if (maker := _MAKERS.get(own.partition("-")[0].lower())) is not None:
        return f" Did you mean --model {maker}:{own}? It needs the variable {PROVIDERS[maker][1]}."
    return suggest(name, known)


def _refuse_description(options: RunOptions, model: ModelConfig, address: str | None) -> None:
    if address is not None:
        raise UsageError(
            "--model names a configured model and --model-url describes one; give only one of them"
        )
    if options.model_id is not None and (model.type == "demo" or model.model is not None):
        raise UsageError(f"--model-id: the configuration says which model {model.name} is; leave it out")
    if model.type == "demo":
        _refuse_server_flags(options)


def _refuse_server_flags(options: RunOptions) -> None:
    if options.model_id is not None:
        raise UsageError("--model-id also needs --model-url, the address of the server")
    if options.api_key_name is not None:
        raise UsageError("--api-key-name is for a model reached by --model-url; the demo model has no key")
    for flag, value in (
        ("--api", options.api),
        ("--header", options.headers),
        ("--verify", options.verify),
        ("--ca-file", options.ca_file),
    ):
        if value is not None:
            raise UsageError(f"{flag} is for a model reached by --model-url; the demo model has no server")


def _http(options: RunOptions, model: ModelConfig, ask_server: bool) -> ChosenModel:
    model = model.at_provider()
    parallelism = options.parallelism or model.max_concurrency or DEFAULT_PARALLELISM
    if model.max_concurrency is not None:  # a limit of the server, which no run may exceed
        parallelism = min(parallelism, model.max_concurrency)
    if options.demo_skill is not None:
        raise UsageError("--demo-skill is for the demo model; leave it out for a server")
    optional: dict[str, Any] = {
        "request_timeout_s": model.timeout,
        "max_retries": model.retries,
        "requests_per_minute": model.requests_per_minute,
    }
    given = options.given()
    optional |= {name: given[option.name] for name, option in _ATTEMPTS.items() if option.name in given}
    optional["verify"] = model.certificates(options.verify, options.ca_file)
    api: str = _first(options.api, model.api)
    model_type = _first(options.model_type, model.type)
    format = wire_format(api)
    if options.model_type == "chat" and not format.takes_messages:
        raise UsageError(
            f"wire format {api} takes one text, not chat messages; leave --model-type out, or use --api openai"
        )
    url = model.base_url or ""
    model_id = options.model_id or model.model or Address.model_in(url, api)
    endpoint = EndpointSettings(
        url=url,
        model_id=model_id or ChosenModel.unnamed,
        model_type=model_type or "chat",
        api=api,
        api_key_name=_first(options.api_key_name, model.api_key_name),
        headers=_headers(model.headers, options.headers or {}),
        parallelism=parallelism,
        **{name: value for name, value in optional.items() if value is not None},
    )
    if model_type is not None:
        endpoint.type_for(model_type)  # raises if the wire format does not support it
    if model_id is None:
        endpoint = _with_model(endpoint, ask_server, model)
    generation = _generation(options, endpoint.model_id, model)
    if generation.settings["stop"] and not format.takes_stop:
        raise UsageError(f"wire format {api} takes no stop texts; leave --stop out, or use --api openai")
    return ChosenModel(
        endpoint,
        generation,
        model_type,
        parallelism,
        model.repeats,
        model.notes,
        model.system,
        _first(options.pipeline, model.pipeline),
        model.load,
        model.max_concurrency,
        _first(options.stream, model.streams),
        tuple(name for name in ("retries", "repeats") if getattr(model, name) is not None),
    )


def _headers(model: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The headers of the model and of the run, which take precedence; case does not matter."""
    won = {name.lower() for name in given}
    return {**{name: value for name, value in model.items() if name.lower() not in won}, **given}


def _with_model(endpoint: EndpointSettings, ask_server: bool, model: ModelConfig) -> EndpointSettings:
    """The endpoint with the model that the server lists: the first of several, unless it must be the only one. The server is
    called once, and the run records the answer.

    Formats whose requests name no model do not need this: if the server names none, the user's name is kept.
    """
    model_in = wire_format(endpoint.api).model_in
    if model_in == "url":
        raise UsageError(
            f"wire format {endpoint.api} has the model's name in its URLs: give it with --model-id NAME"
        )
    if not ask_server:
        return endpoint
    from benchwright.endpoints import listed_models

    try:
        names: list[str] = in_event_loop(listed_models(endpoint))
    except ConfigError:
        if model_in != "nothing":
            raise
        names = [model.name]
    if len(names) > 1 and model.only_model:
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        flag = f"--model-id {shlex.quote(names[0])}"
        cure = (
            flag
            if model.name == ChosenModel.unnamed
            else f'model = "{names[0]}" in the table of {model.name}, or {flag}'
        )
        raise UsageError(
            f"the server has {len(names)} models: {', '.join(names[:_LISTED])}{more}. Choose one: {cure}"
        )
    return replace(endpoint, model_id=names[0])


def _demo(options: RunOptions, model: ModelConfig | None) -> ChosenModel:
    parallelism = options.parallelism or DEFAULT_PARALLELISM
    values: dict[str, Any] = dict(model.demo) if model is not None else {}
    if options.demo_skill is not None:
        if values.get("by_chance"):
            raise UsageError("--demo-skill is for the demo model; a random model has none")
        values["skill"] = options.demo_skill
    if options.max_retries is not None:
        values["max_retries"] = options.max_retries
    endpoint = DemoSettings(**{**values, "parallelism": parallelism})
    generation = _generation(options, endpoint.model_id, model)
    notes, system = (model.notes, model.system) if model is not None else ((), None)
    pipeline = _first(options.pipeline, None if model is None else model.pipeline)
    return ChosenModel(
        endpoint,
        generation,
        options.model_type,
        parallelism,
        None,
        notes,
        system,
        pipeline,
        streams=_first(options.stream, None if model is None else model.streams),
    )


def _generation(options: RunOptions, model_id: str, model: ModelConfig | None) -> Generation:
    given = {**(model.generation if model else {}), **options.given()}
    extra = {**(model.extra_body if model else {}), **(options.extra_body or {})}
    _refuse_secrets(extra)
    sent: dict[str, Any] = {
        setting.name: None if _left_out(given[setting.name]) else given[setting.name]
        for setting in BODY_SETTINGS
        if given.get(setting.name) is not None
    }
    return Generation.of(model_id, extra_body=extra, **sent)


def _left_out(value: Any) -> bool:
    """Whether a setting was written as `none`; for stop texts, only if it is the only one."""
    return value == LEFT_OUT or value in ([LEFT_OUT], (LEFT_OUT,))


def _refuse_secrets(body: Any) -> None:
    """Raise for secrets in a request body, because bodies are recorded and would reveal them in the run's files."""
    if not isinstance(body, Mapping):
        return
    for name, value in body.items():
        if isinstance(value, str) and is_secret_name(str(name)):
            raise UsageError(
                f"extra_body: {name} looks like a secret, and request bodies are recorded. Export it and send it as a "
                "header: --api-key-name MY_KEY, or --header 'X-Api-Key=${MY_KEY}'"
            )
        _refuse_secrets(value)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
