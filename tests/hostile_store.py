"""Puts a hostile text into every text of a store's records, wherever it is: columns, JSON, names of metrics and of the data's columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stored_records import change_cells

PWNED = "globalThis.pwned=1"
HOSTILE = (
    (
        f"=cmd|' /C calc'!A0 <script>{PWNED}</script></script><img src=x onerror={PWNED}> \"'`&amp; javascript:{PWNED} "
        "\x1b]0;pwned\x07\x1b[2J\x9b5A\x7f \u202egnp.\u2066 [bold red]x[/] [x](javascript:alert(1)) **b** | a | @all "
        "\\input{x} $x$ %s {0} ${x} \u2028 \ufeff'; DROP TABLE runs; -- \ud83d\ude00"
    )
    .encode("utf-16", "surrogatepass")
    .decode("utf-16")
)
"""Markup, a formula, escapes of terminals, marks that turn text, Markdown, LaTeX, templates and SQL in one text."""
KEYS = ("topic", "accuracy_strict", "B", "length")
"""Names that users give: columns of data and metrics. They are hostile wherever they are keys."""

_FIXED = {
    "runs": {
        "status": "", "kind": "", "folder": "", "owner": "", "lease": "", "progress": "",
        "settings": ".definition.kind .definition.folder .definition.target .cwd .model.kind .model.model_type .model.api .model.url .load.profile .load.ramp",
        "manifest": ".fingerprint .hash .own_hash .prompt_hash .scoring_hash .sha256 .type .strategy", "summary": ".interval .headline .grade .kind .profile .started_at .stopped_by .outcome .verdict",
    },
    "steps": {"key": "", "input": ".role .outcome", "output": ".o .s .k .u[] .span .f .role", "call_input": ".role", "call_output": ".s .k .u[] .f"},
    "workflow_steps": {"key": "", "status": "", "input_hash": "", "owner": "", "input": ".role .outcome", "output": ".role .outcome"},
    "marks": {"name": ""}, "events": {"kind": ""}, "labels": {"key": "", "kind": ""}, "sample_index": {"": ""}, "sample_metrics": {"": ""},
}  # fmt: skip
"""What is no text but a word of ours, by table and column: the whole column, or the ends of paths in its JSON. All else is hostile, so that
a new text is, too."""


def _is_fixed(table: str, column: str, path: str) -> bool:
    known = _FIXED.get(table, {})
    if "" in known:
        return True
    ends = known.get(column)
    return ends is not None and (not path or any(path.endswith(end) for end in ends.split()) or not ends)


def _changed(value: Any, path: str, hostile: Callable[[str], bool]) -> Any:
    """A value of JSON with other texts and names."""
    if isinstance(value, dict):
        return {
            (f"{key} {HOSTILE}" if key in KEYS else key): _changed(each, f"{path}.{key}", hostile)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_changed(each, f"{path}[]", hostile) for each in value]
    return f"{HOSTILE} {value}" if isinstance(value, str) and value and hostile(path) else value


def poison(folder: Path) -> set[tuple[str, str, str]]:
    """Change all records of a workspace. Returns the places of hostile texts: table, column, and path in its JSON."""
    places: set[tuple[str, str, str]] = set()

    def changed_cell(table: str, column: str, cell: Any) -> Any:
        return _cell(cell, lambda path: _noted(places, (table, column, path)))

    change_cells(folder, changed_cell)
    return places


def _noted(places: set[tuple[str, str, str]], place: tuple[str, str, str]) -> bool:
    if _is_fixed(*place):
        return False
    places.add(place)
    return True


def _cell(cell: Any, hostile: Callable[[str], bool]) -> Any:
    if not isinstance(cell, bytes | str) or not cell:
        return cell
    try:
        value = json.loads(cell)
    except ValueError:
        if isinstance(cell, bytes):
            return cell  # a hash
        return f"{HOSTILE} {cell}" if hostile("") else cell
    if not isinstance(value, dict | list | str):
        return f"{HOSTILE} {cell}" if isinstance(cell, str) and hostile("") else cell
    text = json.dumps(_changed(value, "", hostile), ensure_ascii=False, separators=(",", ":"))
    return text if isinstance(cell, str) else text.encode("utf-8", "surrogatepass")
