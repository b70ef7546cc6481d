"""Function-calling evaluations: their options, combined, and refused for other targets."""

from __future__ import annotations

from collections.abc import Container
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec
from benchwright.config import RUN_SETTINGS, RunOptions, named_store
from benchwright.core import FUNCTION_CALLING, JsonObject, UsageError, expand_home
from benchwright.runs._targets.values import Asked, Target, TargetKind
from benchwright.store import find_workspace

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


def _recognise(asked: Asked) -> bool:
    if not asked.place.startswith("bfcl"):
        return False
    from benchwright.bfcl import evaluation_of

    return evaluation_of(asked.place) is not None


def _define(asked: Asked) -> list[Target]:
    from benchwright.bfcl import Definition

    if asked.options.dataset is not None:
        raise UsageError(f"--dataset: {asked.target} takes rows of your own by --tool-data PATH")
    effective = asked.options.over(asked.defaults)
    place = asked.cwd if asked.options.tool_data is not None else asked.folder
    given = evaluation_input(effective, place)
    definition = Definition.of(asked.place, given, place, skip_bad_rows=bool(effective.skip_bad_rows))
    assert definition is not None  # it was recognised
    output = effective.output_dir
    if output is not None:
        output = expand_home(output).resolve()
    definition = replace(definition, name=asked.target, output=None if output is None else str(output))
    # A state folder in the current folder would become the nearest workspace and hide all earlier runs.
    named = partial(named_store, given=asked.options.store)
    faults = output or find_workspace(asked.cwd, asked.options.workspace, named).state
    spec = replace(definition, output=str(faults)).load()
    recorded: JsonObject = {"kind": FUNCTION_CALLING, "target": asked.place, "settings": definition.to_json()}
    return [Target(spec, asked.target, recorded, asked.defaults)]


def _load(definition: JsonObject) -> BenchmarkSpec:
    from benchwright.bfcl import Definition

    settings: Any = definition["settings"]
    return Definition.from_json(settings).load()


KIND = TargetKind(FUNCTION_CALLING, _recognise, _define, _load, takes=frozenset({"tools", "input"}))


def near_evaluations(target: str) -> tuple[str, ...]:
    """Names of function-calling evaluations, if a misspelt target may mean one."""
    if not target.startswith("bf"):
        return ()
    from benchwright.bfcl import EVALUATIONS

    return tuple(EVALUATIONS)
