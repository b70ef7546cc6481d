"""The origin of a run's numbers, without secrets: the command that starts the same run, and the tables of `results.yml`,
`run_config.yml` and `manifest.json`."""

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
    assigned,
    leaves,
    question_options,
)
from benchwright.core import (
    LEFT_OUT,
    QUESTIONS,
    VERSION,
    JsonObject,
    MetricSummary,
    RunSummary,
    canonical_json,
    defined_settings,
)
from benchwright.results._figures import ALL_REPLIES, metric_labels, metric_stats, reused_of
from benchwright.results._settings import (
    PARAMS,
    calling_of,
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
    from benchwright.results._runs import RunDetails


def command_of(run: RunRecord) -> str:
    """A command that starts the same evaluation. The folder of files and the budgets are left out, because they differ
    between runs that measure the same."""
    settings = run.settings
    generation = table_of(settings.get("generation"))
    words = ["benchwright", "run", run.target]
    flags: JsonObject = {}
    source = settings.get("rescored_from")
    if source is not None:  # the requests are those of the earlier run
        words = ["benchwright", "rescore", str(source)]
        if settings.get("retargeted"):
            words += ["--target", f"{run.target}:{run.name}" if run.target.endswith(".py") else run.target]
        if settings.get("labels") is not None:
            words.append("--labels")
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
    questions.setdefault("system", sent_settings(run).get("system") or None)
    flags.update({n: v for n, v in questions.items() if source is None or n in RESCORE_OPTIONS})
    typed: dict[str, list[str]] = {}

    def add(name: str, as_typed: list[str]) -> None:
        if as_typed:
            typed.setdefault(name, as_typed)

    for name, value in flags.items():
        if isinstance(value, bool):
            add(name, _words(BY_NAME[name], value))
        elif value is not None:
            add(name, _typed(f"--{name.replace('_', '-')}", str(value)))
    if source is None:  # an empty one is written too: it replaces the table of a built-in evaluation
        add("input", _words(BY_NAME["input"], settings.get("input"), reset=True))
    recorded = {**settings, **generation}
    data = [s for s in RUN_SETTINGS if s.group == "data" and (source is None or s.name in RESCORE_OPTIONS)]
    sent = sorted((s for s in RUN_SETTINGS if s.group == "generation"), key=_by_kind)
    for setting in data + [s for s in sent if s.kind in ("number", "int")]:
        if setting.name in generation and generation[setting.name] is None and setting.default is not None:
            add(setting.name, [setting.flags[0], LEFT_OUT])  # leaving it out would mean its default
        elif setting.kind != "bool":
            add(setting.name, _words(setting, recorded.get(setting.name)))
    add("parallelism", _words(BY_NAME["parallelism"], settings.get("parallelism")))
    headers = _public_headers(settings).items() if source is None else ()
    add("headers", [word for name, value in headers for word in ("--header", f"{name}={value}")])
    for setting in [s for s in sent if s.kind not in ("number", "int")] + data:
        if setting.kind == "bool" or setting in sent:
            add(setting.name, _words(setting, recorded.get(setting.name)))
    for setting in _OTHERS:
        if source is None or setting.name in RESCORE_OPTIONS:
            add(setting.name, _words(setting, _changed(setting, settings)))
    for name, value in _reset_values(settings, endpoint_of(run)).items() if source is None else ():
        if BY_NAME[name].decides not in ("budget", "place"):
            add(name, _words(BY_NAME[name], value, reset=True))
    variables = [assigned(name, value) for name, value in table_of(settings.get("variables")).items()]
    before = [f"env {' '.join(filter(None, variables))}"] if any(variables) else []
    return " ".join([*before, shlex.join([*words, *(word for each in typed.values() for word in each)])])


def row_command(run: RunRecord, row: int) -> str | None:
    """A command that shows one row of a file of questions as it is sent; None if rows cannot be named by their place."""
    settings = run.settings
    questions = questions_of(run)
    if (
        defined_settings(settings, QUESTIONS) is None
        or settings.get("filters")
        or questions.get("test_range")
    ):
        return None
    given = {**question_options(questions), "system": sent_settings(run).get("system") or None}
    typed = [_words(BY_NAME[name], value) for name, value in given.items() if name in BY_NAME]
    chosen = [*(word for words in typed for word in words), "--test-range", f"[{row}:{row + 1}]"]
    return shlex.join(["benchwright", "check", run.target, *chosen])


_OTHERS = tuple(
    setting
    for setting in RUN_SETTINGS
    if setting.group not in ("data", "generation", "questions") and setting.decides not in ("budget", "place")
)
"""Settings that the command names if they differ from their defaults."""


def _public_headers(settings: JsonObject) -> JsonObject:
    """Headers of the model; secrets only as names of variables."""
    headers = table_of(table_of(settings.get("model")).get("headers"))
    return {name: value for name, value in headers.items() if is_public_header(name, value)}


def _changed(setting: Setting, settings: JsonObject) -> Any:
    """The recorded value of a setting of the run or its endpoint; None if it is the default."""
    value = _recorded(setting, settings)
    return None if value == setting.default else value


def _recorded(setting: Setting, settings: JsonObject) -> Any:
    """The recorded value of a setting of the run or its endpoint; None if there is none."""
    model, name = table_of(settings.get("model")), setting.recorded or setting.name
    if name in ("verify", "ca_file"):  # recorded as one: whether to check, or the file to check with
        verify = model.get("verify", True)
        return verify if isinstance(verify, bool) is (name == "verify") else None
    if setting.group == "model":
        return None  # the name of the model is recorded with its endpoint
    if setting.group == "tools":  # as the evaluation was defined
        return calling_of(settings).get(name)
    return settings.get(name, model.get(name))


def _reset_values(settings: JsonObject, endpoint: JsonObject) -> dict[str, Any]:
    """The recorded values of settings that benchwright.toml also has, including defaults and values that are off or empty,
    because the file might set another value."""
    generation, questions = table_of(settings.get("generation")), defined_settings(settings, QUESTIONS) or {}
    found: dict[str, Any] = {}
    names: Any = settings.get("configured") or ()
    for setting in (BY_NAME[name] for name in names if name in BY_NAME):
        value: Any
        if setting.name == "model":  # a profile, which would decide these
            found |= {"api": table_of(settings.get("model")).get("api"), "stream": generation.get("stream")}
            found["model_type"] = endpoint.get("type") if found["api"] else None
            continue
        if setting.group == "generation":
            value = generation.get(setting.name)
            value = LEFT_OUT if setting.can_be_left_out and value in (None, []) else value
        elif setting.judge:
            value = table_of(questions.get("judge")).get(setting.judge)
        elif setting.group == "questions":  # those of the other type are refused
            takes = str(settings.get("eval_type")).startswith(setting.only)
            value = questions.get(setting.name) if takes else None
        else:
            value = _recorded(setting, settings)
        found[setting.name] = {} if setting.kind == "steps" and value is None else value
    return {name: value for name, value in found.items() if value not in (None, [], "")}


def _by_kind(setting: Setting) -> tuple[bool, ...]:
    """Numbers first, then texts and tables, then lists, then switches."""
    kind = setting.kind
    return kind == "bool", kind == "texts", kind == "table", kind == "text", kind == "int"


def _words(setting: Setting, value: Any, *, reset: bool = False) -> list[str]:
    """The words of a recorded value on the command line. `reset`: without the flag another value would apply, so off and empty
    values are written too."""
    flag = setting.flags[0]
    if value is False and (setting.default is True or setting.otherwise or reset):
        return [f"--no-{flag.removeprefix('--')}"]
    if not is_set(value) and not (reset and value == {}):
        return []
    if setting.kind == "bool":
        return [flag]
    if setting.kind == "texts":
        texts = [value] if isinstance(value, str) else value
        return [f"{setting.flags[-1]}={each if isinstance(each, str) else '='.join(each)}" for each in texts]
    if setting.kind == "ints":
        return _typed(flag, ",".join(map(str, value if isinstance(value, list | tuple) else [value])))
    return _typed(flag, canonical_json(value).decode() if setting.kind in ("table", "steps") else str(value))


def _typed(flag: str, value: str) -> list[str]:
    """The words of a flag and its value. A value that begins with a dash would be read as another flag if it stood alone."""
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


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
    left_out = {*_IN_PARAMS, "origins"}  # whoever starts the file has its values from the file
    settings = {name: value for name, value in details.settings.items() if name not in left_out}
    metadata = table_of(details.settings.get("metadata"))
    shared: dict[str, Any] = config_table(details)
    asked = str(settings.get("asked") or "")
    source = re.match(r".+\.py(?=:|$)", asked)
    added: JsonObject = {} if details.saves_samples else {"save_predictions": False}
    if file := source[0] if source else asked if defined_settings(settings, QUESTIONS) is not None else "":
        # The type alone does not identify the benchmark of a file, or a file of questions.
        added["benchmark_module"] = file
    reset = _reset_values(details.settings, details.endpoint)
    added_values = {KEY_OF[name]: value for name, value in reset.items() if name in KEY_OF}
    added_values |= {(*EXTRA, name): value for name, value in added.items()} | _other_values(details.settings)
    return {
        **as_table({**added_values, **dict(leaves(shared))}),
        "framework_name": details.eval_type.partition(".")[0],
        **({"metadata": metadata} if metadata else {}),
        "settings": without_none(settings),
    }


def _other_values(settings: JsonObject) -> dict[tuple[str, ...], Any]:
    """The settings that are neither in `params` nor in the endpoint, by key. Without them the configuration would start
    another run."""
    generation = table_of(settings.get("generation"))
    found: dict[str, Any] = {setting.name: _changed(setting, settings) for setting in _OTHERS}
    found |= {name: settings.get(name) for name in ("judge", "input")}
    filters: Any = settings.get("filters") or ()
    found["filters"] = [each if isinstance(each, str) else "=".join(each) for each in filters]
    found["headers"] = _public_headers(settings)
    for setting in RUN_SETTINGS:
        if setting.name in generation and generation[setting.name] is None and setting.default is not None:
            found[setting.name] = LEFT_OUT
    return {KEY_OF[name]: value for name, value in found.items() if value is False or is_set(value)}


def metadata_table(details: RunDetails) -> JsonObject:
    """`metadata` of `results.yml`: the versions that the user and this program name. Empty without metadata."""
    metadata = table_of(details.settings.get("metadata"))
    return {"metadata": {"versioning": versioning(metadata)}} if metadata else {}


def versioning(metadata: JsonObject) -> JsonObject:
    """The versions in the user's metadata, and that of the program that wrote the files."""
    return {**table_of(metadata.get("versioning")), "benchwright": VERSION}


def manifest_table(details: RunDetails) -> JsonObject:
    """Hashes, fingerprints, versions and seed of the run; and which run it was, and when."""
    run = details.run
    return {
        **details.manifest,
        "run": {
            **run.identity(),
            "created_at": _iso_time(run.created_at),
            "finished_at": None if run.finished_at is None else _iso_time(run.finished_at),
            "duration_s": None if run.seconds is None else round(run.seconds, 3),
            "reused": (run.summary or {}).get("reused"),
        },
    }


def _iso_time(seconds: float) -> str:
    """A wall-clock time in the form that this file has always had."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def results_document(details: RunDetails, summary: RunSummary) -> JsonObject:
    """The content of `results.yml`.

    `results.tasks.<name>` holds `metrics.pass@1.scores.<metric>` with `value` and `stats`, with repeats also
    `metrics.avg@n`, `pass@k`, `cons@k`, `maj@n` and `agree@n`, then `outcomes` (all of them), `reasons`, `samples`,
    `comparable`, `partial` and `notes`. Unset values are left out.
    """
    task: JsonObject = {
        "metrics": {
            group: {"scores": {name: _score(metric) for name, metric in metrics.items()}}
            for group, metrics in {**summary.over_repeats, ALL_REPLIES: summary.metrics}.items()
        },
        "dataset": _data(details.manifest),
        "outcomes": dict(summary.outcomes),
        "reasons": dict(summary.reasons) or None,
        "samples": {
            "rows": summary.rows,
            "repeats": summary.repeats,
            "evaluated": summary.evaluated,
            "failed": summary.failed,
            "prompt_tokens": summary.prompt_tokens,
            "completion_tokens": summary.completion_tokens,
            "partly_counted": None if summary.partly_counted is None else dict(summary.partly_counted),
            "cached_tokens": summary.cached_tokens or None,
            "cut": summary.cut or None,
            "reused": reused_of(summary),
        },
        "comparable": summary.comparable,
        "partial": summary.partial,
        "notes": list(summary.notes),
        "note_grades": dict(summary.note_grades) or None,
        "derived": dict(summary.derived) or None,
        "cost": None if summary.cost is None else without_none(summary.cost),
        "judges": {name: dict(figures) for name, figures in summary.judges.items()} or None,
        "headline": summary.headline,
        "lower_is_better": list(summary.lower_is_better) or None,
    }
    return {
        **config_table(details),
        "git_hash": details.manifest.get("git_hash"),
        **metadata_table(details),
        "results": {"groups": {}, "tasks": {details.run.name: without_none(task)}},
    }


def _data(manifest: JsonObject) -> JsonObject:
    """The data, identified by content, and the number of examples before each prompt."""
    data, shots = table_of(manifest.get("dataset")), manifest.get("fewshot")
    known: JsonObject = {
        "name": data.get("name"),
        "fingerprint": data.get("fingerprint"),
        "num_fewshot": shots.get("count") if isinstance(shots, dict) else 0,
    }
    if isinstance(shots, dict) and "shown_min" in shots:  # records of older versions lack it
        known["fewshot_shown"] = {"min": shots["shown_min"], "mean": shots.get("shown_mean")}
    return known


def _score(metric: MetricSummary) -> JsonObject:
    return {"value": metric.value, **metric_labels(metric), "stats": metric_stats(metric)}
