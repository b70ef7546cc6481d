"""The flags of `run` and `check`, derived from the list of settings."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

from benchwright.cli._parser import Parser, value_of
from benchwright.config import RUN_SETTINGS, RunOptions, Setting


def add_run_flags(parser: Parser, only: Collection[str] | None = None) -> None:
    """Add the flags, under their headings; `only` names the settings to include."""
    groups: dict[str, Any] = {}
    for setting in RUN_SETTINGS:
        if only is not None and setting.name not in only:
            continue
        if setting.group not in groups:
            groups[setting.group] = parser.add_argument_group(setting.group)
        _add(groups[setting.group], setting)
        if setting.frequent:
            parser.frequent.add(setting.name)


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
    return RunOptions.from_keywords(given(arguments))


def _add(group: Any, setting: Setting) -> None:
    meaning = setting.help.replace("%", "%%")
    if setting.kind == "bool":
        group.add_argument(
            *setting.flags, dest=setting.name, action=argparse.BooleanOptionalAction, help=meaning
        )
        return
    # A list setting is gathered by `extend`: its converter makes a list of each text.
    action = "extend" if setting.kind == "texts" else "store"
    group.add_argument(
        *setting.flags,
        dest=setting.name,
        action=action,
        type=value_of(setting),
        metavar=setting.metavariable,
        help=meaning,
    )
