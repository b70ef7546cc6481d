"""What made a run's numbers: the command that starts the same run, and the tables of `results.yml`, `run_config.yml` and
`manifest.json`. No secrets."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchwright.config import (
    BY_NAME,
    EXTRA,
    KEY_OF,
    RESCORE_OPTIONS,
    RUN_SETTINGS,
    Setting,
    as_table,
    leaves,
    question_options,
)
from benchwright.core import LEFT_OUT, VERSION, JsonObject, canonical_json
from benchwright.reports.views.settings import (
    PARAMS,
    endpoint_of,
    is_embedded_demo,
    is_public_header,
    is_set,
    questions_of,
    sent_settings,
    table_of,
    without_none,
)
from benchwright.store import RunRecord

if TYPE_CHECKING:
    from benchwright.reports.views.runs import RunDetails


def command_of(run: RunRecord) -> str:
    """A command that starts the same evaluation. Where files go and what it may spend are left out: they
    differ between runs that measure the same."""
    settings = run.settings
    generation = table_of(settings.get("generation"))
    words = ["benchwright", "run", run.target]
    flags: JsonObject = {}
    source = settings.get("rescored_from")
    if source is not None:  # the requests are those of the earlier run
        words = ["benchwright", "rescore", str(source)]
        if settings.get("retargeted"):
            words += ["--target", f"{run.target}:{run.name}" if run.target.endswith(".py") else run.target]
        generation = {}
    elif is_embedded_demo(run):
        demo = table_of(settings.get("model"))
        flags = (
            {"model": "random"}
            if demo.get("by_chance")
            else {"model": "demo", "demo_skill": demo.get("skill")}
        )
    elif "url" in table_of(settings.get("model")):
        endpoint = endpoint_of(run)
        flags = {"model_url": endpoint.get("url"), "model_id": endpoint.get("model_id")}
        flags["api"], flags["api_key_name"] = endpoint.get("api"), endpoint.get("api_key_name")
    flags["model_type"] = None if source is not None else settings.get("model_type")
    flags["mode"] = "infer" if settings.get("infer_only") else None
    questions = question_options(questions_of(run))
    if settings.get("questions") and "{" not in str(system := sent_settings(run).get("system") or ""):
        questions.setdefault("system", system or None)  # the model's; a flag would fill in what is in braces
    flags.update({n: v for n, v in questions.items() if source is None or n in RESCORE_OPTIONS})
    for name, value in flags.items():
        if isinstance(value, bool):
            words += _words(BY_NAME[name], value)
        elif value is not None:
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
    for name, value in _public_headers(settings).items() if source is None else ():
        words += ["--header", f"{name}={value}"]
    for setting in [s for s in sent if s.kind not in ("number", "int")] + data:
        if setting.kind == "bool" or setting in sent:
            words += _words(setting, recorded.get(setting.name))
    for setting in _OTHERS:
        if source is None or setting.name in RESCORE_OPTIONS:
            words += _words(setting, _changed(setting, settings))
    return shlex.join(words)


_OTHERS = tuple(
    setting
    for setting in RUN_SETTINGS
    if setting.group not in ("data", "generation", "questions") and setting.decides not in ("budget", "place")
)
"""Settings that stand in the command if they are not at their defaults."""


def _public_headers(settings: JsonObject) -> JsonObject:
    """Headers of the model; secrets only as names of variables."""
    headers = table_of(table_of(settings.get("model")).get("headers"))
    return {name: value for name, value in headers.items() if is_public_header(name, value)}


def _changed(setting: Setting, settings: JsonObject) -> Any:
    """A setting of the run or of its endpoint as it is recorded; None if it is at its default."""
    model, name = table_of(settings.get("model")), setting.recorded or setting.name
    if name in ("verify", "ca_file"):  # recorded as one: whether to check, or the file to check with
        verify = model.get("verify", True)
        value = verify if isinstance(verify, bool) is (name == "verify") else None
    elif setting.group == "model":
        return None  # what names the model is recorded as its endpoint
    elif setting.group == "tools":  # as the evaluation was defined
        value = table_of(table_of(settings.get("nocode")).get("bfcl")).get(name)
    else:
        value = settings.get(name, model.get(name))
    return None if value == setting.default else value


def _by_kind(setting: Setting) -> tuple[bool, ...]:
    """Numbers first, then texts and tables, then lists, then switches."""
    kind = setting.kind
    return kind == "bool", kind == "texts", kind == "table", kind == "text", kind == "int"


def _words(setting: Setting, value: Any) -> list[str]:
    """A recorded value as it is typed."""
    flag = setting.flags[0]
    if value is False and (setting.default is True or setting.otherwise):  # off is not the same as not given
        return [f"--no-{flag.removeprefix('--')}"]
    if not is_set(value):
        return []
    if setting.kind == "bool":
        return [flag]
    if setting.kind == "texts":
        texts = [value] if isinstance(value, str) else value
        return [f"{setting.flags[-1]}={each if isinstance(each, str) else '='.join(each)}" for each in texts]
    return [flag, canonical_json(value).decode() if setting.kind in ("table", "steps") else str(value)]


_IN_PARAMS = {*PARAMS, "benchmark", "eval_type", "generation", "metadata", "retargeted"}


def config_table(details: RunDetails) -> JsonObject:
    """`command`, `config` and `target`: the part that `results.yml` and `run_config.yml` share."""
    return {
        "command": details.command,
        "config": {
            "output_dir": details.output_dir,
            "params": details.params,
            "type": details.eval_type,
        },
        "target": {"api_endpoint": details.endpoint},
    }


def run_config(details: RunDetails) -> JsonObject:
    """The merged configuration: `config` and `target` as in `results.yml`, with the file of the benchmark, the first part of
    the type as `framework_name`, and all other settings under `settings`."""
    settings = {name: value for name, value in details.settings.items() if name not in _IN_PARAMS}
    metadata = table_of(details.settings.get("metadata"))
    shared: dict[str, Any] = config_table(details)
    asked = str(settings.get("asked") or "")
    source = re.match(r".+\.py(?=:|$)", asked)
    added: JsonObject = {} if details.saves_samples else {"save_predictions": False}
    if file := source[0] if source else asked if settings.get("questions") is not None else "":
        # Nobody finds the benchmark of a file, or a file of questions, by its type alone.
        added["benchmark_module"] = file
    added_values = {(*EXTRA, name): value for name, value in added.items()} | _other_values(details.settings)
    return {
        **as_table({**added_values, **dict(leaves(shared))}),
        "framework_name": details.eval_type.partition(".")[0],
        **({"metadata": metadata} if metadata else {}),
        "settings": without_none(settings),
    }


def _other_values(settings: JsonObject) -> dict[tuple[str, ...], Any]:
    """The settings that neither `params` nor the endpoint has, by their keys: without them, the configuration would start another
    run."""
    generation = table_of(settings.get("generation"))
    found: dict[str, Any] = {setting.name: _changed(setting, settings) for setting in _OTHERS}
    filters: Any = settings.get("filters") or ()
    found["filters"] = [each if isinstance(each, str) else "=".join(each) for each in filters]
    found["headers"] = _public_headers(settings)
    for setting in RUN_SETTINGS:
        if setting.name in generation and generation[setting.name] is None and setting.default is not None:
            found[setting.name] = LEFT_OUT
    return {KEY_OF[name]: value for name, value in found.items() if value is False or is_set(value)}


def metadata_table(details: RunDetails) -> JsonObject:
    """`metadata` of `results.yml`: which versions the user and this program name. Empty without metadata."""
    metadata = table_of(details.settings.get("metadata"))
    return {"metadata": {"versioning": versioning(metadata)}} if metadata else {}


def versioning(metadata: JsonObject) -> JsonObject:
    """The versions that the user's metadata name, and that of the program which wrote the files."""
    return {**table_of(metadata.get("versioning")), "benchwright": VERSION}


def manifest_table(details: RunDetails) -> JsonObject:
    """What the run was made of: hashes, fingerprints, versions, seed; and which run it was, and when."""
    run = details.run
    return {
        **details.manifest,
        "run": {
            **run.identity(),
            "created_at": _iso_time(run.created_at),
            "finished_at": None if run.finished_at is None else _iso_time(run.finished_at),
            "duration_s": None if run.seconds is None else round(run.seconds, 3),
        },
    }


def _iso_time(seconds: float) -> str:
    """A wall-clock time as this file has had it since its first version."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
