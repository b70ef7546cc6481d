"""Reads a run's frozen settings for reports: parameters in documented names, the endpoint without secrets,
and the command that would start the same run."""

from __future__ import annotations

import shlex
from typing import Any

from benchwright.config import BODY_SETTINGS, BY_NAME, JUDGE_SETTINGS, RESCORE_OPTIONS, RUN_SETTINGS, Setting
from benchwright.core import LEFT_OUT, STRATEGIES, JsonObject, canonical_json, is_secret_name, public_url
from benchwright.store import STATE_FOLDER, RunRecord

PARAMS: dict[str, tuple[str, ...]] = {
    "limit": ("limit_samples",),
    "parallelism": ("parallelism",),
    "dataset": ("extra", "dataset", "path"),
    "num_fewshot": ("extra", "dataset", "num_fewshot"),
    "fewshot_seed": ("extra", "dataset", "fewshot_seed"),
    "fewshot_strict": ("extra", "dataset", "fewshot_strict"),
    "skip_bad_rows": ("extra", "dataset", "skip_bad_rows"),
    "system": ("extra", "system"),
    "repeats": ("extra", "n_repeats"),
    "pass_k": ("extra", "pass_k"),
    "rescored_from": ("extra", "rescored_from"),
    "infer_only": ("extra", "infer_only"),
    "failure_threshold": ("extra", "failure_threshold"),
}
"""Where `params` of `results.yml` has a recorded setting. All others stand under `settings` of `run_config.yml`."""
GENERATION_PARAMS = {"max_tokens": "max_new_tokens", "temperature": "temperature", "top_p": "top_p"}
"""Settings of request bodies that `params` has under these names. All others stand in its `extra`."""


def is_demo(run: RunRecord) -> bool:
    """Whether the embedded demo model answered."""
    facts = STRATEGIES.get(str(run.manifest.get("strategy")))
    return (facts is None or facts.sends) and _table(run.settings.get("model")).get("kind") == "demo"


def model_of(run: RunRecord) -> str:
    """The model as tables show it: by the name that its suite gives it, with the id where that is another."""
    name = run.settings.get("model_name")
    return run.model if not name or name == run.model else f"{name} ({run.model})"


def sent_settings(run: RunRecord) -> JsonObject:
    """The frozen settings without secrets, and without a model's system message where the benchmark has its own."""
    settings = without_secrets(run.settings)
    known = _table(run.manifest.get("benchmark"))
    if "own_hash" in known and known["own_hash"] == known.get("hash"):
        settings.pop("system", None)
    return settings


def params_of(run: RunRecord) -> JsonObject:
    """The parameters that decide the numbers, in their documented names. Unset ones are left out."""
    settings = sent_settings(run)
    generation = _table(settings.get("generation"))
    model = _table(settings.get("model"))
    extra: JsonObject = {
        name: value
        for name, value in generation.items()
        if name not in ("model", *GENERATION_PARAMS) and is_set(value)
    }
    if questions := questions_of(run):
        extra["questions"] = questions
    params: JsonObject = {
        "max_retries": model.get("max_retries"),
        "request_timeout": model.get("request_timeout_s"),
        "task": run.name,
        **{documented: generation.get(name) for name, documented in GENERATION_PARAMS.items()},
        "extra": extra,
    }
    for name, (*tables, last) in PARAMS.items():
        place = params
        for table in tables:
            place = place.setdefault(table, {})  # type: ignore[assignment]  # tables all the way
        place[last] = settings.get(name) if is_set(settings.get(name)) else None
    return without_none(params)


def recorded_params(params: JsonObject) -> JsonObject:
    """The settings that `params_of` put there, under the names of a record."""
    extra = _table(params.get("extra"))
    generation = {setting.name: extra[setting.name] for setting in BODY_SETTINGS if setting.name in extra}
    generation |= {name: params[there] for name, there in GENERATION_PARAMS.items() if there in params}
    if "extra_body" in extra:
        generation["extra_body"] = extra["extra_body"]
    settings: JsonObject = {"generation": generation}
    for name, (*tables, last) in PARAMS.items():
        place = params
        for table in tables:
            place = _table(place.get(table))
        if place.get(last) is not None:
            settings[name] = place[last]
    return settings


def is_set(value: object) -> bool:
    """Whether a recorded setting says something: it is not null, off or empty. Zero says something."""
    return value is not None and value is not False and value not in ("", [], {})


def output_dir_of(run: RunRecord) -> str:
    """Where the files are, as the user wrote it; a folder of the workspace is told from the workspace on."""
    written = run.settings.get("output_dir")
    if written:
        return str(written)
    parts = run.folder.parts
    return "/".join(parts[parts.index(STATE_FOLDER) :]) if STATE_FOLDER in parts else str(run.folder)


def endpoint_of(run: RunRecord) -> JsonObject:
    """The model under test: the key's variable by name, never its value."""
    model = _table(run.settings.get("model"))
    known = _table(run.manifest.get("endpoint"))
    url = model.get("url")
    url = known.get("fingerprint") if url is None else public_url(str(url))
    return without_none(
        {
            "api": None if model.get("api") == "openai" else model.get("api"),
            "api_key_name": model.get("api_key_name"),
            "model_id": model.get("model_id", run.model),
            "type": known.get("type") or run.settings.get("model_type") or model.get("model_type") or "chat",
            "url": url,
        }
    )


def command_of(run: RunRecord) -> str:
    """A command that starts the same evaluation. Where files go and what it may spend are left out: they
    differ between runs that measure the same."""
    settings = run.settings
    generation = _table(settings.get("generation"))
    words = ["benchwright", "run", run.target]
    flags: JsonObject = {}
    source = settings.get("rescored_from")
    if source is not None:  # what was asked is the earlier run's
        words = ["benchwright", "rescore", str(source)]
        if settings.get("retargeted"):
            words += ["--target", f"{run.target}:{run.name}" if run.target.endswith(".py") else run.target]
        generation = {}
    elif is_demo(run):
        demo = _table(settings.get("model"))
        flags = (
            {"model": "random"}
            if demo.get("by_chance")
            else {"model": "demo", "demo_skill": demo.get("skill")}
        )
    elif "url" in _table(settings.get("model")):
        endpoint = endpoint_of(run)
        flags = {"model_url": endpoint.get("url"), "model_id": endpoint.get("model_id")}
        flags["api"], flags["api_key_name"] = endpoint.get("api"), endpoint.get("api_key_name")
    flags["model_type"] = None if source is not None else settings.get("model_type")
    flags["mode"] = "infer" if settings.get("infer_only") else None
    questions = _question_flags(questions_of(run))
    if settings.get("questions") and "{" not in str(system := sent_settings(run).get("system") or ""):
        questions.setdefault("system", system or None)  # the model's; a flag would fill in what is in braces
    flags.update({n: v for n, v in questions.items() if source is None or n in RESCORE_OPTIONS})
    for name, value in flags.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    recorded = {**settings, **generation}
    data = [s for s in RUN_SETTINGS if s.group == "data" and (source is None or s.name in RESCORE_OPTIONS)]
    sent = sorted((s for s in RUN_SETTINGS if s.group == "generation"), key=_by_kind)
    for setting in data + [s for s in sent if s.kind in ("number", "int")]:
        if setting.name in generation and generation[setting.name] is None and setting.default is not None:
            words += [setting.flags[0], LEFT_OUT]  # it has a default, so that nothing is not the same
        elif setting.kind != "bool":
            words += _words(setting, recorded.get(setting.name))
    words += _words(BY_NAME["parallelism"], settings.get("parallelism"))
    for name, value in _table(_table(settings.get("model")).get("headers")).items() if source is None else ():
        if "${" in str(value) or not is_secret_name(name):  # secrets only as names of variables
            words += ["--header", f"{name}={value}"]
    for setting in [s for s in sent if s.kind not in ("number", "int")] + data:
        if setting.kind == "bool" or setting in sent:
            words += _words(setting, recorded.get(setting.name))
    return shlex.join(words)


def _by_kind(setting: Setting) -> tuple[bool, ...]:
    """Numbers first, then texts and tables, then lists, then switches."""
    kind = setting.kind
    return kind == "bool", kind == "texts", kind == "table", kind == "text", kind == "int"


def _words(setting: Setting, value: Any) -> list[str]:
    """A recorded value as it is typed."""
    flag = setting.flags[0]
    if value is False and setting.default is True:
        return [f"--no-{flag.removeprefix('--')}"]
    if not is_set(value):
        return []
    if setting.kind == "bool":
        return [flag]
    if setting.kind == "texts":
        texts = [value] if isinstance(value, str) else value
        return [f"{setting.flags[-1]}={each if isinstance(each, str) else '='.join(each)}" for each in texts]
    return [flag, canonical_json(value).decode() if setting.kind == "table" else str(value)]


_AS_EVER: JsonObject = {
    "compat": False,
    **{s.name: s.default for s in RUN_SETTINGS if s.group == "questions" and s.default is not None},
}
"""What a file of questions is asked and scored with unless somebody says otherwise."""


def questions_of(run: RunRecord) -> JsonObject:
    """How a file of questions was asked and scored, as far as somebody said; empty for other benchmarks."""
    recorded = _table(run.settings.get("questions"))
    return {
        name: value
        for name, value in recorded.items()
        if value not in (None, [], {}, "") and value != _AS_EVER.get(name)
    }


def _question_flags(questions: JsonObject) -> JsonObject:
    flags: JsonObject = {}
    for name, value in questions.items():
        if name == "judge":
            judge = _table(value)
            flags.update({flag: judge.get(key) for flag, key in JUDGE_SETTINGS.items()})
        elif name == "compat":
            flags["compat"] = "aisbench"
        elif name == "human_prompt":
            flags["template"] = value
        elif isinstance(value, list):
            flags[name] = ",".join(map(str, value))
        elif isinstance(value, dict):
            flags[name] = canonical_json(value).decode()
        elif name not in ("name", "bot_prompt"):
            flags[name] = value
    return flags


def without_secrets(value: JsonObject) -> JsonObject:
    """Settings with URLs made public and values of secret-looking headers masked."""
    masked: JsonObject = {}
    for name, entry in value.items():
        if name == "headers" and isinstance(entry, dict):
            masked[name] = {h: "…" if is_secret_name(h) else v for h, v in entry.items()}
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


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
