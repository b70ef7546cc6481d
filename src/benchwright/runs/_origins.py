"""Where the settings of a run come from, for its record. A setting that is not named has its default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from benchwright.config import (
    PROFILES,
    SHARED_WITH_RUNS,
    ConfigFile,
    LoadOptions,
    ModelConfig,
    RunOptions,
)
from benchwright.engine import RunSettings
from benchwright.runs._targets import Target

COMMAND = "command line or call"
_IN_TABLE = {
    "type": "model_type", "base_url": "model_url", "model": "model_id", "timeout": "request_timeout", "retries": "max_retries",
    "max_concurrency": "parallelism", "streams": "stream",
    **{name: name for name in ("system", "requests_per_minute", "api", "repeats", "api_key_name", "headers", "verify", "ca_file", "extra_body", "pipeline")},
}  # fmt: skip
"""The settings of runs that the table of a model has under these names."""


def brought_by(target: Target, config: ConfigFile | None, options: RunOptions) -> dict[str, str]:
    """The places of the settings that a target brings with it: tables of the configuration, or the definition of the benchmark, of which
    `--input` may replace any part."""
    if options.input is not None:
        return dict.fromkeys(target.defaults, "benchmark or --input")
    file, tables = ("", {}) if config is None else (config.path.name, dict(config.run))
    entry = None if config is None else config.benchmarks.get(target.written)
    own = () if entry is None else (*entry.run, *(("model",) if entry.model else ()))

    def place(name: str, value: Any) -> str:
        if name in own:
            return f"{file} [benchmarks.{target.written}]"
        return f"{file} [run]" if name in tables and tables[name] == value else "benchmark"

    return {name: place(name, value) for name, value in target.defaults.items()}


def given_in(options: RunOptions | LoadOptions) -> dict[str, str]:
    """The places of the options of a command or a call."""
    return dict.fromkeys(options.given(), COMMAND)


def with_origins(
    settings: RunSettings,
    effective: RunOptions,
    layers: Iterable[Mapping[str, str]],
    config: ConfigFile | None,
    *,
    described: str | None = None,
) -> RunSettings:
    """The settings with the place of each that is not a default. `effective` are all options of the run, `layers` their places, the highest
    first; `described` is the place of the model's table, if that is not in the configuration."""
    found: dict[str, str] = {}
    for layer in layers:
        found = {**layer, **found}
    found = {name: place for name, place in found.items() if getattr(effective, name, None) is not None}
    place, table = _model_table(effective, config)
    place = described or place
    found |= {name: place for name in _set_in(table) if name not in found}
    most = None if table is None else table.max_concurrency
    if most is not None and effective.parallelism is not None and effective.parallelism > most:
        found["parallelism"] = place
    if settings.endpoint.kind == "http" and "model_id" not in found:
        named = f"/{settings.endpoint.model_id}" in str(getattr(settings.endpoint, "url", ""))
        found["model_id"] = found.get("model_url", "default") if named else "server"
    if effective.cache is None and not settings.cache and settings.endpoint.reusable:
        found["cache"] = found.get("pipeline", "environment variable CI")
    return replace(settings, origins=found)


def with_load(settings: RunSettings, load: LoadOptions, config: ConfigFile | None) -> RunSettings:
    """The settings with the places of the load that a command or a call, or `[perf]`, describes."""
    known = settings.origins or {}
    if config is not None:
        known = {**known, **dict.fromkeys(load.over(config.perf).given(), f"{config.path.name} [perf]")}
    return replace(settings, origins={**known, **given_in(load)})


def of_load(settings: RunSettings, load: LoadOptions, *, open_loop: bool) -> RunSettings:
    """The settings with the places of what a load test has, once its load is known. In a closed loop, the parallelism of runs is the default
    concurrency."""
    known = settings.origins or {}
    if not open_loop and load.concurrency is None and "parallelism" in known:
        known = {**known, "concurrency": known["parallelism"]}
    names = {*SHARED_WITH_RUNS, *load.given(), *(() if open_loop else ("concurrency",))}
    return replace(settings, origins={name: place for name, place in known.items() if name in names})


def given_later(settings: RunSettings, names: Iterable[str]) -> RunSettings:
    """The settings of a recorded run after a command has given some of them anew."""
    known = settings.origins
    return (
        settings if known is None else replace(settings, origins={**known, **dict.fromkeys(names, COMMAND)})
    )


def _model_table(effective: RunOptions, config: ConfigFile | None) -> tuple[str, ModelConfig | None]:
    """The place and the table of the model that the options name; None if there is no table."""
    name = effective.model or ""
    if config is not None and name in config.models:
        return f"{config.path.name} [models.{name}]", config.models[name]
    if name in PROFILES:
        return f"profile {name}", PROFILES[name].model_at(effective.address, effective.model_id)
    table = ModelConfig.of_provider(name)
    return f"provider {name.partition(':')[0]}", table


def _set_in(table: ModelConfig | None) -> Iterator[str]:
    """The settings of runs that the table of a model has."""
    if table is None:
        return
    usual = ModelConfig(name=table.name, type="demo" if table.type == "demo" else None)
    yield from (option for name, option in _IN_TABLE.items() if getattr(table, name) != getattr(usual, name))
    yield from table.generation
    yield from table.load
    if table.max_concurrency is not None:
        yield "max_concurrency"
    yield from (name for name in table.demo if name == "max_retries")
    yield from ("model_url", "api_key_name") if table.provider is not None else ()
