"""The flags of `run` and `check`, made from the list that benchwright.toml is checked against."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from benchwright.cli._parser import Parser, value_of
from benchwright.config import RUN_SETTINGS, Setting

if TYPE_CHECKING:
    from benchwright.sdk import RunOptions

_METAVARS = {
    "model": "NAME", "model_url": "URL", "model_id": "ID", "model_type": "TYPE", "api_key_name": "VARIABLE",
    "host_ip": "HOST", "host_port": "PORT", "api": "FORMAT", "headers": "NAME=VALUE", "max_event_bytes": "BYTES",
    "dataset": "PATH", "workspace": "DIR", "output_dir": "DIR", "extra_body": "JSON", "stop": "TEXT",
    "max_minutes": "MINUTES", "request_timeout": "SECONDS", "timeout_per_sample": "SECONDS",
    "retry_backoff": "SECONDS", "failure_threshold": "SHARE", "demo_skill": "SHARE",
    "data_type": "TYPE", "infer_method": "METHOD", "meta_path": "PATH", "prompt_style": "STYLE",
    "template": "TEXT", "system": "TEXT", "fewshot_dataset": "PATH", "input_columns": "NAMES",
    "output_column": "NAME", "options": "NAMES", "answer_index": "N", "mcq_fallback": "RULE", "qa_metrics": "NAMES",
    "qa_pattern": "REGEX", "numeric_tolerance": "SHARE", "evaluator": "NAME", "evaluator_kwargs": "JSON",
    "judge_url": "URL", "judge_id": "ID", "judge_key_name": "VARIABLE", "judge_model": "NAME", "media": "FORM",
    "audio_style": "STYLE", "max_media_mb": "MB", "compat": "TOOL", "test_range": "RANGE", "encoding": "NAME", "sheet": "NAME", "input": "JSON", "reports": "NAME",
}  # fmt: skip


def add_run_flags(parser: Parser, only: Collection[str] | None = None) -> None:
    """Add the flags, under their headings; `only` names the settings wanted."""
    groups: dict[str, Any] = {}
    for setting in RUN_SETTINGS:
        if only is not None and setting.name not in only:
            continue
        if setting.group not in groups:
            groups[setting.group] = parser.add_argument_group(setting.group)
        _add(groups[setting.group], setting)


def add_workspace(parser: Parser) -> None:
    """Add `--workspace`, for commands that only read."""
    setting = next(setting for setting in RUN_SETTINGS if setting.name == "workspace")
    _add(parser.common, setting)


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run settings that were typed, by canonical name."""
    values = {s.name: getattr(arguments, s.name, None) for s in RUN_SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def run_options(arguments: argparse.Namespace) -> RunOptions:
    """The flags as the options of a run."""
    from benchwright.sdk import RunOptions

    values = given(arguments)
    if "stop" in values:
        values["stop"] = tuple(values["stop"])
    return RunOptions.from_keywords(values)


def _add(group: Any, setting: Setting) -> None:
    flags = [f"--{name.replace('_', '-')}" for name in (setting.name, *setting.aliases)]
    meaning = setting.meaning.replace("%", "%%")
    if setting.choices:
        meaning += f": {', '.join(setting.choices)}"
    if setting.kind == "bool":
        group.add_argument(*flags, dest=setting.name, action=argparse.BooleanOptionalAction, help=meaning)
        return
    metavar = _METAVARS.get(setting.name, "N" if setting.kind == "int" else "X")
    # A list setting is gathered by `extend`: its converter makes a list of each text.
    action = "extend" if setting.kind == "texts" else "store"
    group.add_argument(
        *flags, dest=setting.name, action=action, type=value_of(setting), metavar=metavar, help=meaning
    )
