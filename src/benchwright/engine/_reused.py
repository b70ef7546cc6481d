"""Replies of a run that it did not request itself: how many there are, and how old they are."""

from __future__ import annotations

from typing import Any

import orjson

from benchwright.core import NotFoundError, reused_span, rfc3339
from benchwright.store import RunRecord, Store

NONE_REUSED: dict[str, Any] = {"replies": 0, "older": 0, "oldest": None, "newest": None}
"""The value of `RunSummary.reused` for a run that requested all its replies."""


def reused_replies(store: Store, run: RunRecord) -> dict[str, Any]:
    """The value of `RunSummary.reused`, from the records of the run."""
    since = _own_since(store, run)
    count = older = 0
    oldest, newest = float("inf"), 0.0
    for _, call in store.taken_over(run.id):
        count += 1
        requested = orjson.loads(call.output).get("at") or 0.0
        older += requested < since
        if requested:
            oldest, newest = min(oldest, requested), max(newest, requested)
    known = newest > 0
    return {
        "replies": count,
        "older": older,
        "oldest": rfc3339(oldest) if known else None,
        "newest": rfc3339(newest) if known else None,
    }


def _own_since(store: Store, run: RunRecord) -> float:
    """The time from which on replies count as the run's own: its start; if it scores replies again, the start of the run
    that requested them."""
    since = run.created_at
    source, seen = run.settings.get("rescored_from"), {run.id}
    while isinstance(source, int) and source not in seen:
        seen.add(source)
        try:
            before = store.run(source)
        except NotFoundError:
            return since
        since, source = before.created_at, before.settings.get("rescored_from")
    return since


def reused_note(reused: dict[str, Any], *, rescored: bool) -> list[str]:
    """The note on reused replies; none if there are none."""
    span = reused_span(reused)
    if not span:
        return []
    count, older = reused["replies"], reused["older"]
    replies = "1 reply" if count == 1 else f"{count:,} replies"
    if rescored:
        note = f"age of the replies: {span}"
        return [f"{note}; {older:,} of them are older than the run that they come from" if older else note]
    return [f"{replies} came from earlier runs ({span})"]
