"""The labels of a run on the terminal."""

from __future__ import annotations

from benchwright.core import printable
from benchwright.reports.blocks import Block, fitted, line
from benchwright.reports.terminal.runs import local_time
from benchwright.results import LabelList, plural

_LONGEST = 60


def label_list_blocks(view: LabelList) -> list[Block]:
    """Each label with the sample of this run that it is on, newest first; then what they would change."""
    if not view.labels:
        return [line(f"The rows of run {view.run_id} have no labels.")]
    rows = view.labels
    columns = [
        ("sample", [view.places.get(each.row, "–") for each in rows], 9),
        ("label", [view.words(each) for each in rows], 9),
        ("value", [printable(_cut(each.value or "")) for each in rows], 9),
        ("who", [printable(each.who) for each in rows], 8),
        ("when", [local_time(each.created_at) for each in rows], 7),
    ]
    title = f"{plural(len(rows), 'label')} on rows of run {view.run_id}"
    effect = [line(view.text)] if view.text else []
    return [line(), line(title, "bold"), fitted(columns), *effect]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
