"""The command on record: typed again, it gives the same settings, also those whose value is 0 or off."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchwright.cli._flags import run_options
from benchwright.cli._parser import Parser
from benchwright.cli._run import configure
from benchwright.config import RUN_SETTINGS, RunConfigs, RunOptions, Setting, find_config
from benchwright.engine._models import ChosenModel
from benchwright.results import benchmark_details
from benchwright.results._command import command_of, run_config
from benchwright.results._comparing import setting_differences
from benchwright.runs import ConfiguredRun
from benchwright.runs._run import run_settings
from benchwright.runs._targets import find_targets
from benchwright.store import RunRecord, find_workspace, open_store

SERVER = {"model_url": "http://localhost:1/v1", "model_id": "m"}
LEFT_OUT = {"budget", "place"}
"""What a command leaves out on purpose: what a run may spend, and where its files go."""
ELSEWHERE = {"model", "model_url", "model_id", "host_ip", "host_port", "enable_ssl", "judge_model", "input"}
"""What names the model or the judge, which the command does by address; and input, which tables of benchwright.toml take."""
NEEDS: dict[str, dict[str, Any]] = {
    "demo_skill": {"model": "demo"},
    "pass_k": {"repeats": 3, **SERVER},
    "qa_pattern": {"qa_metrics": ("regex",), **SERVER},
    "fewshot_dataset": {"num_fewshot": 1, **SERVER},
    "judge_url": {"qa_metrics": ("judge",), "judge_id": "j", **SERVER},
    "evaluator_kwargs": {"evaluator": "exact_match", **SERVER},
    "judge": {"qa_metrics": ("judge",), "judge_url": "http://localhost:2/v1", "judge_id": "j", **SERVER},
    "tool_data_format": {"tool_data": "tools.jsonl", **SERVER},
    "tool_data_template": {"tool_data": "tools.jsonl", **SERVER},
}
TEXTS: dict[str, Any] = {
    "pass_k": (1, 3),
    "dataset": None,  # refused for a file of questions
    "meta_path": "meta.json",
    "fewshot_dataset": "qa.csv",
    "ca_file": "root.pem",
    "judge_ca_file": "root.pem",
    "template": "Q: {question}",
    "input_columns": ("question",),
    "output_column": "answer",
    "options": None,
    "evaluator": "exact_match",
    "qa_metrics": ("f1", "exact"),
    "qa_pattern": "([0-9]+)",
    "test_range": "[0:1]",
    "encoding": "utf-8",
    "headers": {"X-Team": "a b"},
    "filters": ("question=1+1=",),
    "evaluator_kwargs": {},
    "judge_url": "http://localhost:2/v1",
    "judge": {"temperature": 0.5},
    "extra": {"top_k": 0},
    "sheet": None,
    "header_row": None,  # of workbooks only
    "compat": None,
    "data_type": "qa",
    "api_key_name": "MY_KEY",
    "judge_key_name": "MY_KEY",
    "task": "simple,irrelevance",
    "tool_data": "tools.jsonl",
    "tool_data_format": "openai",
    "tool_data_template": "template.json",
}
TOOL_ROW = {
    "messages": [{"role": "user", "content": "Area of base 2 and height 3?"}],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "area",
                "description": "Area of a triangle.",
                "parameters": {
                    "type": "object",
                    "properties": {"base": {"type": "integer"}},
                    "required": ["base"],
                },
            },
        }
    ],
    "tool_calls_ground_truth": [{"area": {"base": [2]}}],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qa.csv").write_text("question,answer\n1+1=,2\n2+2=,4\n", encoding="utf-8")
    (tmp_path / "mcq.csv").write_text("question,A,B,answer\n1+1=,1,2,B\n", encoding="utf-8")
    (tmp_path / "meta.json").write_text("{}", encoding="utf-8")
    (tmp_path / "root.pem").write_text("", encoding="utf-8")
    (tmp_path / "tools.jsonl").write_text(json.dumps(TOOL_ROW) + "\n", encoding="utf-8")
    template = {key: f"{{{{ item.{key} | tojson }}}}" for key in TOOL_ROW}
    (tmp_path / "template.json").write_text(json.dumps(template), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def values_of(setting: Setting) -> list[Any]:
    """The smallest or off value of a setting, and one that is not its default."""
    if setting.name in TEXTS:
        return [] if TEXTS[setting.name] is None else [TEXTS[setting.name]]
    if setting.kind == "bool":
        return [False, True]
    if setting.kind in ("int", "number"):
        least = (
            setting.least
            if setting.least is not None
            else 0
            if setting.above is None
            else setting.above + 0.25
        )
        most = setting.most if setting.most is not None else least + 2
        return [int(each) if setting.kind == "int" else float(each) for each in (least, most)]
    if setting.kind == "table":
        return [{}, {"top_k": 0}]
    if setting.kind == "steps":
        return [{"params_to_add": {"top_k": 0}, "use_caching": False}, {"interceptors": ["request_logging"]}]
    return list(setting.choices) or (["a b"] if setting.kind == "text" else [("a b", "c")])


def cases() -> list[Any]:
    chosen = [s for s in RUN_SETTINGS if s.decides not in LEFT_OUT and s.name not in ELSEWHERE]
    return [pytest.param(s, value, id=f"{s.name}={value}") for s in chosen for value in values_of(s)]


def recorded(folder: Path, target: str, options: RunOptions) -> RunRecord:
    config = find_config(folder)
    (found,) = find_targets(target, config, folder, options)
    effective = options.over(found.defaults)
    settings = run_settings(found, effective, ChosenModel.of(effective, config, ask_server=False))
    with open_store(find_workspace(folder, None)) as store:
        return store.create_run(
            name="qa",
            target=target,
            model="m",
            folder=None,
            settings=settings.to_json(),
            manifest={},
            status="queued",
        )


def typed_again(command: str) -> tuple[str, RunOptions]:
    parser = Parser("run", "run TARGET", "evaluate")
    configure(parser)
    program, verb, target, *words = shlex.split(command)
    assert (program, verb) == ("benchwright", "run")
    arguments = parser.parse([target, *words])
    assert isinstance(arguments, argparse.Namespace)
    return target, run_options(arguments)


def reset_cases() -> list[Any]:
    """Each setting that benchwright.toml may have, with what the file has, and what a flag resets it to."""
    found = []
    for setting in RUN_SETTINGS:
        if setting.decides in LEFT_OUT or setting.name in ELSEWHERE or "run" not in setting.tables:
            continue
        resets = [setting.default] if setting.default is not None else []
        resets += ["none"] if setting.can_be_left_out else []
        resets += [{}] if setting.kind in ("table", "steps") and setting.name != "extra_body" else []
        resets += [False] if setting.kind == "bool" and setting.default is None else []
        others = [True] if setting.kind == "bool" and not setting.default else values_of(setting)
        for reset in resets:
            other = next((value for value in others if value not in (reset, {})), None)
            if other is not None and setting.name != "demo_skill":
                found.append(pytest.param(setting, other, reset, id=f"{setting.name}={reset} over {other}"))
    return found


@pytest.mark.parametrize(("setting", "other", "reset"), reset_cases())
def test_records_hold_what_was_reset_over_the_configuration(
    folder: Path, setting: Setting, other: Any, reset: Any
) -> None:
    needs = {**NEEDS.get(setting.name, SERVER), **({} if not setting.judge else NEEDS["judge_url"])}
    table = {**{n: v for n, v in needs.items() if n not in SERVER}, setting.name: other}
    lines = [f"{name} = {toml(value)}" for name, value in table.items()]
    (folder / "benchwright.toml").write_text("\n".join(["[run]", *lines]), encoding="utf-8")
    options = RunOptions.from_keywords({**SERVER, setting.name: reset})
    target = "mcq.csv" if setting.only == "mcq" or other == "cot" else "qa.csv"
    first = recorded(folder, target, options)
    assert recorded(folder, target, RunOptions.from_keywords(SERVER)).settings != first.settings
    assert recorded(folder, *typed_again(command_of(first))).settings == first.settings
    file = folder / "run.yaml"
    file.write_text(yaml.safe_dump(run_config(benchmark_details(first))), encoding="utf-8")
    (config,) = RunConfigs.read(file, {}, "", ()).configs
    again = ConfiguredRun.of(config)
    from_file = recorded(folder, again.target, again.options).settings
    ours = {"output_dir", "model_type"}  # which the file always has
    assert {n: v for n, v in from_file.items() if n not in ours} == {
        n: v for n, v in first.settings.items() if n not in ours
    }


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(each)}" for name, each in value.items()) + "}"
    return json.dumps(value)


@pytest.mark.parametrize(("setting", "value"), cases())
def test_the_command_on_record_gives_the_same_settings(folder: Path, setting: Setting, value: Any) -> None:
    options = RunOptions.from_keywords({**NEEDS.get(setting.name, SERVER), setting.name: value})
    if setting.judge:
        options = RunOptions.from_keywords(
            {**NEEDS["judge_url"], "judge_url": TEXTS["judge_url"], setting.name: value}
        )
    target = "mcq.csv" if setting.only == "mcq" or value == "cot" else "qa.csv"
    first = recorded(folder, "bfcl_simple" if setting.group == "tools" else target, options)
    again = recorded(folder, *typed_again(command_of(first)))
    # The demo model retries nothing unless it is told to. The command says so, and what is said holds for judges too.
    told = {"judge_retries": 0} if setting.name == "demo_skill" else {}
    assert again.settings == {**first.settings, **told}


def test_what_is_off_or_zero_is_in_the_command(folder: Path) -> None:
    run = recorded(folder, "qa.csv", RunOptions(cache=False, max_retries=0))
    assert command_of(run).endswith("--max-retries 0 --no-cache")
    plain = command_of(recorded(folder, "qa.csv", RunOptions.from_keywords(SERVER)))
    assert "cache" not in plain
    assert "retries" not in plain


def test_a_comparison_says_off_where_a_run_recorded_off(folder: Path) -> None:
    off = recorded(folder, "qa.csv", RunOptions(cache=False))
    on = recorded(folder, "qa.csv", RunOptions())
    (found,) = setting_differences(off, on, ())["differences"]  # type: ignore[misc]
    assert found == {"path": "$.cache", "run_a": False, "run_b": True}
    (found,) = setting_differences(on, off, ())["differences"]  # type: ignore[misc]
    assert found == {"path": "$.cache", "run_a": True, "run_b": False}


@pytest.mark.parametrize("profile", ["vllm_api_general_stream", "tgi_stream_api_general"])
def test_a_profile_of_the_configuration_does_not_change_a_run_of_another_model(
    folder: Path, profile: str
) -> None:
    model = '[models.mine]\nbase_url = "http://localhost:1/v1"\nmodel = "m"\ntype = "chat"\n'
    (folder / "benchwright.toml").write_text(f'[run]\nmodel = "{profile}"\n{model}', encoding="utf-8")
    first = recorded(folder, "qa.csv", RunOptions(model="mine"))
    assert recorded(folder, *typed_again(command_of(first))).settings == first.settings
