"""Model entries as other tools write them: their keys under our names, and what of them has no effect here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchwright.config._run_settings import BODY_SETTINGS
from benchwright.config._servers import profile_of_class
from benchwright.core import ConfigError

_WITHOUT_EFFECT = {
    "path": "token counts come from the server, so no tokenizer is needed",
    "trust_remote_code": "no remote code is run",
    "verbose": "every request and reply is recorded: benchwright show RUN SAMPLE",
    "rpm_verbose": "the rate of requests is shown while a run goes on",
    "pred_postprocessor": "thinking is split off every reply",
    "meta_template": "the server applies its own chat template",
    "response_anomaly": "there is no such detector",
    "max_seq_len": "the server knows how long its prompts may be",
    "run_cfg": "the server was started before",
}
_LOAD_TEST = ("request_rate", "traffic_cfg", "use_timestamp", "query_per_second")
_MAY_BE_BLANK = (
    "url",
    "base_url",
    "model_url",
    "model",
    "model_id",
    "model_name",
    "api_key",
    "abbr",
    "host_ip",
)
_SETTINGS = {
    name: setting.name
    for setting in BODY_SETTINGS
    if setting.can_be_left_out
    for name in (setting.name, *setting.aliases)
} | {"max_out_len": "max_tokens"}
"""Generation settings under their names and ours."""

FOREIGN_KEYS = (
    *_WITHOUT_EFFECT, *_LOAD_TEST, "abbr", "attr", "retry", "generation_kwargs", "max_out_len", "batch_size"
)  # fmt: skip
"""Keys that are understood besides our own."""


class Translated(NamedTuple):
    """An entry under our own keys."""

    values: dict[str, object]
    """Keys that `[models.NAME]` knows, not checked yet."""
    abbr: object
    """What the entry calls the model, if anything."""
    notes: tuple[str, ...]
    """What was written without effect."""


def translate(where: str, written: Mapping[str, object]) -> Translated:
    """Foreign keys become ours; those that cannot mean anything here are refused, or noted where they do no harm."""
    values = {key.replace("-", "_"): value for key, value in written.items()}
    for key in (*_MAY_BE_BLANK, *_WITHOUT_EFFECT, *_LOAD_TEST):
        if values.get(key, 0) is None or values.get(key, 0) == "":  # how their templates leave a setting open
            del values[key]
    _refuse_load(where, values)
    notes = []
    for key, reason in _WITHOUT_EFFECT.items():
        if values.pop(key, None):
            notes.append(f"{key} has no effect: {reason}")
    if values.pop("attr", "service") not in ("service", ""):
        raise ConfigError(
            f'{where} attr: only services can be asked (attr = "service"); a model in this process cannot. '
            "Start a server for it and give its address"
        )
    _take_type(values)
    _take_retry(where, values)
    _take_generation(where, values)
    for foreign, ours in (("max_out_len", "max_tokens"), ("batch_size", "max_concurrency")):
        if foreign in values:
            _set(where, values, ours, values.pop(foreign), foreign)
    return Translated(values, values.pop("abbr", None), tuple(notes))


def _refuse_load(where: str, values: dict[str, object]) -> None:
    for key in _LOAD_TEST:
        if values.pop(key, None):  # 0, false and an empty table switch it off
            raise ConfigError(
                f"{where} {key}: this belongs to load tests; a run sends as fast as max_concurrency allows. "
                "Leave it out, and give it to the load test: benchwright perf TARGET --rate 5"
            )


def _take_type(values: dict[str, object]) -> None:
    """A class stands for a profile."""
    profile = profile_of_class(values["type"]) if "type" in values else None
    if profile is not None:
        del values["type"]
        values.setdefault("profile", profile.name)


def _take_retry(where: str, values: dict[str, object]) -> None:
    """They count all attempts, we count those after the first."""
    if "retry" not in values:
        return
    attempts = values.pop("retry")
    if not isinstance(attempts, int) or isinstance(attempts, bool) or attempts < 0:
        raise ConfigError(f"{where} retry: {attempts!r} is not a number of attempts; expected 1 or more")
    if attempts == 0:
        raise ConfigError(
            f"{where} retry: 0 attempts would send nothing. Write retry = 1 for a single attempt, or retries = 0"
        )
    _set(where, values, "retries", attempts - 1, "retry")


def _take_generation(where: str, values: dict[str, object]) -> None:
    """What we have a place for goes there; the rest is sent along."""
    if "generation_kwargs" not in values:
        return
    given = values.pop("generation_kwargs")
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where} generation_kwargs: {given!r} is not a table; expected settings by name")
    rest: dict[str, object] = {}
    for key, value in given.items():
        inside = f"generation_kwargs.{key}"
        if value is None:
            continue
        if key == "lora_data_map_file":
            raise ConfigError(f"{where} {inside}: adapters per row are not served; name one with extra_body")
        if key == "num_return_sequences":
            _set(where, values, "repeats", value, inside)
        elif key in _SETTINGS:
            _set(where, values, _SETTINGS[key], value, inside)
        else:
            rest[str(key)] = value
    if rest:
        own = values.get("extra_body")
        values["extra_body"] = {**rest, **own} if isinstance(own, Mapping) else rest


def _set(where: str, values: dict[str, object], name: str, value: object, written: str) -> None:
    if name in values:
        raise ConfigError(f"{where} sets {name} twice, once as {written}; keep one of them")
    values[name] = value
