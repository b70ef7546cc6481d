"""Entries of a run's `run_config.yml` that differ in form from options: settings of a file of questions, streaming, and
the demo model."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from benchwright.config._run_settings import BY_NAME
from benchwright.core import ConfigError, JsonObject, canonical_json


def with_options(document: dict[str, Any]) -> dict[str, Any]:
    """The document of a recorded run with everything under the keys of options: settings of a file of questions, and whether
    replies are streamed, which `params` of results has below `extra`."""
    settings, config = document.get("settings"), document.get("config")
    if not (isinstance(settings, dict) and isinstance(config, dict)):
        return document
    params = config.get("params") or {}
    extra = dict(params.get("extra") or {})
    if "stream" in extra and "stream" not in (
        settings.get("extra") or {}
    ):  # that would be the benchmark's own
        target = document.get("target") or {}
        endpoint = {"stream": extra.pop("stream"), **(target.get("api_endpoint") or {})}
        document = {**document, "target": {**target, "api_endpoint": endpoint}}
    for name, value in question_options(extra.pop("questions", None) or {}).items():
        setting = BY_NAME[name]
        typed = isinstance(value, str) and setting.kind in ("texts", "table")
        extra[name] = setting.parse(str(value)) if typed else value
    return {**document, "config": {**config, "params": {**params, "extra": extra}}}


def question_options(questions: JsonObject) -> JsonObject:
    """Recorded settings of a file of questions as options of a run, in the form in which they are typed."""
    options: JsonObject = {}
    for name, value in questions.items():
        if name == "judge":
            judge = value if isinstance(value, dict) else {}
            options.update({name: judge.get(s.judge) for name, s in BY_NAME.items() if s.judge})
        elif name == "compat":
            options["compat"] = "aisbench"
        elif name == "human_prompt":
            options["template"] = value
        elif isinstance(value, list):
            options[name] = ",".join(map(str, value))
        elif isinstance(value, dict):
            options[name] = canonical_json(value).decode()
        elif name not in ("name", "bot_prompt"):
            options[name] = value
    return options


def name_demo_model(options: dict[str, Any]) -> None:
    """Put the embedded demo model under its name, where a recorded run has it as a URL."""
    found = urlsplit(str(options.get("model_url") or ""))
    if found.scheme != "demo":
        return
    url = options.pop("model_url")
    if options.pop("model_id", None) and "model" in options:
        return  # another model was named
    known = dict(parse_qsl(found.query, keep_blank_values=True))
    skill = known.pop("skill", None)
    by_chance = known.pop("by_chance", None) is not None
    known.pop("version", None)  # that of the answers; the run is repeated with today's
    if found.netloc != ("random" if by_chance else "demo") or known != {"seed": "0"}:
        raise ConfigError(
            f"target.api_endpoint.url is {url}: a demo model with settings of its own, which the URL does not contain. "
            "Name the model of benchwright.toml: --model NAME"
        )
    options["model"] = found.netloc
    if skill is not None:
        options.setdefault("demo_skill", BY_NAME["demo_skill"].parse(skill))
