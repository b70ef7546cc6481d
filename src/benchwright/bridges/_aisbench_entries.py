"""Translates entries of AISBench's configurations: the keys of models and of datasets under our names, and notes on keys
without effect."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.config import BODY_SETTINGS, PROFILES, Profile
from benchwright.core import ConfigError, suggest

_WITHOUT_EFFECT = {
    "path": "token counts come from the server, so no tokenizer is needed",
    "trust_remote_code": "no remote code is run",
    "verbose": "every request and reply is recorded: benchwright show RUN SAMPLE",
    "rpm_verbose": "the rate of requests is shown during a run",
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
"""Generation settings: their names and ours."""

MODEL_KEYS = (
    *_WITHOUT_EFFECT, *_LOAD_TEST, "abbr", "attr", "retry", "generation_kwargs", "max_out_len", "batch_size"
)  # fmt: skip
"""Keys of other tools that are understood."""


def model_entry(
    where: str, written: Mapping[str, object]
) -> tuple[dict[str, object], object, tuple[str, ...], dict[str, object]]:
    """Translate foreign keys to ours. Keys without meaning here are refused, or noted if they do no harm.

    Returns the keys of `[models.NAME]`, not checked yet; the name of the model in the entry, if it has one; notes on keys without effect; and
    settings of load tests, by name.
    """
    values = {key.replace("-", "_"): value for key, value in written.items()}
    for key in (*_MAY_BE_BLANK, *_WITHOUT_EFFECT, *_LOAD_TEST):
        if values.get(key, 0) is None or values.get(key, 0) == "":  # their templates leave settings open so
            del values[key]
    load = _take_load(where, values)
    notes = []
    for key, reason in _WITHOUT_EFFECT.items():
        if values.pop(key, None):
            notes.append(f"{key} has no effect: {reason}")
    if values.pop("attr", "service") not in ("service", ""):
        raise ConfigError(
            f'{where} attr: only services can be evaluated (attr = "service"), not a model in this process. '
            "Start a server for it and give its address"
        )
    _take_type(values)
    _take_retry(where, values)
    _take_generation(where, values)
    for foreign, ours in (("max_out_len", "max_tokens"), ("batch_size", "max_concurrency")):
        if foreign in values:
            _set(where, values, ours, values.pop(foreign), foreign)
    return values, values.pop("abbr", None), tuple(notes), load


_NO_RATE = 0.001
"""Rates below this mean: as fast as possible."""
_TRAFFIC = ("burstiness", "ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps")


def _take_load(where: str, values: dict[str, object]) -> dict[str, object]:
    """The settings of load tests. 0, false and an empty table switch them off."""
    if values.pop("query_per_second", None):
        raise ConfigError(
            f"{where} query_per_second: limit the rate with requests_per_minute, or give it to a load test as request_rate"
        )
    written = {key: values.pop(key) for key in _LOAD_TEST if key in values}
    rate, traffic = written.get("request_rate") or 0, written.get("traffic_cfg") or {}
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate < float("inf"):
        raise ConfigError(
            f"{where} request_rate: {rate!r} is not a rate; expected requests per second, 0 for none"
        )
    if not isinstance(traffic, Mapping):
        raise ConfigError(f"{where} traffic_cfg: {traffic!r} is not a table; expected settings by name")
    for key in traffic:
        if key not in _TRAFFIC:
            raise ConfigError(f"{where} traffic_cfg.{key} is not known.{suggest(str(key), _TRAFFIC)}")
    if written.get("use_timestamp"):
        return {"profile": "trace"}
    if rate < _NO_RATE:
        return {}
    cap = {"max_concurrency": values["batch_size"]} if "batch_size" in values else {}
    return {**_shape(where, rate, {str(key): value for key, value in traffic.items()}), **cap}


def _shape(where: str, rate: float, traffic: dict[str, object]) -> dict[str, object]:
    """Profile and rate; without settings of gaps, theirs follow a Poisson process."""
    ramp = traffic.get("ramp_up_strategy")
    if ramp:
        ends = [traffic.get("ramp_up_start_rps"), traffic.get("ramp_up_end_rps")]
        if ramp not in ("linear", "exponential") or not all(_above_zero(end) for end in ends):
            raise ConfigError(
                f"{where} traffic_cfg: a ramp has ramp_up_strategy linear or exponential, and ramp_up_start_rps and "
                "ramp_up_end_rps above 0"
            )
        return {"profile": "ramp", "ramp": ramp, "rate": ends}
    burstiness = traffic.get("burstiness", 1)
    if burstiness is None or burstiness == 1:
        return {"profile": "poisson", "rate": [rate]}
    if burstiness == 0:
        return {"profile": "constant", "rate": [rate]}
    if not _above_zero(burstiness):
        raise ConfigError(f"{where} traffic_cfg.burstiness: {burstiness!r}; expected a number of 0 or more")
    return {"profile": "gamma", "burstiness": burstiness, "rate": [rate]}


def _above_zero(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _take_type(values: dict[str, object]) -> None:
    """Translate a class to a profile."""
    profile = _profile_of_class(values["type"]) if "type" in values else None
    if profile is not None:
        del values["type"]
        values.setdefault("profile", profile.name)


_CLASSES = {
    "VLLMCustomAPI": "vllm_api_general",
    "VLLMCustomAPIStream": "vllm_api_general_stream",
    "VLLMCustomAPIChat": "vllm_api_general_chat",
    "VLLMCustomAPIChatStream": "vllm_api_stream_chat",
    "VllmMultiturnAPIChatStream": "vllm_api_stream_chat_multiturn",
    "VLLMFunctionCallAPIChat": "vllm_api_function_call_chat",
    "MindieStreamApi": "mindie_stream_api_general",
    "TGICustomAPI": "tgi_api_general",
    "TGICustomAPIStream": "tgi_stream_api_general",
    "TritonCustomAPI": "triton_api_general",
    "TritonCustomAPIStream": "triton_stream_api_general",
}


def _profile_of_class(written: object) -> Profile | None:
    """The profile of a class, or of a class name.

    >>> _profile_of_class("VLLMCustomAPIChat").name
    'vllm_api_general_chat'
    """
    name = written if isinstance(written, str) else getattr(written, "__name__", "")
    name = name.rpartition(".")[2]
    known = _CLASSES.get(name)
    return PROFILES[known] if known is not None else Profile.find(name)


def _take_retry(where: str, values: dict[str, object]) -> None:
    """Translate the number of attempts: they count all, we count those after the first."""
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
    """Translate generation settings that we have; the others are added to the request body."""
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
            raise ConfigError(
                f"{where} {inside}: rows cannot have adapters of their own; name one for all with extra_body"
            )
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


_REPEATS = {"n": "repeats", "k": "pass_k"}
"""Keys for the number of repeats and the k of pass@k, with the names used here."""


def dataset_entry(values: dict[str, object]) -> dict[str, object]:
    """Translate the spellings of a dataset's entry into the values that the settings expect."""
    spelled = dict(values)
    test_range, compat, evaluator = (values.get(key) for key in ("test_range", "compat", "evaluator"))
    if isinstance(test_range, int | float) and not isinstance(test_range, bool):
        spelled["test_range"] = str(test_range)
    if isinstance(compat, bool):
        spelled["compat"] = "aisbench" if compat else None
    if isinstance(evaluator, Mapping) and set(evaluator) == {"type"} and isinstance(evaluator["type"], str):
        spelled["evaluator"] = evaluator["type"]
    for theirs, ours in _REPEATS.items():
        if theirs in spelled and ours not in spelled:
            spelled[ours] = spelled.pop(theirs)
    return {key: value for key, value in spelled.items() if value is not None}
