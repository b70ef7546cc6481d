"""`[models.NAME]`: an endpoint under a short name, or a demo model with special settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from benchwright.config._run_settings import BODY_SETTINGS, settings_of
from benchwright.config._servers import (
    PROVIDERS,
    RANDOM,
    RANDOM_NOTE,
    URL_VARIABLES,
    apply_profile,
    check_headers,
    is_provider_value,
    provider_values,
    set_address,
    trusted_certificates,
)
from benchwright.config._setting import Setting
from benchwright.config._values import read_values, text_or_file
from benchwright.core import (
    MODEL_TYPES,
    ConfigError,
    JsonObject,
    JsonValue,
    UsageError,
    bridge,
    expand_home,
    late_pattern,
)

if TYPE_CHECKING:
    from benchwright.config._pipeline import PipelineSettings

_VARIABLE = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACES = {"account_id": "CLOUDFLARE_ACCOUNT_ID", "gateway_id": "CLOUDFLARE_GATEWAY_ID"}

_TYPE = Setting("type", "text", "kind of request", choices=(*MODEL_TYPES, "demo"))
_ALSO = {"headers": {"kind": "table", "aliases": ()}, "repeats": {"aliases": ("num_return_sequences",)}}
"""Settings of runs with another form in a model's table."""
_HTTP = (
    _TYPE,
    Setting("base_url", "text", "URL, with or without the route", aliases=("url", "model_url")),
    Setting("profile", "text", "a kind of server by name"),
    Setting("model", "text", "the model's name at the server", aliases=("model_id", "model_name")),
    Setting("timeout", "number", "seconds for one attempt", above=0, aliases=("request_timeout",)),
    Setting("retries", "int", "further attempts after a failure", least=0, aliases=("max_retries",)),
    Setting(
        "max_concurrency",
        "int",
        "maximum number of requests at a time",
        least=1,
        aliases=("parallelism", "concurrency"),
    ),
    Setting("requests_per_minute", "number", "maximum number of requests per minute", above=0),
    Setting("provider", "text", "whose model it is", choices=tuple(PROVIDERS)),
    Setting("account_id", "text", "account at the provider"),
    Setting("gateway_id", "text", "gateway at the provider"),
    *(replace(setting, **_ALSO.get(setting.name, {})) for setting in settings_of("model")),  # type: ignore[arg-type]
)
_CHARACTER = (
    Setting("skill", "number", "share of solvable questions answered correctly", least=0, most=1),
    Setting("ttft_ms", "number", "milliseconds to the first token", least=0),
    Setting("itl_ms", "number", "milliseconds between tokens", least=0),
    Setting("error_rate", "number", "share of attempts that fail", least=0, most=1),
    Setting("max_retries", "int", "further attempts after a failure", least=0, aliases=("retries",)),
    Setting("seed", "int", "which questions it gets wrong"),
)
_DEMO = (_TYPE, *settings_of("demo"), *_CHARACTER)
_SENT = tuple(setting.name for setting in BODY_SETTINGS)


class ModelConfig(Struct, frozen=True, kw_only=True):
    """A model as the configuration file describes it. None: not set there."""

    name: str
    """The name users type."""
    type: str | None = None
    """chat, completions, completions_logprob, or demo; None: as the benchmark declares."""
    base_url: str | None = None
    """URL of the server; None for a demo model, and for a provider's until it is used."""
    provider: str | None = None
    """The provider of the model; address and key come from there when it is used."""
    account_id: str | None = None
    """Account at the provider, if addresses have one."""
    gateway_id: str | None = None
    """Gateway at the provider, if addresses have one."""
    system: str | None = None
    """System message for benchmarks without a system message."""
    requests_per_minute: float | None = None
    """The most requests per minute."""
    model: str | None = None
    """The model's name at the server; None: the demo model, or the first that the server lists."""
    only_model: bool = False
    """Whether the server must list a single model, because nothing says which of several is meant."""
    profile: str | None = None
    """Name of the profile it is based on."""
    api: str = "openai"
    """Wire format of the server."""
    repeats: int | None = None
    """Repeats of each row."""
    api_key_name: str | None = None
    """Environment variable that contains the key."""
    generation: Mapping[str, JsonValue] = field(default_factory=dict)
    """Settings of request bodies, under their names: `temperature`, `max_tokens` and so on."""
    timeout: float | None = None
    """Seconds for one attempt."""
    retries: int | None = None
    """Further attempts after a failure."""
    max_concurrency: int | None = None
    """The most requests at a time."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional request headers as written; `${VARIABLE}` refers to an environment variable."""
    verify: bool | None = None
    """Whether the server's TLS certificate is checked."""
    ca_file: str | None = None
    """PEM file of a certificate to trust besides those of the system; an absolute path."""
    extra_body: JsonObject = field(default_factory=dict)
    """Further fields of each request body."""
    demo: JsonObject = field(default_factory=dict)
    """Settings of a demo model: skill, ttft_ms, itl_ms, error_rate, max_retries, seed."""
    notes: tuple[str, ...] = ()
    """Notes on keys without effect."""
    streams: bool | None = None
    """`stream` of the table itself; the value of a profile is only in `generation`."""
    pipeline: PipelineSettings | None = None
    """Steps between runs and the model."""
    load: Mapping[str, Any] = field(default_factory=dict)
    """Default settings of load tests, by name."""

    def certificates(self, verify: bool | None, ca_file: str | None) -> bool | str | None:
        """The trusted certificates: those of the system, also those of a file, or any. The settings of a run, which are given
        here, take precedence."""
        if ca_file is not None:
            try:
                return trusted_certificates(verify, ca_file)
            except ConfigError:
                raise UsageError(
                    "--no-verify checks no certificate, so --ca-file has no effect; leave one of them out"
                ) from None
        if verify is not None:
            return verify if not verify or self.ca_file is None else self.ca_file
        return trusted_certificates(self.verify, self.ca_file)

    def at_provider(self) -> ModelConfig:
        """The model with the address and key variable of its provider; one without a provider stays unchanged.

        Raises ConfigError for a variable that is needed and not set.
        """
        if self.provider is None:
            return self
        known, key_name = PROVIDERS[self.provider]
        url = self.base_url or os.environ.get(URL_VARIABLES.get(self.provider, ""), "")
        name = self.model or ""
        if not url:
            places = {}
            for key, variable in _PLACES.items():
                if f"{{{key}}}" not in known:
                    continue
                found = getattr(self, key) or os.environ.get(variable)
                if not found:
                    raise ConfigError(
                        f"model {self.name}: {self.provider} needs {key}. Write it in the model's table, or "
                        f"export {variable}=…"
                    )
                places[key] = found
            url = known.format(**places) if places else known
        if self.provider == "cloudflare_ai_gateway" and name.startswith("@cf/"):
            name = f"workers-ai/{name}"  # the name of Cloudflare's models on the gateway's common route
        return replace(self, base_url=url, model=name, api_key_name=self.api_key_name or key_name)

    @staticmethod
    def from_entry(where: str, values: Mapping[str, object], folder: Path | None = None) -> ModelConfig:
        """Read and check one entry of a list of models, with our keys or those of other tools.

        `where` is the start of messages: the file and the entry. The model's name is its `name` or `abbr`, else its name on the
        server, else that of its profile.

        >>> ModelConfig.from_entry("suite.py: models[0]", {"type": "TGICustomAPI", "abbr": "tgi", "host_port": 9000}).base_url
        'http://localhost:9000'
        """
        values = dict(values)
        own, abbr = values.pop("name", None), values.get("abbr")
        if own and abbr and own != abbr:
            raise ConfigError(f"{where} has name = {own!r} and abbr = {abbr!r}; keep one of them")
        name = own or abbr or values.get("model") or values.get("model_id") or values.get("model_name")
        if not name:
            found, *_ = bridge("aisbench entries").model_entry(where, values)
            name = found.get("profile") or found.get("type")
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f'{where} has no name. Give it one, which tables will show: name = "local"')
        return _read(where, name.strip(), values, folder)

    @staticmethod
    def of_provider(value: str) -> ModelConfig | None:
        """The model that `openai:gpt-4o-mini` or `random` means; None for a text of another form. Its environment is read when it
        is used."""
        return _read(f"model {value}", value, {"type": value}) if is_provider_value(value) else None


def read_model(file: Path, name: str, values: Mapping[str, object]) -> ModelConfig:
    """Read and check one `[models.NAME]` table. Relative paths start at the file's folder."""
    return _read(f"{file}: [models.{name}]", name, values, file.parent)


def read_model_value(where: str, value: object, folder: Path) -> str | ModelConfig:
    """Read `model =` in a benchmark's table: a name, or a table that describes the model."""
    if isinstance(value, str) and value.strip():
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(f'{where} is {value!r}; expected a name, or a table {{ type = "openai:MODEL", … }}')
    values: dict[str, object] = {str(key): entry for key, entry in value.items()}
    kind = values.get("type")
    if isinstance(kind, str) and (":" in kind or kind in RANDOM):
        return _read(where, str(values.pop("name", kind)), values, folder)
    return ModelConfig.from_entry(where, values, folder)


def _read(where: str, name: str, written: Mapping[str, object], folder: Path | None = None) -> ModelConfig:
    by_chance = written.get("type") in RANDOM
    written = provider_values(where, written)
    demo = written.get("type") == "demo"
    if name == "demo" and not demo:
        raise ConfigError(
            f'{where}: the name "demo" is kept for the embedded stand-in, so that no real result is '
            'mistaken for it. Choose another name, or add type = "demo"'
        )
    foreign = bridge("aisbench entries")
    values, abbr, notes, load = ({**written}, None, (), {}) if demo else foreign.model_entry(where, written)
    if by_chance:
        notes = (f"{name}: {RANDOM_NOTE}",)
    if demo:
        values.pop("abbr", None)
    elif abbr is not None and abbr != name:
        notes = (*notes, f"abbr has no effect: the model is called {name}")
    # Any, because the table was checked key by key against the types of the fields below.
    checked: dict[str, Any] = dict(
        read_values(where, values, _DEMO if demo else _HTTP, hints=_hints(demo), near=foreign.MODEL_KEYS)
    )
    streams = checked.get("stream")
    if not demo:
        apply_profile(where, checked)
        set_address(where, checked)
    variable = checked.get("api_key_name")
    if variable is not None and _VARIABLE.fullmatch(variable) is None:
        raise ConfigError(  # the message does not repeat the value, which is probably the key itself
            f"{where} api_key_name is not the name of an environment variable (letters, digits, _). "
            'Export the key as a variable and write its name: api_key_name = "MY_KEY"'
        )
    if demo:
        character = {s.name: checked.pop(s.name) for s in _CHARACTER if s.name in checked}
        if by_chance:
            character |= {"by_chance": True, "model_id": "random"}
        checked["demo"] = character
    if "system" in checked:
        checked["system"] = text_or_file(folder or Path(), checked["system"])
    if "ca_file" in checked:
        checked["ca_file"] = str((folder or Path()) / expand_home(checked["ca_file"]))
        try:
            trusted_certificates(checked.get("verify"), checked["ca_file"])
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None
    checked["generation"] = {name: checked.pop(name) for name in _SENT if name in checked}
    if "pipeline" in checked:
        from benchwright.config._pipeline_reader import pipeline_settings

        checked["pipeline"] = pipeline_settings(checked["pipeline"], f"{where} pipeline")
    if "headers" in checked:
        checked["headers"] = check_headers(f"{where} headers", checked["headers"])
    return ModelConfig(name=name, notes=notes, load=load, streams=streams, **checked)


def _hints(demo: bool) -> dict[str, str]:
    if demo:
        text = 'a demo model runs in this process and has no server; leave it out, or remove type = "demo"'
        return dict.fromkeys(
            (s.name for s in _HTTP if s.name not in {d.name for d in _DEMO}),
            text,
        )
    text = 'only demo models have this; add type = "demo", or leave it out'
    return dict.fromkeys((s.name for s in _CHARACTER), text)
