"""The tables of settings in the manual, made from their declaration. `make docs` writes them; a test compares them."""

from __future__ import annotations

import re
from pathlib import Path

from benchwright.config import LOAD_OPTIONS, RESCORE_OPTIONS, RESUME_OVERRIDES, RUN_SETTINGS, Setting

_DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = (_DOCS / "flags.md", _DOCS / "load.md", _DOCS / "load_figures.md", _DOCS / "resuming.md")
GROUPS = {
    "model": "Model",
    "data": "Data",
    "questions": "Files of questions",
    "tools": "Function-calling evaluations",
    "generation": "Generation",
    "requests": "Requests",
    "budget": "Budget",
    "files": "Files",
}
_BLOCK = re.compile(r"(<!-- settings of (\w+), made by `make docs` -->\n).*?(<!-- end -->\n)", re.DOTALL)
_CODE = re.compile(
    r"--[a-z-]+|\$?\{\w+\}|benchwright\.toml|\.benchwright/|[A-Z]+=VALUE|\w+[@^]k|\[10:20\]|ls --\w+"
)
_WORDS = {
    "int": "whole number",
    "number": "number",
    "texts": "text",
    "table": "JSON object",
    "text": "text",
    "steps": "JSON",
}
_LISTED = {"N,…": "whole numbers", "X,…": "numbers"}
"""What a comma-separated list contains, by the name of the value in help texts."""


def rendered(page: str) -> str:
    """The page with its tables as the declaration has them."""
    return _BLOCK.sub(lambda block: f"{block[1]}{_content(block[2])}{block[3]}", page)


def _content(command: str) -> str:
    if command == "run":
        return "".join(_group(group, title) for group, title in GROUPS.items()) + "\n"
    if command == "figures":
        return _figures()
    if command == "perf":
        rows = [
            f"| {_flags(setting)} | {_values(setting)} | {_default(setting)} | {_meaning(setting, manual=True)} |"
            for setting in LOAD_OPTIONS
        ]
        return "\n".join(["", "| flag | value | default | meaning |", "|---|---|---|---|", *rows, "", ""])
    taken = {"resume": (*RESUME_OVERRIDES, "workspace", "store"), "rescore": RESCORE_OPTIONS}[command]
    rows = [
        f"| {_flags(setting)} | {_meaning(setting)} |" for setting in RUN_SETTINGS if setting.name in taken
    ]
    return "\n".join(["", "| flag of `run` | meaning |", "|---|---|", *rows, "", ""])


def _figures() -> str:
    """Every figure of a load test, with its definition."""
    from benchwright.perf import PER_REQUEST, PER_STAGE

    lines = [""]
    for title, metrics in (("per request", PER_REQUEST), ("of a level", PER_STAGE)):
        lines += [f"| {title} | key in files | better | definition |", "|---|---|---|---|"]
        lines += [
            f"| {metric.title} (`{metric.name}`) | `{metric.key}` | {metric.better or ''} | {_CODE.sub(lambda found: f'`{found[0]}`', metric.definition)} |"
            for metric in metrics
        ]
        lines.append("")
    return "\n".join([*lines, ""])


def _group(group: str, title: str) -> str:
    rows = [
        f"| {_flags(setting)} | {_values(setting)} | {_default(setting)} | {_meaning(setting, manual=True)} |"
        for setting in RUN_SETTINGS
        if setting.group == group
    ]
    return "\n".join(
        [f"\n## {title}\n", "| flag | value | default | meaning |", "|---|---|---|---|", *rows, ""]
    )


def _flags(setting: Setting) -> str:
    if setting.kind == "bool":
        return ", ".join(f"`{flag}`, `--no-{flag[2:]}`" for flag in setting.flags)
    return ", ".join(f"`{flag} {setting.metavariable}`" for flag in setting.flags)


def _values(setting: Setting) -> str:
    if setting.kind == "bool":
        return ""
    choices = [f"`{choice}`" for choice in setting.choices]
    text = setting.limits or _WORDS[setting.kind]
    if setting.plugins:
        text = "name"  # the page that explains the setting has the table of names
    elif choices:
        text = choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"
    if setting.commas:
        text = f"{_LISTED.get(setting.metavariable, 'names')}, comma-separated"
    return f"{text}; `none`: not sent" if setting.can_be_left_out else text


def _default(setting: Setting) -> str:
    if setting.otherwise:
        return setting.otherwise
    if setting.kind == "bool":
        return "on" if setting.default else "off"
    if isinstance(setting.default, str):
        return f"`{setting.default}`"
    if isinstance(setting.default, tuple):
        return ",".join(setting.default)
    return (
        ""
        if setting.default is None
        else f"{setting.default:g}"
        if setting.kind == "number"
        else str(setting.default)
    )


def _meaning(setting: Setting, *, manual: bool = False) -> str:
    text = _CODE.sub(lambda found: f"`{found[0]}`", setting.meaning)
    if manual and setting.more:
        text += f". {setting.more}"
    return f"{text} ([more]({setting.see}))" if manual and setting.see else text


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(rendered(page.read_text(encoding="utf-8")), encoding="utf-8")
