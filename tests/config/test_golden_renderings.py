"""610 configurations as the older packages render them, and as this one does: equal, or different for a reason that is named."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rendering_cases import BENCH, DATA, FOLDER, TYPES, all_cases

from benchwright.cli import main

DEFAULTS, *_LINES = [
    json.loads(line)
    for line in Path(__file__).with_name("golden_renderings.jsonl").read_text(encoding="utf-8").splitlines()
]
OLDER = {line["name"]: line for line in _LINES}
CASES = all_cases()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("renderings")
    (place / "bench.py").write_text(BENCH.replace("PACKAGE", "benchwright"), encoding="utf-8")
    tables = [name.split(".")[1] for name in TYPES if name.startswith("byob_")]
    toml = "".join(f'[benchmarks.{name}]\nfile = "bench.py:{name}"\n' for name in tables)
    (place / "benchwright.toml").write_text(toml, encoding="utf-8")
    for name, text in DATA.items():
        (place / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr("sys.dont_write_bytecode", True)
        yield place


def rendered(case: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]) -> list[Any] | str:
    """The configurations, or the words of the refusal."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in case.get("env", {}).items():
            patch.setenv(name, value)
        for name, text in case.get("files", {}).items():
            (folder / name).write_text(text, encoding="utf-8")
        try:
            code = main([*case["args"], "--json"])
        except SystemExit as error:
            code = int(error.code or 0)
        finally:
            for name in case.get("files", {}):
                (folder / name).unlink()
    shown = capsys.readouterr()
    if code:
        assert code in (2, 4), (case["name"], shown)
        return shown.err + shown.out
    found: list[Any] = json.loads(shown.out.replace(str(folder), FOLDER))["configs"]
    return found


def flat(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Values by their dotted keys, without nulls and empty tables."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        key = f"{before}{name}"
        if key in ("command", "framework_name", "pkg_name", "target.api_endpoint.adapter_config"):
            continue
        if isinstance(value, dict):
            found |= flat(value, f"{key}.")
        elif value is not None:
            found[key] = value
    return found


def older_values(name: str) -> list[dict[str, Any]]:
    """What the older packages render, with the defaults of the type; nothing where they refuse."""
    found = OLDER[name].get("older", [])
    whole = ({**DEFAULTS["defaults"].get(each.get("config.type"), {}), **each} for each in found)
    return [{key: value for key, value in each.items() if value is not None} for each in whole]


OUR_DEFAULTS = {
    "config.params.max_retries": 3, "config.params.request_timeout": 120.0, "config.params.parallelism": 16,
    "config.params.max_new_tokens": 4096, "config.params.temperature": 0.0, "config.params.top_p": 1.0,
}  # fmt: skip
T = "evaluation.tasks.byob_my_qa.my_qa.nemo_evaluator_config.config.params."
M = "target.api_endpoint.model_id="
DIFFERENT = {
    "a null takes a value back": ("null over ", f"launcher -o {M}null"),
    "overrides take lists": ("bfcl over config.params.task=[simple,parallel]",),
    "a text is not cut where YAML begins a comment or a name": (
        f"over {M}&a",
        f"over {M}a #b",
        f"over {M}#b",
    ),
    "labels are part of the configuration": ("over metadata.team=x", "top metadata", "launcher top metadata"),
    "dotted keys are keys": ("top config.params.temperature",),
    "capabilities are not probed": ("config required_capabilities ['tools']",),
    "both names mean the same evaluation": ("launcher several kinds",),
}
"""Why values differ, and in which cases; what holds for all of them is in `reason`."""
REFUSED_HERE = {
    "the benchmark takes no such model (13.27)": (
        "model type 'completions'", "model type 'completions_logprob'", "model type 'embedding'", "flags without model_type",
        "endpoint type 'completions'", "endpoint type None", "endpoint type 'undefined'", "over target.api_endpoint.type=completions",
        "launcher task endpoint_type 'completions'",
    ),
    "there it fails during the run, or evaluates something else (13.24, 14)": (
        "limit_samples 0", "limit_samples -1", "limit_samples 1.0", "limit_samples 1.5", "limit_samples True", "parallelism 0",
        "parallelism -2", "parallelism True", "temperature -1", "temperature True", "top_p 1.5", "max_new_tokens 0", "max_new_tokens -5",
        "max_retries -1", "request_timeout 0", "task 'other'", "type 'byob_my_qa.other'", "api_key_name ''", "model_id ''", "output_dir ''",
        "bfcl task 'nonsense'", 'bfcl extra {"custom_dataset": {"format": "jsonl"}}', "launcher tasks none", "launcher execution mode 'fast'",
        'adapter {"use_progress_tracking": true, "progress_tracking_url": "http://localhost:1/p", "progress_tracking_interval": 0}',
        'adapter {"interceptors": ["nothing"]}',
    ),
    "unknown keys are refused with near names (14)": (
        "over confg.params.temperature=1", "over a=1", "over config.params.extra.foo=1", "over config.params.extra.dataset.pth=x",
        "over config.params.extra.dataset.path.more=1", 'extra {"foo": {"bar": 1}}', 'extra {"dataset": {"pth": "x"}}', "top confg",
        "top evaluations", "top global_adapter_config", 'bfcl extra {"custom_dataset": {"pth": 1}}', "launcher execution outputdir 'x'",
        "launcher top extras {'a': 1}",
    ),
    "broken pairs, and values that are needed and taken back, are errors (13.29)": (
        "over config.params.limit_samples=", "over config.params.limit_samples", "over =5", f"over {M}a,b", f"over {M}null", "null over url",
        f"launcher -o {T}extra.dataset.path=", f"launcher -o {T}extra.dataset.path", "file with a key twice",
    ),
    "a run cannot change it, and there it would have no effect": (
        'extra {"dataset": {"field_mapping": {"question": "frage"}}}', 'extra {"dataset": {"choices": ["A", "B"]}}',
        'extra {"requirements": ["x"]}', "bfcl over config.params.extra.custom_dataset.format=native", 'adapter {"use_system_prompt": true}',
    ),
    "not done here: commands, variables of containers, other people's services": (
        "launcher task pre_cmd 'touch PWNED'", "launcher task post_cmd 'touch PWNED'",

        'adapter {"use_nvcf": true}', 'adapter {"discovery": {"dirs": ["x"]}}',
    ),
}  # fmt: skip
ALLOWED_HERE = {
    "short names of benchmarks (13.27)": ("type 'my_qa'",),
    "flags and keys of our own": ("num fewshot flag", "request_timeout 0.5", "params unknown timeout", "endpoint unknown headers"),
    "a key that takes only texts takes what looks like a number or a switch": (f"over {M}5", f"over {M}true", f"over {M}yes", f"over {M}1.10"),
    "lists and texts in overrides (13.29)": (
        f"over {M}2024-01-01", f"over {M}a: b", f"over {M}- a", "bfcl task ['simple', 'parallel']",
        "over target.api_endpoint.adapter_config.params_to_remove=[top_p,seed]", "over target.api_endpoint.adapter_config.interceptors=[caching,endpoint]",
    ),
    "a null takes a value back": ('adapter {"use_caching": null}', f"launcher -o ~{T}extra.dataset.num_fewshot", "launcher -o ~target.api_endpoint.api_key_name"),
    "keys that the file does not have, with and without ++ (14)": (
        f"launcher -o +{T}temperature=0.3", f"launcher -o {T}temperature=0.3",
        "launcher -o evaluation.nemo_evaluator_config.config.params.limit_samples=3",
    ),
    "forms of older launchers, and no composition (14)": (
        "launcher task overrides {'config.params.temperature': 0.5}", "launcher variables of a task plain", "launcher variables of all plain",
        "launcher without execution", "launcher without defaults",
    ),
    "a dry run does not need the key, and a dollar is a character": ("launcher api key missing", "launcher model ${nowhere}"),
}  # fmt: skip


def reason(name: str, key: str, older: Any, ours: Any) -> str:
    """Why a value differs; empty if nobody knows."""
    if key in OUR_DEFAULTS and ours == OUR_DEFAULTS[key] and older in (None, 10):
        return "defaults of this program"
    if key == "config.supported_endpoint_types" and older is None:
        return "known here also for BYOB (13.27)"
    if older is None and re.fullmatch(r"config\.params\.extra\.(offset|weights\.[ab])", key):
        return "what a benchmark declares is part of its configuration"
    if key == "config.output_dir" and older == "/results":
        return "a folder of a container"
    if older is not None and str(older) == str(ours):
        return "a number in quotes is a number"
    return next((why for why, names in DIFFERENT.items() if name.startswith(names)), "")


@pytest.mark.parametrize("command", ["run_eval", "run"])
def test_configurations_are_rendered_as_before_or_otherwise_for_a_reason(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    unexplained: list[Any] = []
    refused = {name for names in REFUSED_HERE.values() for name in names}
    allowed = {name for names in ALLOWED_HERE.values() for name in names}
    before = sorted(folder.iterdir())
    for case in CASES:
        if case["args"][0] != command:
            continue
        name, found = case["name"], rendered(case, folder, capsys)
        if ("refused" in OLDER[name]) != isinstance(found, str):
            if name not in (refused if isinstance(found, str) else allowed):
                unexplained.append((name, found))
            continue
        assert name not in refused | allowed, f"{name}: both do the same"
        for older, ours in zip(older_values(name), found, strict=not isinstance(found, str)):
            values = flat(ours["config"])
            for key in {*older, *values}:
                pair = older.get(key), values.get(key)
                if pair[0] != pair[1] and not reason(name, key, *pair):
                    unexplained.append((name, key, *pair))
            _check_words(values, ours["command"])
    assert not unexplained
    assert sorted(folder.iterdir()) == before, (
        "a dry run leaves nothing behind, and runs nothing that a value says"
    )


def _check_words(values: dict[str, Any], command: str) -> None:
    """Whatever a value holds, it is one word of the command."""
    words = [word.removeprefix("--model-id=").removeprefix("--output-dir=") for word in shlex.split(command)]
    assert values.get("target.api_endpoint.model_id", "run") in words, command
    assert str(Path(values.get("config.output_dir", "run"))) in words, command


def test_every_deviation_belongs_to_a_case() -> None:
    names = {case["name"] for case in CASES}
    assert names == OLDER.keys()
    for table in (REFUSED_HERE, ALLOWED_HERE):
        assert {name for listed in table.values() for name in listed} <= names
    prefixes = [prefix for listed in DIFFERENT.values() for prefix in listed]
    assert all(any(name.startswith(prefix) for name in names) for prefix in prefixes)


WRITTEN_OUT = {
    "discovery": {"dirs": [], "modules": []}, "endpoint_type": "chat", "log_failed_requests": False, "mode": "server",
    "interceptors": [
        {"name": "caching", "enabled": True, "config": {
            "cache_dir": "out/cache", "reuse_cached_responses": True, "save_requests": True, "save_responses": True,
            "max_saved_requests": 5, "max_saved_responses": 5}},
        {"name": "endpoint", "enabled": True, "config": {}},
        {"name": "response_stats", "enabled": True, "config": {"cache_dir": "out/response_stats_cache", "logging_aggregated_stats_interval": 100}},
    ],
    "post_eval_hooks": [{"name": "post_eval_report", "enabled": True, "config": {"report_types": ["html", "json"], "html_report_size": 5}}],
}  # fmt: skip
"""The pipeline that the older package writes into every `run_config.yml`."""


@pytest.mark.parametrize("eval_type", TYPES)
def test_a_written_out_configuration_of_the_older_package_starts_the_same_run(
    folder: Path, capsys: pytest.CaptureFixture[str], eval_type: str
) -> None:
    document: dict[str, Any] = {"command": "python -m runner", "framework_name": "x", "pkg_name": "x"}
    values = {**DEFAULTS["defaults"][eval_type], "target.api_endpoint.adapter_config": WRITTEN_OUT}
    empty = (
        "config.required_capabilities",
        "config.params.limit_samples",
        "target.api_endpoint.stream",
        "target.api_endpoint.api_key_name",
    )
    for key, value in {**dict.fromkeys(empty), **values}.items():
        *path, last = key.split(".")
        place = document
        for word in path:
            place = place.setdefault(word, {})
        place[last] = value
    text = yaml.safe_dump(document).replace(FOLDER, str(folder))
    args = ["run_eval", "--dry_run", "--run_config", "run_config.yml"]
    found = rendered({"name": eval_type, "args": args, "files": {"run_config.yml": text}}, folder, capsys)
    assert not isinstance(found, str), found
    again = flat(found[0]["config"])
    for key, value in DEFAULTS["defaults"][eval_type].items():
        assert again[key] == value, key
