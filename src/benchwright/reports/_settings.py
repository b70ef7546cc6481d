"""Reads a run's frozen settings for reports: parameters in documented names, the endpoint without secrets,
and the command that would start the same run."""

from __future__ import annotations

import shlex
from typing import Any

from benchwright.core import LEFT_OUT, JsonObject, canonical_json, is_secret_name, public_url
from benchwright.store import STATE_FOLDER, RunRecord

_SWITCHES = ("fewshot_strict", "skip_bad_rows")
_ASKING_SWITCHES = ("fewshot_strict",)
_SCORING = {
    "mcq_fallback", "qa_metrics", "qa_pattern", "numeric_tolerance", "evaluator", "evaluator_kwargs", "judge_url",
    "judge_id", "judge_key_name",
}  # fmt: skip
"""Flags of question files that decide what is made of replies; all others decide what is asked."""
_GENERATION_EXTRAS = ("stop", "seed", "stream", "extra_body")


def is_demo(run: RunRecord) -> bool:
    """Whether the embedded demo model answered."""
    asked = run.manifest.get("strategy") != "score_only"
    return asked and _table(run.settings.get("model")).get("kind") == "demo"


def model_of(run: RunRecord) -> str:
    """The model as tables show it: by the name that its suite gives it, with the id where that is another."""
    name = run.settings.get("model_name")
    return run.model if not name or name == run.model else f"{name} ({run.model})"


def params_of(run: RunRecord) -> JsonObject:
    """The parameters that decide the numbers, in their documented names. Unset ones are left out."""
    settings = run.settings
    generation = _table(settings.get("generation"))
    model = _table(settings.get("model"))
    extra: JsonObject = {name: generation[name] for name in _GENERATION_EXTRAS if generation.get(name)}
    dataset: JsonObject = {
        "path": settings.get("dataset"),
        "num_fewshot": settings.get("num_fewshot"),
        "fewshot_seed": settings.get("fewshot_seed"),
        "fewshot_strict": settings.get("fewshot_strict") or None,
        "skip_bad_rows": settings.get("skip_bad_rows") or None,
    }
    extra["dataset"] = dataset
    if questions := questions_of(run):
        extra["questions"] = questions
    extra["n_repeats"] = settings.get("repeats")
    extra["pass_k"] = settings.get("pass_k")
    extra["rescored_from"] = settings.get("rescored_from")
    extra["infer_only"] = settings.get("infer_only") or None
    extra["failure_threshold"] = settings.get("failure_threshold")
    return without_none(
        {
            "limit_samples": settings.get("limit"),
            "max_new_tokens": generation.get("max_tokens"),
            "max_retries": model.get("max_retries"),
            "parallelism": settings.get("parallelism"),
            "request_timeout": model.get("request_timeout_s"),
            "task": run.name,
            "temperature": generation.get("temperature"),
            "top_p": generation.get("top_p"),
            "extra": extra,
        }
    )


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
    asking = () if source is not None else ("repeats", "num_fewshot", "fewshot_seed")
    flags["model_type"] = None if source is not None else settings.get("model_type")
    for name in ("dataset", "limit", *asking, "pass_k"):
        flags[name] = settings.get(name)
    for pair in settings.get("filters") or []:  # type: ignore[union-attr]  # a list of pairs, as recorded
        words += ["--filter", "=".join(pair)]  # type: ignore[arg-type]
    flags["mode"] = "infer" if settings.get("infer_only") else None
    questions = _question_flags(questions_of(run))
    flags.update({n: v for n, v in questions.items() if source is None or n in _SCORING})
    for name in ("temperature", "top_p", "max_tokens"):  # they have defaults, so that nothing is not the same
        flags[name] = LEFT_OUT if name in generation and generation[name] is None else generation.get(name)
    flags["seed"] = generation.get("seed")
    flags["parallelism"] = settings.get("parallelism")
    for name, value in flags.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    for name, value in _table(_table(settings.get("model")).get("headers")).items() if source is None else ():
        if "${" in str(value) or not is_secret_name(name):  # secrets only as names of variables
            words += ["--header", f"{name}={value}"]
    extra = generation.get("extra_body")
    if extra:
        words += ["--extra-body", canonical_json(extra).decode()]
    stops = generation.get("stop") or []
    for stop in [stops] if isinstance(stops, str) else stops if isinstance(stops, list) else []:
        words.append(f"--stop={stop}")
    for name, given in (("stream", generation.get("stream")), *((n, settings.get(n)) for n in _SWITCHES)):
        if given and not (source is not None and name in _ASKING_SWITCHES):
            words.append(f"--{name.replace('_', '-')}")
    return shlex.join(words)


_AS_EVER: JsonObject = {
    "infer_method": "gen", "prompt_style": "benchwright", "mcq_fallback": "none", "numeric_tolerance": 0.0,
    "media": "base64", "audio_style": "audio_url", "max_media_mb": 20.0, "compat": False,
}  # fmt: skip
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
            flags["judge_url"], flags["judge_id"] = judge.get("url"), judge.get("model_id")
            flags["judge_key_name"] = judge.get("api_key")
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
