"""The recorded settings of a run: parameters under their documented names, and the endpoint without secrets."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from benchwright.config import BODY_SETTINGS, KEY_OF, RUN_SETTINGS
from benchwright.core import (
    DEMO_KIND,
    DEMO_NOTE,
    DEMO_REPLIES_NOTE,
    FUNCTION_CALLING,
    QUESTIONS,
    STRATEGIES,
    JsonObject,
    defined_settings,
    is_secret_name,
    public_url,
)
from benchwright.store import RunRecord, Workspace

PARAMS: dict[str, tuple[str, ...]] = {
    **{
        name: KEY_OF[name][2:]
        for name in (
            "limit", "parallelism", "dataset", "num_fewshot", "fewshot_seed", "fewshot_strict", "skip_bad_rows", "system",
            "native_calling", "lenient_calls", "repeats", "pass_k", "failure_threshold",
        )
    },
    "rescored_from": ("extra", "rescored_from"),
    "infer_only": ("extra", "infer_only"),
}  # fmt: skip
"""The places of recorded settings in `params` of `results.yml`. All others are under `settings` of `run_config.yml`."""
GENERATION_PARAMS = {"max_tokens": "max_new_tokens", "temperature": "temperature", "top_p": "top_p"}
"""Settings of request bodies that `params` has under these names. All others are in its `extra`."""


def is_demo(run: RunRecord) -> bool:
    """Whether the demo model answered: the embedded one, or that of `simulate`, which marks its replies."""
    notes: Any = (run.summary or {}).get("notes") or ()
    marks = (DEMO_NOTE, DEMO_REPLIES_NOTE, DEMO_KIND)
    said = (table_of(note).get("kind") if isinstance(note, dict) else note for note in notes)
    return is_embedded_demo(run) or any(each in marks for each in said)


def is_embedded_demo(run: RunRecord) -> bool:
    """Whether the embedded demo model answers."""
    facts = STRATEGIES.get(str(run.manifest.get("strategy")))
    return (facts is None or facts.sends) and table_of(run.settings.get("model")).get("kind") == "demo"


def sent_settings(run: RunRecord) -> JsonObject:
    """The recorded settings without secrets, and without the model's system message if the benchmark has one."""
    settings = without_secrets(run.settings)
    known = table_of(run.manifest.get("benchmark"))
    if "own_hash" in known and known["own_hash"] == known.get("hash"):
        settings.pop("system", None)
    return settings


def params_of(run: RunRecord) -> JsonObject:
    """The parameters that decide the numbers, under their documented names. Unset ones are left out."""
    settings = sent_settings(run)
    generation = table_of(settings.get("generation"))
    model = table_of(settings.get("model"))
    extra: JsonObject = {
        name: value
        for name, value in generation.items()
        if name not in ("model", *GENERATION_PARAMS) and is_set(value)
    }
    extra |= table_of(settings.get("extra"))  # settings that the benchmark declares
    if questions := questions_of(run):
        extra["questions"] = questions
    calling = calling_of(settings)
    params: JsonObject = {
        "max_retries": model.get("max_retries"),
        "request_timeout": model.get("request_timeout_s"),
        "task": calling.get("task", run.name),
        **{documented: generation.get(name) for name, documented in GENERATION_PARAMS.items()},
        "extra": extra,
    }
    for name, (*tables, last) in PARAMS.items():
        place = params
        for table in tables:
            place = place.setdefault(table, {})  # type: ignore[assignment]  # tables all the way
        place[last] = settings.get(name) if is_set(settings.get(name)) else None
    extra["native_calling"] = native_calling_of(settings)
    if calling:
        if calling.get("share") is not None and params["limit_samples"] is None:
            params["limit_samples"] = calling["share"]
        if calling.get("path") is not None:
            extra["custom_dataset"] = {
                "path": calling["path"],
                "format": calling.get("format"),
                "data_template_path": calling.get("template"),
            }
    return without_none(params)


def calling_of(settings: JsonObject) -> dict[str, Any]:
    """The settings of a run of the function-calling evaluation; empty for other runs."""
    return defined_settings(settings, FUNCTION_CALLING) or {}


def native_calling_of(settings: JsonObject) -> bool | None:
    """Whether functions were sent as tools: as the run requested, else as the evaluation says; None if only the benchmark
    knows, or if there are none. Unlike other switches, off is not the same as not given."""
    given = settings.get("native_calling")
    found = calling_of(settings).get("native_calling") if given is None else given
    return found if isinstance(found, bool) else None


_OPTIONS_OF_PARAMS: dict[tuple[str, ...], str] = {
    **{path: name for name, path in PARAMS.items()},
    **{(documented,): name for name, documented in GENERATION_PARAMS.items()},
}
_OPTIONS_OF_ENDPOINT = {
    "url": ("model_url", "host_ip", "host_port", "model"),
    "model_id": ("model_id", "model"),
    "type": ("model_type",),
    "adapter_config": ("pipeline",),
}
"""The options that decide a field of the endpoint, the first that is given."""


def endpoint_origin(settings: JsonObject, key: str) -> str | None:
    """Where a field of the endpoint comes from; None: not recorded."""
    first = key.partition(".")[0]
    usual = "benchmark" if first == "type" else "default"
    return _origin(settings, _OPTIONS_OF_ENDPOINT.get(first, (first,)), usual)


def param_origin(settings: JsonObject, key: str) -> str | None:
    """Where a value of `params_of` comes from, by its dotted key; None: not recorded."""
    path = tuple(key.split("."))
    option = next((_OPTIONS_OF_PARAMS[path[:n]] for n in (1, 2, 3) if path[:n] in _OPTIONS_OF_PARAMS), None)
    if path[0] == "task" or option == "native_calling":
        return _origin(settings, (option or "",), "benchmark")
    if option == "rescored_from":
        return _origin(settings, (), "command line or call")
    if option is not None or path[0] != "extra":
        return _origin(
            settings, (option or path[0], *(("limit_share",) if option == "limit" else ())), "default"
        )
    if path[1] == "questions":  # only an entry of a suite has further ones
        given_in_suite = settings.get("suite") is not None and path[2:3] != ("name",)
        return _origin(settings, path[2:3], "suite" if given_in_suite else "benchmark")
    declared = path[1] in table_of(settings.get("extra"))
    known = declared or path[1] in table_of(settings.get("generation"))
    return _origin(settings, ("extra",) if declared else path[1:2], "default" if known else "benchmark")


def _origin(settings: JsonObject, options: tuple[str, ...], usual: str) -> str | None:
    recorded = settings.get("origins")
    if not isinstance(recorded, dict):
        return None
    return next((str(recorded[name]) for name in options if name in recorded), usual)


_OPTIONS_OF_LOAD: dict[str, tuple[str, ...]] = {
    "profile": ("profile", "trace_field", "trace_unit", "trace_speed", "trace_start", "trace_end", "burstiness", "rate"),
    "levels": ("trace_speed", "rate", "concurrency"),  # a load has one of them
    "ramp_start": ("rate",),
    "ramp_end": ("rate",),
    "prompt_lengths": ("tokenizer", "synthetic"),
    "exact_output": ("exact_output", "synthetic"),
    "requests": ("requests", "conversations"),
    "seed": ("schedule_seed",),
    "urls": ("more_urls",),
    "search": ("find_max_load",),
    "request_timeout_s": ("request_timeout",),
    "usual_tokens": ("max_tokens",),
    "drain_s": ("drain",),
}  # fmt: skip
"""The options that decide a field of `LoadSettings` with another name, the first that is given."""


def load_origin(settings: JsonObject, field: str) -> str | None:
    """Where a field of the settings of a load test comes from; None: not recorded."""
    return _origin(settings, _OPTIONS_OF_LOAD.get(field, (field,)), "default")


def recorded_origins(settings: JsonObject, names: Collection[str] | None = None) -> JsonObject | None:
    """Where each recorded setting comes from that has not its default, if it is one of `names`; None: not recorded."""
    found = settings.get("origins")
    if not isinstance(found, dict):
        return None
    return {name: place for name, place in found.items() if names is None or name in names}


def recorded_params(params: JsonObject) -> JsonObject:
    """The settings in `params_of`, under their recorded names."""
    extra = table_of(params.get("extra"))
    generation = {setting.name: extra[setting.name] for setting in BODY_SETTINGS if setting.name in extra}
    generation |= {name: params[there] for name, there in GENERATION_PARAMS.items() if there in params}
    if "extra_body" in extra:
        generation["extra_body"] = extra["extra_body"]
    settings: JsonObject = {"generation": generation}
    for name, (*tables, last) in PARAMS.items():
        place = params
        for table in tables:
            place = table_of(place.get(table))
        if place.get(last) is not None:
            settings[name] = place[last]
    return settings


def is_set(value: object) -> bool:
    """Whether a recorded setting is neither null nor off nor empty. Zero is a setting."""
    return value is not None and value is not False and value not in ("", [], {})


def output_dir_of(run: RunRecord) -> str:
    """Where the files are, as the user wrote it; a folder of the workspace relative to the workspace."""
    written = run.settings.get("output_dir")
    if written:
        return str(written)
    parts = run.folder.parts
    return (
        "/".join(parts[parts.index(Workspace.folder_name) :])
        if Workspace.folder_name in parts
        else str(run.folder)
    )


def endpoint_of(run: RunRecord) -> JsonObject:
    """The model under test: the key's variable by name, never its value."""
    model = table_of(run.settings.get("model"))
    known = table_of(run.manifest.get("endpoint"))
    url = model.get("url")
    url = known.get("fingerprint") if url is None else public_url(str(url))
    return without_none(
        {
            "adapter_config": run.settings.get("steps"),
            "api": None if model.get("api") == "openai" else model.get("api"),
            "api_key_name": model.get("api_key_name"),
            "model_id": model.get("model_id", run.model),
            "type": known.get("type") or run.settings.get("model_type") or model.get("model_type") or "chat",
            "url": url,
        }
    )


_DEFAULTS: JsonObject = {
    "compat": False,
    **{s.name: s.default for s in RUN_SETTINGS if s.group == "questions" and s.default is not None},
}
"""The default settings of a file of questions."""


def questions_of(run: RunRecord) -> JsonObject:
    """The settings of a file of questions that the user gave; empty for other benchmarks."""
    recorded = defined_settings(run.settings, QUESTIONS) or {}
    return {
        name: value
        for name, value in recorded.items()
        if value not in (None, [], {}, "") and value != _DEFAULTS.get(name)
    }


def is_public_header(name: str, value: object) -> bool:
    """Whether files may contain a recorded header: its name suggests no secret, or its value only names a variable."""
    return "${" in str(value) or not is_secret_name(name)


def without_secrets(value: JsonObject) -> JsonObject:
    """Settings with URLs made public and values of secret-looking headers masked."""
    masked: JsonObject = {}
    for name, entry in value.items():
        if name == "headers" and isinstance(entry, dict):
            masked[name] = {h: v if is_public_header(h, v) else "…" for h, v in entry.items()}
        elif name in ("url", "proxy") and isinstance(entry, str):
            masked[name] = public_url(entry)
        else:
            masked[name] = without_secrets(entry) if isinstance(entry, dict) else entry
    return masked


def without_none(value: JsonObject) -> JsonObject:
    """The table without nulls, at any depth of tables."""
    return {
        name: without_none(entry) if isinstance(entry, dict) else entry
        for name, entry in value.items()
        if entry is not None
    }


def table_of(value: object) -> dict[str, Any]:
    """The value if it is a table; else an empty one."""
    return value if isinstance(value, dict) else {}
