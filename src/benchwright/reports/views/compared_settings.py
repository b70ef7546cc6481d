"""Where the settings of two runs differ: every recorded setting counts that is not known to be harmless."""

from __future__ import annotations

from collections.abc import Collection

from benchwright.core import JsonObject, JsonValue, json_differences
from benchwright.reports.views.settings import sent_settings, table_of
from benchwright.store import RunRecord

_KNOWN_OTHERWISE = frozenset(
    {
        "target",
        "benchmark",
        "eval_type",
        "dataset",
        "retargeted",
        "model.url",
        "model.model_id",
        "generation.model",
    }
)
"""Settings that name what is compared by its content, or shown as the model of each side."""
_CONTENT = frozenset({"run", "dataset", "benchmark", "fewshot", "hub", "changes", "servers"})
"""Parts of a manifest that are compared by their content, or only say which run it is."""
_NOTHING: tuple[JsonValue, ...] = (None, "", [], {})


def setting_differences(a: RunRecord, b: RunRecord, harmless: Collection[str]) -> JsonObject:
    """`{same, differences: [{path, run_a, run_b}]}`. A setting that is not named in `harmless` counts, so that a new one
    is never left out."""
    first, second = _settings(a, harmless), _settings(b, harmless)
    _show_off(first, second, sent_settings(a))
    _show_off(second, first, sent_settings(b))
    differences: list[JsonValue] = [
        {"path": difference.path, "run_a": difference.old, "run_b": difference.new}
        for difference in json_differences(first, second)
    ]
    return {"same": not differences, "differences": differences}


def _settings(run: RunRecord, harmless: Collection[str]) -> JsonObject:
    settings = sent_settings(run)
    found = _without(settings, {*_KNOWN_OTHERWISE, *harmless})
    for name, value in run.manifest.items():
        if name in _CONTENT:
            continue
        if name == "endpoint" and isinstance(value, dict):
            value = {"type": value.get("type")}  # the address is that of the model, the headers are settings
        if value not in _NOTHING:
            found[name] = value
    return found


def _without(table: JsonObject, known: Collection[str], prefix: str = "") -> JsonObject:
    """Settings that are set and not `known`. One that is off is as one that an older version did not have."""
    found: JsonObject = {}
    for name, value in table.items():
        if f"{prefix}{name}" in known:
            continue
        if not prefix and name in ("model", "generation") and isinstance(value, dict):
            value = _without(value, known, f"{name}.")
        if value not in _NOTHING and value is not False:
            found[name] = value
    return found


def _show_off(found: JsonObject, other: JsonObject, recorded: JsonObject) -> None:
    """Name what one run recorded as off and the other has: it is false there, not missing."""
    for name, value in other.items():
        there = recorded.get(name)
        if there is False:
            found.setdefault(name, False)
        elif isinstance(value, dict) and isinstance(there, dict):
            inner = found.get(name)
            if isinstance(inner, dict):
                _show_off(inner, value, there)


def served_models(run: RunRecord) -> list[str]:
    """The names under which servers listed their models during the run; empty where no server did."""
    servers = table_of(run.manifest.get("servers"))
    return sorted({str(name) for found in servers.values() for name in table_of(found).get("served") or ()})
