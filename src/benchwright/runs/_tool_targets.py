"""Options of function-calling evaluations: combines them, and refuses them for other targets."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

from benchwright.config import RUN_SETTINGS, RunOptions
from benchwright.core import UsageError, expand_home

TOOL_SETTINGS = tuple(setting.name for setting in RUN_SETTINGS if setting.group == "tools")
"""Names of the options that only function-calling evaluations take."""

_CUSTOM = {"tool_data": "path", "tool_data_format": "format", "tool_data_template": "data_template_path"}
"""Options that describe the user's dataset, with their keys in `custom_dataset`."""


def refuse_tool_settings(options: RunOptions, own: Container[str], target: str) -> None:
    """Raise UsageError for these options if the target is not a function-calling evaluation."""
    given = [name for name in TOOL_SETTINGS if getattr(options, name) is not None or name in own]
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(
            f"{flags}: only function-calling evaluations (bfclv3_ast, bfcl_simple, …) take this, and {target} is not one"
        )


def evaluation_input(options: RunOptions, folder: Path) -> dict[str, Any]:
    """The options about rows in the form of `--input`, which may give the rest. Relative paths start at `folder`."""
    found: dict[str, Any] = dict(options.input or {})
    custom = {
        key: getattr(options, name) for name, key in _CUSTOM.items() if getattr(options, name) is not None
    }
    given = {
        **({} if options.task is None else {"task": options.task}),
        **({} if options.limit_share is None else {"share": options.limit_share}),
        **({"custom_dataset": custom} if custom else {}),
    }
    for key in given:
        if key in found:
            raise UsageError(f"--input sets {key}, and so does a flag; keep one of them")
    if custom and "path" not in custom:
        flag = next(name for name in _CUSTOM if getattr(options, name) is not None).replace("_", "-")
        raise UsageError(f"--{flag}: says how rows of your own are written; give them with --tool-data PATH")
    if custom:  # a folder can only be one format, and a file the other
        path = folder / expand_home(custom["path"])
        custom.setdefault("format", "native" if path.is_dir() else "openai")
    return {**found, **given}
